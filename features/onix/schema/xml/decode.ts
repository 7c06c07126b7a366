import { GzipError } from "../../../../schema/gunzip.ts";
import { type LineAndColumn, XmlError } from "./xml_error.ts";

/**
 * The encodings by the names that messages declare. UTF-16 without a byte order mark is big-endian
 * (RFC 2781, 4.3).
 */
const DECODERS: ReadonlyMap<string, string> = new Map(Object.entries({
  "utf-8": "utf-8",
  "utf8": "utf-8",
  "us-ascii": "utf-8",
  "utf-16": "utf-16be",
  "utf-16be": "utf-16be",
  "utf-16le": "utf-16le",
  "iso-8859-1": "windows-1252",
  "iso8859-1": "windows-1252",
  "latin1": "windows-1252",
  "windows-1252": "windows-1252",
  "cp1252": "windows-1252",
}));

/** The maximum number of bytes that are searched for an XML declaration. */
const DECLARATION = 1024;

/**
 * Decodes a message by its byte order mark, or the charset of its media type, or its XML
 * declaration, in this order (RFC 7303), or as UTF-8. Throws `XmlError` at invalid bytes.
 */
export async function* decode(
  bytes: AsyncIterable<Uint8Array>,
  charset: string | undefined,
  position: () => LineAndColumn,
): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  /** The bytes before the encoding is known. */
  let start: Uint8Array = new Uint8Array();

  function* decoded(chunk?: Uint8Array): Generator<string> {
    let text: string;
    try {
      text = decoder!.decode(chunk, { stream: chunk !== undefined });
    } catch {
      const { encoding } = decoder!;
      // The text before the fault is read first, so that its place is known.
      if (chunk) yield validStart(chunk, encoding);
      throw notEncoded(encoding, "windows-1252", position());
    }
    yield text;
  }

  for await (const chunk of readable(bytes, position)) {
    if (decoder) {
      yield* decoded(chunk);
      continue;
    }
    start = concatenated(start, chunk);
    if (!showsEncoding(start)) continue;
    decoder = decoderOf(start, charset, position());
    yield* decoded(start);
  }
  // A message that is too short for a declaration is decoded as it is.
  if (!decoder) {
    decoder = decoderOf(start, charset, position());
    yield* decoded(start);
  }
  yield* decoded();
}

/** The error of bytes that are not in the declared encoding. It names the likely one. */
function notEncoded(encoding: string, likely: string, place: LineAndColumn): XmlError {
  return new XmlError(
    "invalid_encoding",
    `The bytes are not ${encoding.toUpperCase()}: declare the encoding of the message, such as <?xml version="1.0" encoding="${likely}"?>`,
    place,
  );
}

/** The text of a chunk up to its first byte that is not UTF-8. */
function validStart(chunk: Uint8Array, encoding: string): string {
  if (encoding !== "utf-8") return "";
  // Its first bytes may end a character that the chunk before has begun: a letter takes its place.
  const start = chunk.findIndex((byte) => byte < 0x80 || byte >= 0xc0);
  const text = new TextDecoder().decode(chunk.subarray(start));
  return start < 0 ? "" : (start > 0 ? "x" : "") + text.slice(0, text.indexOf("\ufffd"));
}

/** Passes bytes on. Throws `XmlError` if they cannot be unpacked. */
async function* readable(
  bytes: AsyncIterable<Uint8Array>,
  position: () => LineAndColumn,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    if (!(error instanceof GzipError)) throw error;
    throw new XmlError("invalid_gzip", error.message, position());
  }
}

function concatenated(start: Uint8Array, chunk: Uint8Array): Uint8Array {
  const both = new Uint8Array(start.length + chunk.length);
  both.set(start);
  both.set(chunk, start.length);
  return both;
}

/** Whether these are enough bytes to know the encoding: an XML declaration would have ended in them, with its `>`. */
function showsEncoding(start: Uint8Array): boolean {
  return start.length >= DECLARATION || start.includes(0x3e);
}

function decoderOf(
  start: Uint8Array,
  charset: string | undefined,
  place: LineAndColumn,
): TextDecoder {
  const mark = markOf(start);
  const name = (mark ?? charset ?? declared(start) ?? "utf-8").trim().toLowerCase();
  const label = DECODERS.get(name);
  // Some programs declare the UTF-16 in which they hold a text, and send it with `<` in one byte.
  const isOneByte = mark === undefined && start[0] === 0x3c;
  if (isOneByte && label?.startsWith("utf-16")) throw notEncoded(name, "UTF-8", place);
  if (label) return new TextDecoder(label, { fatal: true });
  throw new XmlError(
    "unsupported_encoding",
    `The encoding ${name.slice(0, 40)} is not supported: send the message as UTF-8`,
    place,
  );
}

/** Returns the encoding that the first bytes show: by a byte order mark, or `<` in two bytes. */
function markOf([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe || a === 0x3c && b === 0) return "utf-16le";
  if (a === 0xfe && b === 0xff || a === 0 && b === 0x3c) return "utf-16be";
}

function declared(start: Uint8Array): string | undefined {
  const text = new TextDecoder("windows-1252").decode(
    start.subarray(0, DECLARATION),
  );
  return /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(text)?.[1];
}
