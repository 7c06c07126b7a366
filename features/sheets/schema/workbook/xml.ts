import { Parser } from "../../../onix/schema/xml/parser.ts";
import { XmlError } from "../../../onix/schema/xml/xml_error.ts";
import { MAX_ROW } from "../file.ts";
import type { Archive } from "./archive.ts";
import { damaged, tooLarge } from "./archive.ts";
import type { Pace } from "../../../../schema/turns.ts";

/* The XML of a part, piece by piece. Names of elements are without their prefixes. */

/** The characters that are parsed before other requests run. */
const PARSED_AT_ONCE = 16_384;

export type Attributes = Readonly<Record<string, string>>;

/** The callbacks of a reader, with the names of the elements around each element. */
export interface PartReader {
  begin?(path: readonly string[], attributes: Attributes): void;
  text?(path: readonly string[], text: string): void;
  end?(path: readonly string[]): void;
}

/** The length from which other text is dropped. Only blanks are that long. */
const MAX_TEXT = 2 * MAX_ROW;

/**
 * Reads a part, and yields after each piece. Throws `VALIDATION_ERROR` for XML that is not
 * well-formed, is too deep, or has a DTD.
 */
export async function* readPart(
  archive: Archive,
  name: string,
  reader: PartReader,
): AsyncGenerator<void> {
  const path: string[] = [];
  let textFrom = 0;
  const parser = new Parser({
    tag: () => {},
    begin(element, attributes) {
      path.push(localName(element));
      textFrom = parser.parsed;
      reader.begin?.(path, attributes);
    },
    end() {
      reader.end?.(path);
      path.pop();
      textFrom = parser.parsed;
    },
    text: (text) => reader.text?.(path, text),
    doctype() {
      throw damaged(`${name} has a DTD`);
    },
  }, MAX_TEXT);
  try {
    for await (const text of readText(archive, name)) {
      for (let from = 0; from < text.length; from += PARSED_AT_ONCE) {
        parser.write(text.slice(from, from + PARSED_AT_ONCE));
        if (TEXTS.has(path.at(-1) ?? "") && parser.parsed - textFrom > MAX_ROW) {
          throw tooLarge(`A cell has at most ${MAX_ROW} characters`);
        }
        yield;
      }
    }
    parser.close();
    yield;
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    throw damaged(`${name}, line ${error.line}: ${error.message}`);
  }
}

/** Reads a part as a whole. */
export async function readAll(
  archive: Archive,
  name: string,
  reader: PartReader,
  pace: Pace,
): Promise<void> {
  for await (const _ of readPart(archive, name, reader)) await pace();
}

/** The elements whose text is read. */
const TEXTS = new Set(["t", "v"]);

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/**
 * The text of a part in UTF-8 or, with a byte order mark, UTF-16. Throws `VALIDATION_ERROR` at the
 * first byte that no XML has: half a gigabyte of zeros is packed in half a megabyte.
 */
export async function* readText(archive: Archive, name: string): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  try {
    for await (const chunk of archive.read(name)) {
      decoder ??= new TextDecoder(charsetOf(chunk), { fatal: true });
      const text = decoder.decode(chunk, { stream: true });
      if (text.includes("\0")) throw damaged(`${name} is no XML`);
      yield text;
    }
    yield decoder?.decode() ?? "";
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw damaged(`${name} is not in its charset`);
  }
}

function charsetOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

/** The text of an element: that of a string, without what is read aloud (`rPh`). */
export function isStringText(path: readonly string[]): boolean {
  return path.at(-1) === "t" && !path.includes("rPh");
}

/** A text with the characters that XML cannot hold: `_x000D_` (ECMA-376, part 1, 22.9.2.19). */
export function unescaped(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replace(
    /_x([\da-fA-F]{4})_/g,
    (_, code) => String.fromCharCode(parseInt(code, 16)),
  );
}
