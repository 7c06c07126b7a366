import { pause } from "../../../db/connections/deadline.ts";

/** The proxy's behaviour for new connections. */
export type Behaviour =
  | "forward"
  /** Accepts connections and buffers data until it forwards again. */
  | "hold"
  /** Closes a connection at its first bytes. */
  | "hang up";

/** A proxy in front of a database, which a test can make fail. */
export interface Proxy extends Disposable {
  port: number;
  /** The port of the target of new connections. */
  target: number;
  behaviour: Behaviour;
  /** The delay in each direction, in milliseconds. */
  delayMs: number;
  /** The maximum number of bytes forwarded at once. */
  pieceBytes: number;
  /** Forwards messages that contain this text, and then drops all responses on their connection. */
  holdAnswersTo: string | undefined;
  /** The times at which connections were opened, by `performance.now()`. */
  readonly opened: number[];
  /** Breaks every open connection. */
  cut(): void;
  /** Stops forwarding on open connections without closing them, like a dead network. */
  silence(): void;
}

/** Listens on a free port, and forwards connections to `target`. */
export function startProxy(target: number): Proxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Set<Deno.Conn>();
  const silent = new WeakSet<Deno.Conn>();
  const proxy: Proxy = {
    port: listener.addr.port,
    target,
    behaviour: "forward",
    delayMs: 0,
    pieceBytes: Infinity,
    holdAnswersTo: undefined,
    opened: [],
    cut() {
      for (const connection of connections) close(connection);
      connections.clear();
    },
    silence() {
      for (const connection of connections) silent.add(connection);
    },
    [Symbol.dispose]() {
      listener.close();
      proxy.cut();
    },
  };

  const isHeld = (connection: Deno.Conn) =>
    connections.has(connection) &&
    (proxy.behaviour === "hold" || silent.has(connection));

  async function pump(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    for (;;) {
      const length = await from.read(buffer);
      const text = new TextDecoder().decode(buffer.subarray(0, length ?? 0));
      if (proxy.holdAnswersTo && text.includes(proxy.holdAnswersTo)) {
        silent.add(to);
      }
      await pause(proxy.delayMs);
      while (isHeld(from)) await pause(10);
      if (length === null) break;
      for (let at = 0; at < length;) {
        const end = Math.min(at + proxy.pieceBytes, length);
        at += await to.write(buffer.subarray(at, end));
      }
    }
  }

  async function serve(client: Deno.TcpConn): Promise<void> {
    proxy.opened.push(performance.now());
    connections.add(client);
    let server: Deno.TcpConn | undefined;
    try {
      if (proxy.behaviour === "hang up") {
        await client.read(new Uint8Array(1));
        return;
      }
      server = await Deno.connect({
        hostname: "127.0.0.1",
        port: proxy.target,
      });
      connections.add(server);
      // Messages follow each other without a response in between.
      for (const end of [client, server]) end.setNoDelay();
      await Promise.race([pump(client, server), pump(server, client)]);
    } catch {
      // One end, or the test, has closed the connection: close both ends.
    } finally {
      for (const connection of [client, server]) {
        if (!connection) continue;
        close(connection);
        connections.delete(connection);
      }
    }
  }

  (async () => {
    for await (const client of listener) serve(client);
  })();
  return proxy;
}

/** The same URL with the port of the proxy. */
export function through(url: string, { port }: { port: number }): string {
  const address = new URL(url);
  address.port = String(port);
  return address.href;
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // The connection is already closed.
  }
}
