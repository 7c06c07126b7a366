import { pause } from "../../db/connections/deadline.ts";

/** A TCP proxy in front of PostgreSQL. */
export interface Proxy extends Disposable {
  /** The URL of the database through the proxy. */
  url: string;
}

export interface ProxySettings {
  /** The delay of each piece, in either direction. Pieces do not wait for each other. */
  delayMs?: number;
  /** Returns a function that receives the data of one client. */
  listen?: () => (bytes: Uint8Array) => void;
}

/** Starts a proxy for the database at `url`. */
export function startProxy(
  url: string,
  { delayMs = 0, listen = () => () => {} }: ProxySettings,
): Proxy {
  const { hostname, port } = new URL(url);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });

  async function pump(
    from: Deno.TcpConn,
    to: Deno.TcpConn,
    see: (bytes: Uint8Array) => void,
  ): Promise<void> {
    const writer = to.writable.getWriter();
    let written = Promise.resolve();
    for await (const bytes of from.readable) {
      see(bytes);
      const due = performance.now() + delayMs;
      written = written.then(async () => {
        await pause(due - performance.now());
        await writer.write(bytes);
      });
      // The loop's end reports the failure.
      written.catch(() => {});
    }
    await written;
    await writer.close();
  }

  async function serve(client: Deno.TcpConn): Promise<void> {
    const server = await Deno.connect({ hostname, port: Number(port || 5432) });
    for (const connection of [client, server]) connection.setNoDelay(true);
    await Promise.allSettled([
      pump(client, server, listen()),
      pump(server, client, () => {}),
    ]);
  }
  (async () => {
    for await (const client of listener) serve(client);
  })();

  const proxied = new URL(url);
  proxied.hostname = "127.0.0.1";
  proxied.port = String(listener.addr.port);
  return {
    url: proxied.href,
    [Symbol.dispose]: () => listener.close(),
  };
}
