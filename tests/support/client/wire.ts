import { PATIENCE_MS } from "../app/deadline.ts";

/** The service behind a real server, for requests that `Request` cannot express. */
export interface Server extends AsyncDisposable {
  origin: string;
  /**
   * Sends the text, one byte per character, on a new connection, and returns every
   * response until the server closes it.
   */
  exchange(text: string): Promise<WireResponse[]>;
  connect(): Promise<Deno.TcpConn>;
}

/** A raw response. */
export interface WireResponse {
  status: number;
  headers: Headers;
  body: string;
}

/** Serves the handler on a free port. */
export function listen(
  handler: (request: Request) => Promise<Response>,
): Server {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    handler,
  );
  const { port } = server.addr;
  const connect = () => Deno.connect({ hostname: "127.0.0.1", port });

  return {
    origin: `http://127.0.0.1:${port}`,
    connect,
    async exchange(text) {
      using connection = await connect();
      await connection.write(Uint8Array.from(text, (c) => c.charCodeAt(0)));
      return responsesIn(await readToEnd(connection));
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function readToEnd(connection: Deno.TcpConn): Promise<string> {
  // A server that keeps the connection open fails the test.
  const timer = setTimeout(() => connection.close(), PATIENCE_MS);
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let text = "";
  try {
    for (
      let size = await connection.read(buffer);
      size !== null;
      size = await connection.read(buffer)
    ) text += decoder.decode(buffer.subarray(0, size), { stream: true });
  } catch (error) {
    // The server may reject a request and close before it has read everything.
    if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
  } finally {
    clearTimeout(timer);
  }
  return text;
}

/** Splits responses at their status lines. No body contains one. */
function responsesIn(text: string): WireResponse[] {
  return text.split(/(?=HTTP\/1\.[01] \d{3} )/).filter(Boolean).map(
    (response) => {
      const [head = "", ...body] = response.split("\r\n\r\n");
      const [first = "", ...lines] = head.split("\r\n");
      return {
        status: Number(first.split(" ")[1]),
        headers: new Headers(
          lines.map((line) => line.split(": ", 2) as [string, string]),
        ),
        body: body.join("\r\n\r\n"),
      };
    },
  );
}
