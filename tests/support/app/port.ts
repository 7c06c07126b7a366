import { tmpdir } from "node:os";

/** The files that reserve ports for this worker, until it ends. */
const reserved: string[] = [];

globalThis.addEventListener("unload", () => {
  for (const file of reserved) Deno.removeSync(file);
});

/**
 * A free port of this machine, below those that outgoing connections get: one of other tests
 * might take it before a server listens. The run reserves it, because the tests of another worker
 * may choose a port before a server listens at this one.
 */
export function freePort(): number {
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  const file = `${tmpdir()}/catalogue-port-${Deno.pid}-${port}`;
  try {
    using _listener = Deno.listen({ hostname: "127.0.0.1", port });
    Deno.writeFileSync(file, new Uint8Array(), { createNew: true });
    reserved.push(file);
    return port;
  } catch (error) {
    const { AddrInUse, AlreadyExists } = Deno.errors;
    if (error instanceof AddrInUse || error instanceof AlreadyExists) return freePort();
    throw error;
  }
}

/** Whether a GET at the URL succeeds. */
export async function isServed(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
