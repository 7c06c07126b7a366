import { pause } from "../db/connections/deadline.ts";
import { described, type Log } from "../middleware/log.ts";

/** How long clients that leave have to give their file descriptors back. */
const PAUSE_MS = 200;

/**
 * Serves at an address until what it gives is called, which lets the requests
 * under way finish. Throws where the address is not free.
 *
 * Where no file descriptor is left to accept one more client, `Deno.serve` stops
 * listening for good, and nothing else tells of it. Here the clients that ask
 * for nothing are let go then, and it listens again.
 */
export function serve(
  options: Deno.ServeTcpOptions & { handler: Deno.ServeHandler },
  log: Log,
): () => Promise<void> {
  let server = Deno.serve(options);
  const { port } = server.addr;
  let isClosed = false;

  async function goOn(): Promise<void> {
    while (!isClosed) {
      try {
        await server.finished;
      } catch (cause) {
        log("error", {
          message: "No client can be accepted: listening again",
          cause: described(cause),
        });
        server.shutdown().catch(() => {});
        server = await listenAgain();
      }
    }
  }

  async function listenAgain(): Promise<typeof server> {
    for (;;) {
      await pause(PAUSE_MS);
      if (isClosed) return server;
      try {
        return Deno.serve({ ...options, port, onListen() {} });
      } catch {
        // There is no file descriptor to listen with yet.
      }
    }
  }

  goOn();
  return async () => {
    isClosed = true;
    await server.shutdown();
  };
}
