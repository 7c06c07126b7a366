import { pause, withDeadline } from "../db/connections/deadline.ts";
import { ApiError, unavailable } from "../schema/errors.ts";
import type { Context } from "./context.ts";

/*
 * Reads the bytes of a body as they arrive. It limits their number and rate, and ends when the
 * service stops.
 */

/** The length in `Content-Length`, or the limit without that header. Throws `PAYLOAD_TOO_LARGE`. */
export function expectedLength(headers: Headers, limit: number): number {
  const length = Number(headers.get("content-length") ?? limit);
  if (length > limit) throw bodyTooLarge(limit);
  return length;
}

function bodyTooLarge(limit: number): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The body is larger than ${limit} bytes`,
  );
}

/** Passes chunks on, up to a total number of bytes. Throws `PAYLOAD_TOO_LARGE`. */
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

interface Rate {
  /** The minimum rate. A lower one uses up the allowance. */
  bytesPerMs: number;
  /** The time by which a body may be behind the minimum rate. */
  allowanceMs: number;
  /** The time for the whole body. */
  totalMs: number;
}

/** After this number of chunks, other requests run: a million short ones may have arrived at once. */
const CHUNKS_AT_ONCE = 32;

/** The interval at which a body without a total time limit is checked for a stop of the service. */
const WATCH_MS = 250;

/**
 * The chunks of a body as they arrive. Throws `PAYLOAD_TOO_LARGE` as soon as the body
 * exceeds the limit, `SERVICE_UNAVAILABLE` when the service stops, `REQUEST_TIMEOUT` for a
 * slow body, or `incomplete` for an incomplete one.
 */
export async function* readChunks(
  { request, services: { isReady } }: Context,
  limit: number,
  { bytesPerMs, allowanceMs, totalMs }: Rate,
  incomplete: "INVALID_JSON" | "INVALID_XML" | "VALIDATION_ERROR",
): AsyncGenerator<Uint8Array> {
  expectedLength(request.headers, limit);
  if (!request.body) return;

  const reader = request.body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  const checkReady = () => {
    if (!isReady()) throw unavailable("The service is stopping");
  };
  const watch = totalMs === Infinity
    ? setInterval(() => isReady() || cancel(), WATCH_MS)
    : undefined;
  const deadline = performance.now() + totalMs;
  let allowance = allowanceMs;
  let size = 0;
  try {
    for (let chunks = 1;; chunks++) {
      const asked = performance.now();
      const stalls = asked + allowance;
      const { done, value } = await withDeadline(
        Math.min(deadline, stalls),
        reader.read(),
        () =>
          new ApiError(
            "REQUEST_TIMEOUT",
            stalls < deadline
              ? `The body stalled: it must arrive at ${bytesPerMs * 1000} bytes a second or faster`
              : `The body did not arrive within ${totalMs / 1000} seconds`,
          ),
      );
      if (done) break;
      size += value.length;
      if (size > limit) throw bodyTooLarge(limit);
      allowance = Math.min(
        allowanceMs,
        allowance - (performance.now() - asked) + value.length / bytesPerMs,
      );
      yield value;
      if (chunks % CHUNKS_AT_ONCE === 0) await pause(1);
    }
    // A stop ends the body early.
    if (watch) checkReady();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // `deno serve` cuts bodies off when it stops.
    checkReady();
    throw new ApiError(incomplete, "The body is incomplete", { cause: error });
  } finally {
    clearInterval(watch);
    cancel();
  }
}
