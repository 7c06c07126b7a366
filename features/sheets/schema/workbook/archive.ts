import {
  configure,
  type FileEntry,
  Reader,
  ZipReader,
} from "@zip.js/zip.js/lib/zip-core-native.js";
import { ApiError } from "../../../../schema/errors.ts";
import { faultAt } from "../file.ts";
import type { Pace } from "../../../../schema/turns.ts";

/*
 * Reads the archive of a workbook: a zip file of XML. Its parts are unpacked as they are read, each
 * time again. `zip.js` reads the central directory, zip64 and data descriptors, verifies checksums,
 * and unpacks with the streams of the platform.
 */

/** The number of packed bytes that are unpacked at once, to at most a thousand times as many. */
const CHUNK = 8_192;

// It has no option of an archive for the size.
configure({ useWebWorkers: false, chunkSize: CHUNK });

/** The most entries of an archive, parts and folders. A workbook has a few dozen. */
const MAX_PARTS = 10_000;

/** The bytes of the directory that are read before other requests run, and those of an entry without its texts. */
const READ_AT_ONCE = 32_768;
const ENTRY_BYTES = 256;

export interface ArchiveOptions {
  /** The most bytes of all parts that are read, unpacked. */
  maxUnpacked: number;
  /** Awaited between the entries of the directory, so that other requests run. */
  pace: Pace;
}

/** An archive whose central directory was read. */
export class Archive {
  readonly #parts: ReadonlyMap<string, FileEntry>;
  readonly #maxUnpacked: number;
  /** The unpacked bytes of each part, as far as it was read. */
  readonly #unpacked = new Map<string, number>();

  constructor(parts: ReadonlyMap<string, FileEntry>, maxUnpacked: number) {
    this.#parts = parts;
    this.#maxUnpacked = maxUnpacked;
  }

  has(name: string): boolean {
    return this.#parts.has(keyOf(name));
  }

  /** Unpacks a part. Throws `VALIDATION_ERROR` and `PAYLOAD_TOO_LARGE`. */
  async *read(name: string): AsyncGenerator<Uint8Array> {
    const key = keyOf(name);
    const part = this.#parts.get(key);
    if (!part) throw damaged(`${name} is missing`);
    // A part that declares too many bytes is refused; one that declares fewer is counted.
    this.#count(key, part.uncompressedSize);
    let fail = (_error: Error) => {};
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => void (fail = (error) => controller.error(error)),
    });
    const unpacking = part.getData(writable, { checkSignature: true })
      .then(() => undefined, (error: Error) => {
        // The stream would stay open, and its reader would wait forever.
        fail(error);
        return error;
      });
    let size = 0;
    try {
      for await (const chunk of readable) {
        this.#count(key, size += chunk.length);
        yield chunk;
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw damaged(`${name}: ${(error as Error).message}`);
    }
    const error = await unpacking;
    if (error) throw damaged(`${name}: ${error.message}`);
  }

  #count(key: string, size: number): void {
    if (size <= (this.#unpacked.get(key) ?? 0)) return;
    this.#unpacked.set(key, size);
    if (this.#unpacked.values().reduce((sum, one) => sum + one, 0) <= this.#maxUnpacked) return;
    throw tooLarge(`The workbook unpacks to more than ${this.#maxUnpacked} bytes`);
  }
}

/** Names of parts are compared without regard to case (ECMA-376, part 2, 6.2.2.3). */
function keyOf(name: string): string {
  return name.toLowerCase();
}

/** Reads the directory of an archive. Throws `VALIDATION_ERROR` and `UNSUPPORTED_MEDIA_TYPE`. */
export async function openArchive(
  blocks: readonly Uint8Array[],
  { maxUnpacked, pace }: ArchiveOptions,
): Promise<Archive> {
  const reader = new ZipReader(new BlockReader(blocks), {
    checkOverlappingEntry: true,
  });
  const parts = new Map<string, FileEntry>();
  let entries = 0;
  let read = 0;
  try {
    for await (const entry of reader.getEntriesGenerator()) {
      if (entry.encrypted) throw unsupported("The workbook is encrypted: remove its password");
      // Folders are entries, too.
      if (entries++ >= MAX_PARTS) throw tooLarge(`A workbook has at most ${MAX_PARTS} parts`);
      const { rawFilename, rawExtraField, rawComment } = entry;
      for (const { length } of [rawFilename, rawExtraField, rawComment]) read += length;
      read += ENTRY_BYTES;
      if (read > READ_AT_ONCE) {
        await pace();
        read = 0;
      }
      if (entry.directory) continue;
      const key = keyOf(entry.filename.replaceAll("\\", "/"));
      if (parts.has(key)) throw damaged(`${entry.filename} is there twice`);
      parts.set(key, entry);
    }
  } catch (error) {
    throw error instanceof ApiError ? error : damaged((error as Error).message);
  }
  return new Archive(parts, maxUnpacked);
}

/** Reads blocks as they were received: all but the last have the size of the first. */
class BlockReader extends Reader<readonly Uint8Array[]> {
  readonly #blocks: readonly Uint8Array[];

  constructor(blocks: readonly Uint8Array[]) {
    super(blocks);
    this.#blocks = blocks;
    this.size = blocks.reduce((sum, { length }) => sum + length, 0);
  }

  override readUint8Array(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size);
    const bytes = new Uint8Array(Math.max(0, end - offset));
    const { length: size } = this.#blocks[0]!;
    for (let at = offset; at < end;) {
      const from = at % size;
      const part = this.#blocks[Math.floor(at / size)]!.subarray(from, from + end - at);
      bytes.set(part, at - offset);
      at += part.length;
    }
    return Promise.resolve(bytes);
  }
}

/** The error of a workbook that cannot be read. */
export function damaged(what: string): ApiError {
  return faultAt(
    1,
    `invalid_workbook: The workbook is damaged: ${what}: open it in the spreadsheet program, and save it again`,
  );
}

/** The error of a file that is no readable workbook. `what` is a sentence without its end. */
export function unsupported(what: string): ApiError {
  return new ApiError(
    "UNSUPPORTED_MEDIA_TYPE",
    `${what}: in the spreadsheet program, save it as an Excel workbook (.xlsx), or as "CSV UTF-8" for /csv/products`,
  );
}

export function tooLarge(what: string): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", `${what}: divide it, or send it as CSV`);
}
