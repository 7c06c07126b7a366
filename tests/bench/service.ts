import { pause } from "../../db/connections/deadline.ts";
import type { Checkout } from "./checkout.ts";
import { freePort, isServed } from "../support/app/port.ts";

/** A program that serves the catalogue. */
export interface Service extends AsyncDisposable {
  name: string;
  /** Its URL without a path. */
  origin: string;
  pid: number;
  /** The URL of its database. Absent for the embedded one. */
  databaseUrl: string | undefined;
}

const START_MS = 120_000;

/** Starts the checkout's service like its users, on the database at `url`. Throws if it does not get ready. */
export async function startService(
  { name, folder }: Checkout,
  url: string,
  env: Record<string, string> = {},
): Promise<Service> {
  return await startProcess(name, ["deno", "task", "-q", "start"], {
    folder,
    env: { DATABASE_URL: url, HOST: "127.0.0.1", ...env },
    readyPath: "/health/ready",
  });
}

/**
 * Starts a program that listens on `PORT`, and waits until `readyPath` returns 200.
 * Throws if it ends before that or takes too long.
 */
export async function startProcess(
  name: string,
  [command, ...args]: [string, ...string[]],
  { folder, env, readyPath }: {
    folder?: string;
    env: Record<string, string>;
    readyPath: string;
  },
): Promise<Service> {
  const port = freePort();
  const process = new Deno.Command(command, {
    args,
    ...folder && { cwd: folder },
    env: { ...env, PORT: String(port) },
    stdin: "null",
    stdout: "null",
  }).spawn();
  let ended = false;
  process.status.then(() => ended = true);
  function stop(): void {
    if (!ended) process.kill("SIGTERM");
  }
  // A signal may end the benchmark before it disposes of the program.
  addEventListener("unload", stop);

  const origin = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_MS;
  while (!await isServed(origin + readyPath)) {
    if (ended) throw new Error(`${name} ended before it was ready`);
    if (performance.now() > deadline) {
      process.kill("SIGKILL");
      throw new Error(`${name} was not ready after ${START_MS} ms`);
    }
    await pause(50);
  }
  return {
    name,
    origin,
    pid: process.pid,
    databaseUrl: env.DATABASE_URL,
    async [Symbol.asyncDispose]() {
      stop();
      await process.status;
    },
  };
}
