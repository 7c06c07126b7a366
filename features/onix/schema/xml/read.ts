import { decode } from "./decode.ts";
import { childValue, type Element, element, hasText } from "./element.ts";
import { type KnownTag, knownTag, localName, nameInOnix21 } from "../rules/facts.ts";
import { ATTRIBUTES } from "../rules/kinds.ts";
import { Markup } from "./markup.ts";
import { Parser } from "./parser.ts";
import { refusalOfDoctype, refusalOfRoot } from "./root.ts";
import { isRecoded, recoded } from "./xml.ts";
import type { LineAndColumn } from "./xml_error.ts";
import type { Pace } from "../../../../schema/turns.ts";

/*
 * Reads a message as it arrives, and holds one record at a time. In: bytes. Out: the header, then
 * each record as a tree of elements, or why it cannot be read.
 */

/**
 * The largest record, and the largest header, in characters of XML. The largest real one
 * has less than half of that. Nothing else runs while one is read.
 */
const MAX_RECORD = 512 * 1024;

/** The most elements in a record: they take more memory than their XML. */
const MAX_ELEMENTS = 100_000;

/**
 * The maximum number of empty records in a message. Millions of them fit into a compressed message
 * of 100 KB, and each takes as long to reject as any other.
 */
const MAX_EMPTY = 1_000;

/** The number of characters of a message that are parsed before other requests run. */
const PARSED_AT_ONCE = 16 * 1024;

/** The parts of a message, in its order: one header, then records. */
export type Part = Head | ProductPart | Unreadable;

export interface Head {
  kind: "header";
  header: Element;
}

export interface ProductPart {
  kind: "product";
  product: Element;
}

/** A record that cannot be read, although the message can. */
export interface Unreadable {
  kind: "unreadable";
  /** Its `RecordReference`, if it begins with one. */
  reference: string | null;
  line: number;
  code: string;
  message: string;
}

export interface ReadOptions {
  /** The charset of the media type. */
  charset?: string | undefined;
  /** Awaited between the pieces of a message, so that other requests have their turn. */
  pace?: Pace;
}

/**
 * Reads a message as it arrives, and holds one record at a time. Throws `XmlError` where
 * the message cannot be read further.
 */
export async function* readMessage(
  bytes: AsyncIterable<Uint8Array>,
  { charset, pace }: ReadOptions = {},
): AsyncGenerator<Part> {
  const reader = new Reader("message");
  try {
    for await (const text of decode(bytes, charset, () => reader.place)) {
      for (const piece of slicesOf(text)) {
        reader.write(piece);
        yield* reader.take();
        await pace?.();
      }
    }
    reader.close();
  } finally {
    // Parts that were read before an error are returned.
    yield* reader.take();
  }
}

/** Reads a record from the text in which it is stored, which has any size. */
export function fromStored(text: string): Element {
  const reader = new Reader("product");
  reader.write(text);
  reader.close();
  const [part] = reader.take();
  if (part?.kind !== "product") throw new TypeError("The text is not a record");
  return part.product;
}

function* slicesOf(text: string): Generator<string> {
  for (let i = 0; i < text.length; i += PARSED_AT_ONCE) {
    yield text.slice(i, i + PARSED_AT_ONCE);
  }
}

/** An element of ONIX, or one that is unknown: it may have children or a value. */
type StartTag = KnownTag | { name: string; isComposite?: undefined };

/**
 * Builds the header and the records from the events of the parser. Other elements are skipped, and
 * so is the rest of an unreadable record.
 */
class Reader {
  readonly #parser: Parser;
  /** The parts that were read and not taken yet. */
  #parts: Part[] = [];
  /** The number of open elements, from the root on. */
  #depth = 0;
  /** The depth of the header and of records: 1 for a record that stands alone, as it is stored. */
  readonly #top: 1 | 2;
  readonly #maxLength: number;
  #hasHeader = false;
  /** The header or record, and the elements in it that are open. */
  #open: Element[] = [];
  /** Their tags: whether each is a composite. */
  #tags: StartTag[] = [];
  /** The XHTML in the last of them, if that is a data element. */
  readonly #markup = new Markup();
  /** Whether everything up to the end of the header's or record's element is passed over. */
  #isSkipping = false;
  /** Why the skipped record cannot be read. */
  #fault: Unreadable | undefined;
  /** The start of the header or record, and the end of the last record. */
  #start = 0;
  #ended = -1;
  /** The number of elements in the header or record. */
  #elements = 0;
  /** The number of empty records. */
  #empty = 0;

  constructor(whole: "message" | "product") {
    this.#top = whole === "message" ? 2 : 1;
    this.#maxLength = whole === "message" ? MAX_RECORD : Infinity;
    this.#parser = new Parser({
      tag: (position) => {
        if (++this.#depth === this.#top) this.#start = position;
      },
      begin: (name, attributes) => this.#begin(localName(name), attributes),
      end: (name) => this.#end(localName(name)),
      text: (text) => this.#text(text),
      doctype: (text) => this.#parser.fail(...refusalOfDoctype(text)),
    }, this.#maxLength);
  }

  get place(): LineAndColumn {
    return this.#parser.place;
  }

  write(text: string): void {
    try {
      this.#parser.write(text);
    } catch (error) {
      // The parser reports an end before it finds that the tag is that of another element.
      if (this.#ended === this.#parser.position) this.#parts.pop();
      throw error;
    }
    if (this.#open.length > 0 && this.#isTooLong(this.#parser.parsed)) this.#rejectTooLong();
  }

  close(): void {
    this.#parser.close();
    if (this.#top === 2 && !this.#hasHeader) this.#pushHeader();
  }

  *take(): Generator<Part> {
    const parts = this.#parts;
    this.#parts = [];
    yield* parts;
  }

  #begin(tag: string, attributes: Record<string, string>): void {
    if (this.#isSkipping) return;
    if (this.#depth > this.#top && this.#tags.at(-1)!.isComposite === false) {
      return this.#markup.begin(this.#open.at(-1)!, tag, attributes);
    }
    const known = knownTag(tag) ?? { name: nameInOnix21(tag) ?? tag };
    if (this.#depth > this.#top) this.#beginElement(known, attributes);
    else if (this.#depth === this.#top) this.#beginPart(known, attributes);
    else this.#beginMessage(known, attributes);
  }

  #beginMessage({ name }: StartTag, attributes: Record<string, string>): void {
    const refusal = refusalOfRoot(name, attributes);
    if (refusal) this.#parser.fail(...refusal);
  }

  /** Begins the header or a record. Anything else, and a second header, is passed over. */
  #beginPart(known: StartTag, attributes: Record<string, string>): void {
    const { name } = known;
    this.#elements = 0;
    this.#fault = undefined;
    if (name === "Product") {
      if (!this.#hasHeader && this.#top === 2) this.#pushHeader();
    } else if (name !== "Header" || this.#hasHeader) {
      this.#isSkipping = true;
      return;
    }
    this.#open = [];
    this.#tags = [];
    this.#push(known, attributes);
  }

  #beginElement(known: StartTag, attributes: Record<string, string>): void {
    if (known.name === "Product") {
      return this.#reject("nested_record", "The record contains a record");
    }
    if (++this.#elements > MAX_ELEMENTS) {
      return this.#reject(
        "too_large",
        `Expected at most ${MAX_ELEMENTS} elements`,
      );
    }
    this.#push(known, attributes);
  }

  #push(known: StartTag, attributes: Record<string, string>): void {
    const element: Element = {
      name: known.name,
      attributes: ownAttributes(attributes),
      children: [],
      text: "",
      line: this.#parser.line,
    };
    this.#open.at(-1)?.children.push(element);
    this.#open.push(element);
    this.#tags.push(known);
  }

  #end(tag: string): void {
    const depth = this.#depth--;
    if (depth < this.#top) return;
    if (this.#isSkipping) {
      if (depth === this.#top) this.#endSkipped();
      return;
    }
    const element = this.#open.at(-1)!;
    if (this.#markup.isOpen) return this.#markup.end(element, tag);
    // The text of a composite is insignificant.
    if (element.children.length > 0) element.text = "";
    if (depth === this.#top) return this.#endPart(element);
    this.#open.pop();
    this.#tags.pop();
  }

  #endSkipped(): void {
    this.#isSkipping = false;
    if (this.#fault) this.#parts.push(this.#fault);
  }

  #endPart(element: Element): void {
    const end = this.#parser.position;
    if (this.#isTooLong(end)) return this.#rejectTooLong();
    this.#open = [];
    if (element.name === "Header") return this.#pushHeader(element);
    this.#parts.push({ kind: "product", product: element });
    this.#ended = end;
    if (!hasText(element)) this.#limitEmpty();
  }

  #limitEmpty(): void {
    if (++this.#empty <= MAX_EMPTY) return;
    this.#parser.fail(
      "too_many_empty",
      `Expected at most ${MAX_EMPTY} records that say nothing`,
    );
  }

  /** A message without a header has one without defaults. */
  #pushHeader(header: Element = HEADER): void {
    this.#hasHeader = true;
    this.#parts.push({ kind: "header", header });
  }

  #text(text: string): void {
    const element = this.#open.at(-1);
    if (this.#isSkipping || !element || this.#tags.at(-1)!.isComposite) return;
    if (isRecoded(text)) {
      element.recoded = true;
      text = recoded(text);
    }
    this.#markup.addText(element, text);
  }

  /** Whether the header or record has too many characters up to this position. */
  #isTooLong(position: number): boolean {
    return position - this.#start > this.#maxLength;
  }

  #rejectTooLong(): void {
    this.#reject("too_large", `Expected at most ${MAX_RECORD} characters`);
  }

  /** Rejects the record alone. It is passed over up to its end. */
  #reject(code: string, message: string): void {
    const [part] = this.#open;
    if (part?.name !== "Product") this.#parser.fail(code, message);
    this.#fault = {
      kind: "unreadable",
      reference: childValue(part, "RecordReference") ?? null,
      line: part.line!,
      code,
      message: `${message} in a record`,
    };
    if (this.#fault.reference === null) this.#limitEmpty();
    // At its end nothing is left to pass over.
    this.#isSkipping = this.#depth >= this.#top;
    if (!this.#isSkipping) this.#parts.push(this.#fault);
    this.#open = [];
    this.#markup.reset();
  }
}

const HEADER = element("Header", []);

const NO_ATTRIBUTES: Readonly<Record<string, string>> = {};

function ownAttributes(
  attributes: Record<string, string>,
): Readonly<Record<string, string>> {
  let own: Record<string, string> | undefined;
  for (const name in attributes) {
    // Other attributes are insignificant.
    if (!Object.hasOwn(ATTRIBUTES, name)) continue;
    own ??= {};
    own[name] = attributes[name]!;
  }
  return own ?? NO_ATTRIBUTES;
}
