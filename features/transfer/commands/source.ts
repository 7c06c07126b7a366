import { Buffer } from "node:buffer";
import { gunzip } from "../../../schema/gunzip.ts";

/* Opens the file of an import, unpacks it, and detects its format. */

/** The file of an import. Its disposal closes it. */
export interface ImportFile extends Disposable {
  isXml: boolean;
  /** Whether it begins as a workbook: as a zip file, or as those that are refused (.xls, encrypted). */
  isWorkbook: boolean;
  /** Whether it begins as JSON, or is empty. */
  isJson: boolean;
  /** The content, unpacked if it is gzip. Throws `GzipError`, and after a signal. */
  bytes: AsyncIterable<Uint8Array>;
  /** The bytes of the file that were read, and their share of it, if its size is known. */
  progress(): { bytes: number; share?: number };
}

/** `deno task` repeats Ctrl-C. A signal after this time ends the process at once. */
const REPEATED_SIGNAL_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Opens a file, or standard input for `-`. Until its disposal, the first signal interrupts the reading. */
export async function openSource(path: string): Promise<ImportFile> {
  const file = path === "-" ? undefined : await Deno.open(path);
  const size = file && (await file.stat()).size;
  const reader = (file ?? Deno.stdin).readable.getReader();
  let read = 0;
  let interruptedAt: number | undefined;

  function interrupt(): void {
    const now = performance.now();
    if (interruptedAt === undefined) {
      interruptedAt = now;
      // A read that waits for standard input ends.
      reader.cancel().catch(() => {});
    } else if (now > interruptedAt + REPEATED_SIGNAL_MS) Deno.exit(130);
  }

  async function* chunks(): AsyncGenerator<Uint8Array> {
    while (true) {
      const { done, value } = await reader.read();
      if (interruptedAt !== undefined) {
        throw new Error("The import was interrupted");
      }
      if (done) return;
      read += value.length;
      yield value;
    }
  }

  for (const signal of SIGNALS) Deno.addSignalListener(signal, interrupt);
  const packed = await begun(chunks(), () => true);
  const isGzip = packed.first[0] === 0x1f && packed.first[1] === 0x8b;
  const content = await begun(
    isGzip ? gunzip(packed.bytes) : packed.bytes,
    (byte) => !SKIPPED.has(byte),
  );
  return {
    isWorkbook: WORKBOOKS.includes(Buffer.from(content.first).toString("hex", 0, 2)),
    isXml: content.first[0] === "<".charCodeAt(0),
    isJson: content.first.length === 0 ||
      content.first[0] === "{".charCodeAt(0),
    bytes: content.bytes,
    progress: () => size ? { bytes: read, share: read / size } : { bytes: read },
    [Symbol.dispose]() {
      for (const signal of SIGNALS) {
        Deno.removeSignalListener(signal, interrupt);
      }
      reader.cancel().catch(() => {});
    },
  };
}

/**
 * Reads until the first significant byte and the one after it, which show the format of the file.
 * Returns the text from that byte on, and all chunks from the start.
 */
async function begun(
  chunks: AsyncGenerator<Uint8Array>,
  counts: (byte: number) => boolean,
): Promise<{ first: Uint8Array; bytes: AsyncGenerator<Uint8Array> }> {
  const read: Uint8Array[] = [];
  let first = new Uint8Array();
  while (first.length < 2) {
    const { done, value } = await chunks.next();
    if (done) break;
    read.push(value);
    const all = Buffer.concat(read);
    const start = all.findIndex(counts);
    first = start < 0 ? first : all.subarray(start);
  }
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* read;
    yield* chunks;
  }
  return { first, bytes: bytes() };
}

/** The first two bytes of zip files and of the containers of .xls. */
const WORKBOOKS = ["504b", "d0cf"];

/** White space, the bytes of byte order marks, and the zeros of UTF-16. */
const SKIPPED = new Set([
  ...Buffer.from("\0\t\n\r "),
  ...[0xef, 0xbb, 0xbf, 0xfe, 0xff],
]);
