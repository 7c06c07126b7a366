/** The configuration with the packages of child processes: client generator and browser. */
export const TOOLS_CONFIG = new URL("../../tools/deno.json", import.meta.url).pathname;

/** Runs a package of `tests/tools/deno.json` or of another configuration, or a script that imports some. */
export async function runTool(
  args: string[],
  options: { env?: Record<string, string>; cwd?: string; config?: string } = {},
): Promise<{ success: boolean; output: string; complaints: string }> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "-q", "--frozen"],
      ...["--config", options.config ?? TOOLS_CONFIG, ...args],
    ],
    env: { NO_COLOR: "1", ...options.env },
    ...options.cwd && { cwd: options.cwd },
  }).output();
  const text = new TextDecoder();
  return {
    success,
    output: text.decode(stdout),
    complaints: text.decode(stderr),
  };
}
