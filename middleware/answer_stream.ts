import { Buffer } from "node:buffer";

/** Longer answers are sent in parts of this size. */
export const PART = 65_536;

/** How to send an answer in parts. */
interface Sending {
  /** The memory that the answer holds until its end. */
  memory: Disposable;
  /** How long the client may take for one part. */
  patienceMs: number;
  onUnread: () => void;
}

/**
 * Sends a long answer part by part, as the client takes it, and breaks it off
 * when the client stops taking it. `Deno.serve` copies any other body whole and
 * keeps the copy for as long as the connection lives.
 */
export function streamed(
  body: string | Uint8Array,
  { memory, patienceMs, onUnread }: Sending,
): ReadableStream<Uint8Array> {
  const parts = typeof body === "string" ? encodedParts(body) : views(body);
  let left = Buffer.byteLength(body);
  let timer: ReturnType<typeof setTimeout>;

  function end() {
    clearTimeout(timer);
    memory[Symbol.dispose]();
  }

  function waitForClient(stream: ReadableStreamDefaultController) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      end();
      onUnread();
      // Deno prints it on stderr; an `Error` would come with its stack.
      stream.error("A client has stopped reading its answer");
    }, patienceMs);
  }

  return new ReadableStream<Uint8Array>({
    start: waitForClient,
    pull(stream) {
      const part = parts.next().value!;
      stream.enqueue(part);
      left -= part.length;
      if (left > 0) return waitForClient(stream);
      end();
      stream.close();
    },
    cancel: end,
  }, { highWaterMark: 0 });
}

/** Parts of their own: a part that waits in the transport keeps no more than itself in memory. */
function* encodedParts(text: string): Generator<Uint8Array> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + PART;
    // A surrogate pair is one character.
    if (/[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to--;
    yield Buffer.from(text.slice(from, to));
  }
}

/** Parts of one buffer that all answers share. */
function* views(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += PART) {
    yield bytes.subarray(from, from + PART);
  }
}
