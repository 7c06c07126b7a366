import { pause, withDeadline } from "../db/connections/deadline.ts";
import { ApiError, unavailable } from "../schema/errors.ts";
import type { Context } from "./context.ts";

/* The bytes of a body, as fast as they must arrive. */

/** The size of the largest read buffer, which a body holds while it arrives. */
export const BUFFER_BYTES = 65_536;

/** After this number of short chunks, other requests run: a million may have arrived at once. */
const SHORTS = 32;

/** The size below which a chunk is short, in bytes. */
const SHORT_CHUNK = 1_024;

/** The interval at which a waiting body checks whether the service stops. */
const WATCH_MS = 250;

/** How fast a body must arrive. */
interface Pace {
  /** The least rate. A lower one consumes the allowance. */
  bytesPerMs: number;
  /** The time that a body may be behind the least rate. */
  allowanceMs: number;
  /** The time for the whole body. */
  totalMs: number;
}

/** The length that the header says, or else the limit. Throws `PAYLOAD_TOO_LARGE`. */
export function expectedLength({ headers }: Request, limit: number): number {
  const length = Number(headers.get("content-length") ?? limit);
  if (length > limit) throw bodyTooLarge(limit);
  return length;
}

/**
 * The chunks of a body as they arrive. The caller has reserved memory for the buffer.
 * Throws `PAYLOAD_TOO_LARGE` as soon as the body exceeds the limit, `SERVICE_UNAVAILABLE`
 * when the service stops, `REQUEST_TIMEOUT` for a slow body, or `incomplete` for an
 * incomplete one.
 */
export async function* readChunks(
  { request, services: { isReady } }: Context,
  limit: number,
  { bytesPerMs, allowanceMs, totalMs }: Pace,
  incomplete: "INVALID_JSON" | "INVALID_XML",
): AsyncGenerator<Uint8Array> {
  expectedLength(request, limit);
  if (!request.body) return;

  const reader = readerOf(request.body);
  const deadline = performance.now() + totalMs;
  // A body that may take any time ends when the service stops.
  const watch = totalMs === Infinity
    ? setInterval(() => isReady() || cancel(), WATCH_MS)
    : undefined;
  let allowance = allowanceMs;
  let size = 0;
  let shorts = 0;
  let isRead = false;
  try {
    while (true) {
      const asked = performance.now();
      const stalls = asked + allowance;
      const { done, value } = await withDeadline(
        Math.min(deadline, stalls),
        reader.read(),
        () => tooSlow(stalls < deadline),
      );
      if (done) {
        isRead = true;
        if (watch) checkReady();
        return;
      }
      size += value.length;
      if (size > limit) throw bodyTooLarge(limit);
      const waited = performance.now() - asked;
      allowance = Math.min(
        allowanceMs,
        allowance - waited + value.length / bytesPerMs,
      );
      yield value;
      if (value.length < SHORT_CHUNK && ++shorts % SHORTS === 0) await pause(1);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // `deno serve` cuts bodies off when it stops.
    checkReady();
    throw new ApiError(incomplete, "The body is incomplete", { cause: error });
  } finally {
    clearInterval(watch);
    if (!isRead) cancel();
  }

  function cancel(): void {
    reader.cancel().catch(() => {});
  }

  function checkReady(): void {
    if (!isReady()) throw unavailable("The service is stopping");
  }

  function tooSlow(isStalled: boolean): ApiError {
    return new ApiError(
      "REQUEST_TIMEOUT",
      isStalled
        ? `The body stalled: it must arrive at ${
          bytesPerMs * 1000
        } bytes a second or faster`
        : `The body did not arrive within ${totalMs / 1000} seconds`,
    );
  }
}

/**
 * Reads a byte stream into one buffer, which grows when a read fills it: Deno allocates
 * 64 KiB for each read, which would add up for stalled bodies and short chunks. Requests
 * created in this process have another kind of stream.
 */
function readerOf(body: ReadableStream<Uint8Array>) {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return body.getReader();
  }
  let buffer = new ArrayBuffer(2_048);
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) return { done, value };
      const size = value.buffer.byteLength;
      const isFull = value.length === size && size < BUFFER_BYTES;
      buffer = isFull ? new ArrayBuffer(size * 2) : value.buffer;
      return { done, value: value.slice() };
    },
    cancel: () => reader.cancel(),
  };
}

function bodyTooLarge(limit: number): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The body is larger than ${limit} bytes`,
  );
}

/** The chunks up to a number of bytes in all. Throws `PAYLOAD_TOO_LARGE`. */
export async function* limited(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw bodyTooLarge(limit);
    yield chunk;
  }
}
