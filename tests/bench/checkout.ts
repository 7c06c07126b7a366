import { basename, resolve } from "node:path";

/** A working copy of this repository. */
export interface Checkout {
  name: string;
  folder: string;
}

/** The checkout that contains this file. */
export const HERE: Checkout = {
  name: "service",
  folder: new URL("../..", import.meta.url).pathname,
};

/** The checkout in `folder`, named after its commit. Throws if the folder has no checkout. */
export async function openCheckout(folder: string): Promise<Checkout> {
  const path = resolve(folder);
  await Deno.stat(`${path}/main.ts`);
  const { success, stdout } = await new Deno.Command("git", {
    args: ["describe", "--always", "--dirty", "--abbrev=7"],
    cwd: path,
    stderr: "null",
  }).output();
  const commit = new TextDecoder().decode(stdout).trim();
  return { name: success ? commit : basename(path), folder: path };
}

/** Runs one of the checkout's commands, such as `migrate`, and returns its output. Throws if it fails. */
export async function runCommand(
  { folder }: Checkout,
  env: Record<string, string>,
  ...args: string[]
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("deno", {
    args: ["run", "-A", "main.ts", ...args],
    cwd: folder,
    env,
  }).output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

/** Creates an API key that may write, and returns it. */
export async function createKey(
  checkout: Checkout,
  env: Record<string, string>,
  organizationId: string,
): Promise<string> {
  const output = await runCommand(
    checkout,
    env,
    ...["key", "create", "--organization", organizationId],
    ...["--name", "Benchmark"],
  );
  return /cat_\S+/.exec(output)![0];
}
