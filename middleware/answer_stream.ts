import { Buffer } from "node:buffer";

/** The size of the chunks of a stream. */
export const CHUNK = 65_536;

interface StreamOptions {
  /** The memory that the response holds until its end. */
  memory: Disposable;
  /** The time limit for the client to read a chunk. */
  timeoutMs: number;
  onTimeout: () => void;
}

/**
 * Streams a long response at the client's pace, and aborts it when the client
 * stops reading. `Deno.serve` copies any other body, and keeps the copy until the
 * connection closes.
 */
export function streamBody(
  body: string | Uint8Array,
  { memory, timeoutMs, onTimeout }: StreamOptions,
): ReadableStream<Uint8Array> {
  const chunks = typeof body === "string" ? encodedChunks(body) : views(body);
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
      onTimeout();
      // Deno prints the reason on stderr, with a stack if it is an `Error`.
      stream.error("A client stopped reading its response");
    }, timeoutMs);
  }

  return new ReadableStream<Uint8Array>({
    start: waitForClient,
    pull(stream) {
      const chunk = chunks.next().value!;
      stream.enqueue(chunk);
      left -= chunk.length;
      if (left > 0) return waitForClient(stream);
      end();
      stream.close();
    },
    cancel: end,
  }, { highWaterMark: 0 });
}

/** Encodes each chunk separately, so that no chunk keeps the others in memory. */
function* encodedChunks(text: string): Generator<Uint8Array> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + CHUNK;
    // Keeps surrogate pairs together.
    if (/[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to--;
    yield Buffer.from(text.slice(from, to));
  }
}

/** Chunks of a buffer that all responses share. */
function* views(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += CHUNK) {
    yield bytes.subarray(from, from + CHUNK);
  }
}
