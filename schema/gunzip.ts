import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/** The number of bytes that are unpacked at once. */
const CHUNK_BYTES = 65_536;

/** The error of data that is not gzip, or that ends early. */
export class GzipError extends Error {
  override readonly name = "GzipError";
}

/**
 * Unpacks gzip data (RFC 1952), also of several members. It keeps little in memory, whatever the size
 * of the result. Throws `GzipError`, and the errors of `bytes`.
 *
 * `DecompressionStream` of Deno 2.9.6 reads one member, and unpacks a chunk as a whole: 64 MB
 * of 64 KB.
 */
export async function* gunzip(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  // Errors reach the reader of `unpacked`.
  pipeline(Readable.from(bytes), unpacked, () => {});
  try {
    yield* unpacked;
  } catch (error) {
    const { code } = error as { code?: string };
    if (!code?.startsWith("Z_")) throw error;
    throw new GzipError(
      code === "Z_BUF_ERROR" ? "The gzip data ends before its end" : "The gzip data is damaged",
    );
  }
}
