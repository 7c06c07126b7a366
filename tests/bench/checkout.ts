import { basename, resolve } from "node:path";
import { launchProgram } from "../support/app/process.ts";

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

/** The checkout in a folder, or one of a commit, in a temporary folder until it is disposed of. */
export async function openCheckout(
  what: string,
): Promise<Checkout & AsyncDisposable> {
  const path = resolve(what);
  if (await Deno.stat(`${path}/main.ts`).then(() => true, () => false)) {
    const name = basename(path);
    return { name, folder: path, async [Symbol.asyncDispose]() {} };
  }
  const folder = await Deno.makeTempDir({ prefix: "catalogue-bench-" });
  await git("worktree", "add", "--detach", folder, what);
  return {
    name: what,
    folder,
    [Symbol.asyncDispose]: () => git("worktree", "remove", "--force", folder),
  };
}

async function git(...args: string[]): Promise<void> {
  const git = new Deno.Command("git", { args, cwd: HERE.folder });
  const { success, stderr } = await git.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** The variables that name a database: a URL, or a folder of the embedded one. */
export type Place = { DATABASE_URL: string; DATA_DIR?: string };

/** Runs one of the checkout's commands, such as `migrate`, and returns its output. Throws if it fails. */
export async function runCommand(
  { folder }: Checkout,
  env: Place,
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
  env: Place,
  organizationId: string,
  ...options: string[]
): Promise<string> {
  const output = await runCommand(
    checkout,
    env,
    ...["key", "create", "--organization", organizationId],
    ...["--name", "Benchmark", ...options],
  );
  return /cat_\S+/.exec(output)![0];
}

/** A program that serves the catalogue. */
export interface Program extends AsyncDisposable {
  name: string;
  /** Its URL without a path. */
  origin: string;
  pid: number;
}

/** Starts the checkout's service like its users. Throws if it does not get ready. */
export async function startService(
  { name, folder }: Checkout,
  env: Place,
): Promise<Program> {
  return await startProgram(name, ["deno", "task", "-q", "start"], {
    folder,
    env: { HOST: "127.0.0.1", ...env },
    readyPath: "/health/ready",
  });
}

/** Starts a program that listens on `PORT`, and waits until `readyPath` returns 200. */
export async function startProgram(
  name: string,
  command: string[],
  { readyPath, ...how }: {
    folder: string;
    env: Record<string, string>;
    readyPath: string;
  },
): Promise<Program> {
  // A line of the log for each request would fill the memory.
  const before = "exec >/dev/null";
  const program = launchProgram(() => command, { ...how, before });
  await program.until(readyPath);
  return {
    name,
    origin: program.origin,
    pid: program.pid,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}
