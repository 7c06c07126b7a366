import { pause } from "../db/connections/deadline.ts";
import { errorFields, type Log } from "../middleware/log.ts";
import { EVENTS } from "../middleware/events.ts";

/** The pause between attempts to listen again. Closed connections free descriptors. */
const PAUSE_MS = 200;

/**
 * Serves at an address. The returned function stops listening and lets running
 * requests finish. Throws if the address is not free.
 *
 * `Deno.serve` silently stops listening when it runs out of file descriptors.
 * This function then closes idle connections and listens again.
 */
export function serve(
  options: Deno.ServeTcpOptions & { handler: Deno.ServeHandler },
  log: Log,
): () => Promise<void> {
  let server = Deno.serve(options);
  const { port } = server.addr;
  let isClosed = false;

  async function keepListening(): Promise<void> {
    while (!isClosed) {
      try {
        await server.finished;
      } catch (cause) {
        log("error", {
          message: EVENTS.notAccepting,
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
        // No file descriptor is free yet.
      }
    }
  }

  keepListening();
  return async () => {
    isClosed = true;
    await server.shutdown();
  };
}
