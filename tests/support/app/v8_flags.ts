import { assert } from "@std/assert";

/** The V8 flags of a command, as an argument of `deno`. */
export function v8FlagsOf(command: string): string {
  const [flags] = /--v8-flags=\S+/.exec(command) ?? [];
  assert(flags, `"${command}" has no V8 flags`);
  return flags;
}
