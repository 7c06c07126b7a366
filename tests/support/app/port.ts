/**
 * A free port of this machine, below those that outgoing connections get: one of other tests
 * might take it before a server listens.
 */
export function freePort(): number {
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  try {
    using _listener = Deno.listen({ hostname: "127.0.0.1", port });
    return port;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return freePort();
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
