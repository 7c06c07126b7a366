import { type Proxy, startProxy } from "./proxy.ts";

/** A statement as sent, with its parameters as text. */
export interface Sent {
  text: string;
  parameters: (string | null)[];
  /** Whether the statement is prepared for many executions. */
  prepared: boolean;
}

/** A proxy that records statements. */
export interface Wiretap extends Proxy {
  /** Returns the statements since the last call, but those of transactions that still run. */
  take(): Sent[];
}

/** What the service does of its own accord, once a second or once a minute: no request does it. */
const OWN_WORK = /\b(?:from renames|spread_rename|webhooks|api_key)/;

/**
 * Records the statements that the service sends to the database at `url` for requests, so
 * that pgbench measures exactly these statements.
 */
export function tapWire(url: string): Wiretap {
  let sent: Sent[] = [];

  function listen() {
    let transaction: Sent[] | undefined;
    return statementReader((one) => {
      if (/^\s*begin\b/.test(one.text)) transaction = [];
      const operation = transaction ?? [];
      operation.push(one);
      if (transaction && !/^\s*(?:commit|rollback)\b/.test(one.text)) return;
      transaction = undefined;
      if (!operation.some(({ text }) => OWN_WORK.test(text))) {
        sent.push(...operation);
      }
    });
  }

  const proxy = startProxy(url, { listen });
  return {
    ...proxy,
    take() {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}

const PARSE = "P".charCodeAt(0);
const BIND = "B".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);

/** Reads the messages of one frontend (PostgreSQL manual, "Message Formats"), however they are split. */
function statementReader(
  note: (sent: Sent) => void,
): (bytes: Uint8Array) => void {
  const texts = new Map<string, string>();
  let unread = new Uint8Array();
  // The first message has no type byte.
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

  return (bytes) => {
    unread = new Uint8Array([...unread, ...bytes]);
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
  };
}

/** The content of a message, read from its start. */
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

  /** A 32-bit length, where -1 means null, followed by that many bytes of text. */
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
