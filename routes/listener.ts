import { pause } from "../db/connections/deadline.ts";
import { errorFields, type Log } from "../middleware/log.ts";

/** The time in which clients that leave give their file descriptors back. */
const PAUSE_MS = 200;

/**
 * Serves at an address until the returned function is called, which lets the
 * requests under way finish. Throws when the address is not free.
 *
 * `Deno.serve` stops listening for good, without a word, when no file descriptor
 * is left for another client. This function then closes idle connections and
 * listens again.
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
          cause: errorFields(cause),
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
