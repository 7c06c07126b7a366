/** A statement as it was sent, with its parameters as text. */
export interface Sent {
  text: string;
  parameters: (string | null)[];
  /** Whether it may be planned once for many executions. */
  prepared: boolean;
}

/** A way to a PostgreSQL that notes what passes. */
export interface Wiretap extends Disposable {
  /** The same database, by way of the tap. */
  url: string;
  /** What was sent since the last call. */
  take(): Sent[];
}

/**
 * Notes what a program sends to the database at `url`: so the statements that
 * are measured alone are those that the program really sends.
 */
export function tapWire(url: string): Wiretap {
  const { hostname, port } = new URL(url);
  let sent: Sent[] = [];
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });

  async function pass(client: Deno.Conn): Promise<void> {
    const server = await Deno.connect({ hostname, port: Number(port || 5432) });
    const noting = client.readable.pipeThrough(noted((one) => sent.push(one)));
    await Promise.allSettled([
      noting.pipeTo(server.writable),
      server.readable.pipeTo(client.writable),
    ]);
  }
  (async () => {
    for await (const client of listener) pass(client);
  })();

  const tapped = new URL(url);
  tapped.hostname = "127.0.0.1";
  tapped.port = String(listener.addr.port);
  return {
    url: tapped.href,
    take() {
      const taken = sent;
      sent = [];
      return taken;
    },
    [Symbol.dispose]: () => listener.close(),
  };
}

const PARSE = "P".charCodeAt(0);
const BIND = "B".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);

/** Reads the frontend's messages (PostgreSQL manual, "Message Formats") as they pass unchanged. */
function noted(
  note: (sent: Sent) => void,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const texts = new Map<string, string>();
  let unread = new Uint8Array();
  // The first message has no type.
  let started = false;

  function read(type: number, message: Message): void {
    if (type === PARSE) texts.set(message.string(), message.string());
    if (type === QUERY) {
      note({ text: message.string(), parameters: [], prepared: false });
    }
    if (type === BIND) {
      message.string();
      const name = message.string();
      message.skip(2 * message.int16());
      const parameters = Array.from(
        { length: message.int16() },
        () => message.value(),
      );
      note({ text: texts.get(name)!, parameters, prepared: name !== "" });
    }
  }

  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      unread = new Uint8Array([...unread, ...chunk]);
      while (true) {
        const head = started ? 1 : 0;
        if (unread.length < head + 4) return;
        const view = new DataView(unread.buffer, unread.byteOffset);
        const end = head + view.getInt32(head);
        if (unread.length < end) return;
        if (started) read(unread[0]!, new Message(unread.subarray(5, end)));
        started = true;
        unread = unread.subarray(end);
      }
    },
  });
}

/** The inside of a message, read from its beginning. */
class Message {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  int16(): number {
    return this.#bytes[this.#at++]! << 8 | this.#bytes[this.#at++]!;
  }

  string(): string {
    return this.#text(this.#bytes.indexOf(0, this.#at), 1);
  }

  /** A length of 32 bits, of which -1 is null, and so many bytes of text. */
  value(): string | null {
    const length = this.int16() << 16 | this.int16();
    return length < 0 ? null : this.#text(this.#at + length, 0);
  }

  #text(end: number, terminator: number): string {
    const text = new TextDecoder().decode(this.#bytes.subarray(this.#at, end));
    this.#at = end + terminator;
    return text;
  }
}
