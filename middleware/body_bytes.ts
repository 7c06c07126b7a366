import { before } from "../db/connections/deadline.ts";
import { ApiError, unavailable } from "../schema/errors.ts";
import type { Context } from "./context.ts";
import { invalidJson } from "./json.ts";
import type { Reservation } from "./memory_budget.ts";

/** What a body costs while it arrives: its stream and the buffer that it is read into. */
const BUFFER = 65_536;

/** A body may pause for this long, and less if it was slower than `LEAST_SPEED` before. */
const PATIENCE_MS = 3_000;

/** In bytes per millisecond. */
const LEAST_SPEED = 1;

/**
 * Reads the bytes of a body into reserved memory. Throws `PAYLOAD_TOO_LARGE` as
 * soon as the limit is passed, `SERVICE_UNAVAILABLE` beyond the caller's share of
 * memory, `REQUEST_TIMEOUT` for a slow body, or `INVALID_JSON` for a broken one.
 */
export async function readBytes(
  { request, services, memory: { bodies }, facts }: Context,
  memory: Reservation,
): Promise<Uint8Array> {
  const { maxBodyBytes: limit, bodyArrivalMs, isReady } = services;
  // Only a hint, but enough to refuse before anything arrives.
  if (Number(request.headers.get("content-length")) > limit) {
    throw tooLarge(limit);
  }
  if (!request.body) return new Uint8Array();

  using _buffer = bodies.reserve(facts, BUFFER);
  const reader = readerOf(request.body);
  const deadline = performance.now() + bodyArrivalMs;
  let patience = performance.now() + PATIENCE_MS;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (true) {
      const { done, value } = await before(
        Math.min(deadline, patience),
        reader.read(),
        tooSlow,
      );
      if (done) return joined(chunks, size);
      size += value.length;
      if (size > limit) throw tooLarge(limit);
      memory.add(value.length);
      chunks.push(value);
      patience = Math.min(
        patience + value.length / LEAST_SPEED,
        performance.now() + PATIENCE_MS,
      );
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof ApiError) throw error;
    // `deno serve` cuts bodies off when it stops, which is not the client's fault.
    if (!isReady()) throw unavailable("The service is being stopped");
    throw invalidJson("The body broke off before its end", error);
  }

  function tooSlow(): ApiError {
    return new ApiError(
      "REQUEST_TIMEOUT",
      patience < deadline
        ? `The body stalled: it must arrive at ${
          LEAST_SPEED * 1000
        } bytes a second or faster`
        : `The body did not arrive within ${bodyArrivalMs / 1000} seconds`,
    );
  }
}

/**
 * Reads a byte stream into buffers that grow with it: Deno's own of 64 KiB would
 * add up for stalled bodies. Only streams made in this process are of another kind.
 */
function readerOf(body: ReadableStream<Uint8Array>) {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return body.getReader();
  }
  let size = 1_024;
  return {
    read() {
      size = Math.min(size * 2, BUFFER);
      return reader.read(new Uint8Array(size));
    },
    cancel: () => reader.cancel(),
  };
}

function joined(chunks: Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function tooLarge(limit: number): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The body is larger than ${limit} bytes`,
  );
}
