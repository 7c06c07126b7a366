import { Buffer } from "node:buffer";
import { EVENTS } from "./events.ts";

/* Sends long responses at the pace of their clients. If a client stops reading, its response ends. */

/** The size of a chunk, in bytes. */
export const CHUNK = 65_536;

const STOPPED = EVENTS.clientStopped;

interface StreamOptions {
  /** The memory that the response holds until its end. */
  memory: Disposable;
  /** The time limit for the client to read a chunk. */
  timeoutMs: number;
  warn: (message: string) => void;
}

/**
 * Streams a long response at the client's pace, and aborts it when the client
 * stops reading. `Deno.serve` copies any other body, and keeps the copy until the
 * connection closes.
 */
export function streamBody(
  body: string | Uint8Array,
  { memory, timeoutMs, warn }: StreamOptions,
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
      warn(STOPPED);
      // Deno prints the reason on stderr, with a stack if it is an `Error`.
      stream.error(STOPPED);
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

/** Streams parts that are made as the client reads them. A client that stops reading ends them. */
export function streamParts(
  parts: AsyncGenerator<string | Uint8Array>,
  { memory, timeoutMs, warn }: StreamOptions,
): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout>;

  async function end() {
    clearTimeout(timer);
    await parts.return(undefined).catch(() => {});
    memory[Symbol.dispose]();
  }

  function fail(stream: ReadableStreamDefaultController, message: string) {
    warn(message);
    stream.error(message);
    void end();
  }

  function waitForClient(stream: ReadableStreamDefaultController) {
    clearTimeout(timer);
    timer = setTimeout(() => fail(stream, STOPPED), timeoutMs);
  }

  return new ReadableStream<Uint8Array>({
    start: waitForClient,
    async pull(stream) {
      clearTimeout(timer);
      try {
        const { done, value } = await parts.next();
        if (!done) {
          stream.enqueue(typeof value === "string" ? Buffer.from(value) : value);
          return waitForClient(stream);
        }
        await end();
        stream.close();
      } catch (error) {
        fail(stream, `A response ends early: ${(error as Error).name}`);
      }
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

function* views(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += CHUNK) {
    yield bytes.subarray(from, from + CHUNK);
  }
}
