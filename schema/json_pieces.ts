import { parseExact } from "./numbers.ts";
import type { InTurns } from "./turns.ts";

/*
 * Parses and writes long JSON texts in pieces, so that other requests can run in between: 4 MiB with long
 * numbers take a third of a second. For example,
 *
 *     {"title":"Emma","product_prices":[{…},{…}]}
 *
 * is parsed at once if it is short, else value by value, and a long array entry by entry.
 */

/** The longest text that is parsed at once, which takes some milliseconds if its numbers are long. */
const PIECE = 65_536;

/** RFC 8259, 2. */
const BLANKS = new Set([" ", "\t", "\n", "\r"]);

/** Parses valid JSON, with exact numbers (`parseExact`). */
export function* parsePieces(text: string): InTurns<unknown> {
  return yield* new Reader(text).value();
}

/** The texts of the members of an object, by name. The text is that between its braces. */
export function* membersOf(text: string): InTurns<Map<string, string>> {
  const reader = new Reader(text);
  const members = new Map<string, string>();
  while (!reader.isAtEnd()) {
    const name = reader.name();
    members.set(name, yield* reader.textInTurns());
    reader.skipComma();
  }
  return members;
}

/** Writes a value as JSON, as `JSON.stringify` does. */
export function* jsonPieces(value: unknown): InTurns<string> {
  if (!isNested(value)) return JSON.stringify(value) ?? "null";
  yield;
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const each of value) parts.push(yield* jsonPieces(each));
    return `[${parts.join()}]`;
  }
  for (const [name, each] of Object.entries(value)) {
    if (each === undefined) continue;
    parts.push(`${JSON.stringify(name)}:${yield* jsonPieces(each)}`);
  }
  return `{${parts.join()}}`;
}

/** Whether a value contains arrays or objects. */
function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null &&
    Object.values(value).some((each) => typeof each === "object" && each !== null);
}

/** How far a value was looked through, at which depth, and its end if that was found. */
interface Scan {
  at: number;
  depth: number;
  end?: number;
}

/** Reads a text from its beginning to its end. */
class Reader {
  readonly #text: string;
  #at = 0;
  /** Where the work since the last pause began. */
  #piece = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#skipBlanks();
    return this.#at >= this.#text.length;
  }

  /** Whether other requests should run, which is then taken to have happened. */
  get isDue(): boolean {
    if (this.#at - this.#piece < PIECE) return false;
    this.#piece = this.#at;
    return true;
  }

  /** The next value. */
  *value(): InTurns<unknown> {
    if (this.isDue) yield;
    this.#skipBlanks();
    const end = this.#endOfValue(this.#at + PIECE);
    const first = this.#text[this.#at];
    if (end === undefined && first === "[") return yield* this.#array();
    if (end === undefined && first === "{") return yield* this.#object();
    return parseExact(this.text());
  }

  *#array(): InTurns<unknown[]> {
    const values: unknown[] = [];
    this.#at++;
    while (!this.#skip("]")) {
      const short = this.#shortValues();
      if (short === "") values.push(yield* this.value());
      else values.push(...parseExact(`[${short}]`) as unknown[]);
      this.skipComma();
      if (this.isDue) yield;
    }
    return values;
  }

  /** The texts of the next values of an array, with commas between them, as many as are short together. */
  #shortValues(): string {
    const start = this.#at;
    let last = start;
    for (;;) {
      const end = this.#endOfValue(start + PIECE);
      if (end === undefined || end === this.#at) break;
      this.#at = last = end;
      if (!this.#skip(",")) break;
      this.#skipBlanks();
    }
    this.#at = last;
    return this.#text.slice(start, last);
  }

  *#object(): InTurns<Record<string, unknown>> {
    const members: [string, unknown][] = [];
    this.#at++;
    while (!this.#skip("}")) {
      const name = this.name();
      members.push([name, yield* this.value()]);
      this.skipComma();
    }
    return Object.fromEntries(members);
  }

  /** The name of the next member. */
  name(): string {
    const name = JSON.parse(this.text()) as string;
    if (!this.#skip(":")) throw new SyntaxError(`Expected a colon at ${this.#at}`);
    return name;
  }

  /** The text of the next value. */
  text(): string {
    this.#skipBlanks();
    const start = this.#at;
    this.#at = this.#endOfValue(Infinity) ?? this.#text.length;
    if (this.#at === start) throw new SyntaxError(`Expected a value at ${start}`);
    return this.#text.slice(start, this.#at);
  }

  /** The text of the next value, which may be long. */
  *textInTurns(): InTurns<string> {
    this.#skipBlanks();
    const start = this.#at;
    let scan: Scan = { at: start, depth: 0 };
    while (scan.end === undefined) {
      scan = this.#scan(scan, scan.at + PIECE);
      this.#at = scan.end ?? scan.at;
      if (this.isDue) yield;
    }
    return this.#text.slice(start, this.#at);
  }

  skipComma(): void {
    this.#skip(",");
  }

  #skip(character: string): boolean {
    this.#skipBlanks();
    const isThere = this.#text[this.#at] === character;
    if (isThere) this.#at++;
    return isThere;
  }

  #skipBlanks(): void {
    while (BLANKS.has(this.#text[this.#at]!)) this.#at++;
  }

  /** The end of the next value, if it is not after the limit. */
  #endOfValue(limit: number): number | undefined {
    return this.#scan({ at: this.#at, depth: 0 }, limit).end;
  }

  /** Looks for the end of a value, up to the limit. */
  #scan({ at, depth }: Scan, limit: number): Scan {
    for (; at < limit; at++) {
      switch (this.#text[at]) {
        case undefined:
          return { at, depth, end: at };
        case '"':
          at = this.#endOfString(at);
          if (depth === 0) return { at, depth, end: at + 1 };
          break;
        case "[":
        case "{":
          depth++;
          break;
        case "]":
        case "}":
          if (depth === 0) return { at, depth, end: at };
          if (--depth === 0) return { at, depth, end: at + 1 };
          break;
        case ",":
        case ":":
          if (depth === 0) return { at, depth, end: at };
      }
    }
    return { at, depth };
  }

  /** The place of the quotation mark that ends the string. */
  #endOfString(start: number): number {
    for (let at = start + 1;; at++) {
      at = this.#text.indexOf('"', at);
      if (at < 0) return this.#text.length;
      let escapes = 0;
      while (this.#text[at - escapes - 1] === "\\") escapes++;
      if (escapes % 2 === 0) return at;
    }
  }
}
