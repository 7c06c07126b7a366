import { SaxesParser } from "saxes";
import { decode } from "./decode.ts";
import { childValue, type Element, element } from "./element.ts";
import {
  type Known,
  knownTag,
  localName,
  nameInOnix21,
} from "../rules/facts.ts";
import { type Release, RELEASES } from "../rules/releases.ts";
import { escapeText, isRecoded, recoded, startTag } from "./xml.ts";
import { type LineAndColumn, XmlError } from "./xml_error.ts";

/** The largest record, and the largest header, in characters of XML. */
const MAX_RECORD = 512 * 1024;

/** The most elements in a record: they take more memory than their XML. */
const MAX_ELEMENTS = 100_000;

const MAX_ELEMENT_DEPTH = 64;

const MAX_ATTRIBUTES = 64;

/** The longest name of an element. Names stand in the paths of a report. */
const MAX_NAME = 100;

/** The longest name of an attribute or entity, which nothing else limits. */
const MAX_NAME_READ = 64 * 1024;

/** How much of a message is parsed at once, in characters. */
const PARSED_AT_ONCE = 16 * 1024;

/** After how many characters at least the pieces of a text are joined. */
const JOINED_AT_ONCE = 64 * 1024;

/** What a message consists of, in its order: one header, then records. */
export type Part = Head | ProductPart | Unreadable;

export interface Head {
  kind: "header";
  header: Element;
  release: Release;
}

export interface ProductPart {
  kind: "product";
  product: Element;
  /** In characters of XML. */
  length: number;
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
  pace?: () => Promise<void>;
}

/**
 * Reads a message as it arrives, and holds one record at a time. Throws `XmlError` where
 * the message cannot be read on.
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
    // What was read before an error counts.
    yield* reader.take();
  }
}

/** Reads the text of one record. */
export function readProduct(text: string): Element {
  const reader = new Reader("product");
  for (const piece of slicesOf(text)) {
    reader.write(piece);
  }
  reader.close();
  const [part] = reader.take();
  if (part?.kind !== "product") throw new TypeError("The text is no record");
  return part.product;
}

function* slicesOf(text: string): Generator<string> {
  for (let i = 0; i < text.length; i += PARSED_AT_ONCE) {
    yield text.slice(i, i + PARSED_AT_ONCE);
  }
}

/** An element of ONIX, or one that is unknown: it may have children or a value. */
type Tag = Known | { name: string; isComposite?: undefined };

class Reader {
  #parser = new SaxesParser({ xmlns: false, position: true });
  #parts: Part[] = [];
  #depth = 0;
  /** The depth at which records begin. */
  #top: 1 | 2;
  #hasHeader = false;
  #release: Release = "3.1";
  /** The header or record, and the elements in it that are open. */
  #open: Element[] = [];
  /** What is known of them. */
  #known: Tag[] = [];
  /** How deep the XHTML in a data element is open. */
  #markup = 0;
  /** Whether the last tag of that XHTML still lacks its `>` or `/>`. */
  #isTagOpen = false;
  /** Whether everything up to the end of the header's or record's element is passed over. */
  #isSkipping = false;
  /** Why the record cannot be read. */
  #fault: Unreadable | undefined;
  /** Where the header or record began. */
  #start = 0;
  #elements = 0;
  /** Where the last tag, text or comment ended, and what was before the last start tag. */
  #event = 0;
  #before = 0;
  /** Where the pieces of texts are joined next. */
  #joinAt = JOINED_AT_ONCE;
  /** Where the last record ended. */
  #ended = -1;

  constructor(whole: "message" | "product") {
    this.#top = whole === "message" ? 2 : 1;
    const parser = this.#parser;
    // An eighth handler would make V8 store the parser's properties in a dictionary, which
    // takes three times as long.
    parser.on("error", ({ message }) => {
      this.#takeBack();
      const fault = message.replace(/^\d+:\d+: /, "").replace(/\.$/, "");
      this.#fail("not_well_formed", `The XML is not well-formed: ${fault}`);
    });
    parser.on("doctype", (text) => this.#refuseDoctype(text));
    parser.on("opentag", ({ name, attributes }) => {
      this.#begin(localName(name), attributes);
    });
    parser.on("closetag", ({ name }) => this.#end(localName(name)));
    parser.on("text", (text) => this.#text(text));
    parser.on("cdata", (text) => this.#text(text));
    // The parser tells of a comment before its `>`.
    parser.on("comment", () => this.#event = parser.position + 1);
  }

  get place(): LineAndColumn {
    const { line, column } = this.#parser;
    return { line, column: column + 1 };
  }

  /** How much has been parsed. Between writes, the position of the parser counts the last text twice. */
  get #consumed(): number {
    return this.#parser["chunkPosition"];
  }

  write(text: string): void {
    this.#parser.write(text);
    this.#limitBuffers();
    this.#joinPieces();
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
    this.#before = this.#event;
    this.#event = this.#parser.position;
    if (tag.length > MAX_NAME) this.#refuseName(MAX_NAME);
    this.#limitAttributes(Object.keys(attributes).length);
    if (++this.#depth > MAX_ELEMENT_DEPTH) {
      this.#fail(
        "too_deep",
        `Expected at most ${MAX_ELEMENT_DEPTH} levels of elements`,
      );
    }
    if (this.#isSkipping) return;
    if (this.#depth > this.#top && this.#known.at(-1)!.isComposite === false) {
      return this.#beginMarkup(tag, attributes);
    }
    const known = knownTag(tag) ?? { name: nameInOnix21(tag) ?? tag };
    if (this.#depth > this.#top) this.#beginElement(known, attributes);
    else if (this.#depth === this.#top) this.#beginPart(known, attributes);
    else this.#beginMessage(known, attributes);
  }

  #beginMessage({ name }: Tag, attributes: Record<string, string>): void {
    if (name !== "ONIXMessage") {
      this.#fail(
        "not_onix",
        `Expected the root ONIXMessage or ONIXmessage, not ${excerpt(name)}`,
      );
    }
    const release = attributes.release?.trim() || releaseOf(attributes);
    if (!release) {
      this.#fail(
        "unsupported_release",
        'The message does not say its release: add release="3.0" or release="3.1" to its root',
      );
    }
    if (!/^3(?:\.|$)/.test(release)) this.#refuseRelease(release);
    this.#release = /^3\.0|^3$/.test(release) ? "3.0" : "3.1";
  }

  /** Begins the header or a record. Anything else, and a second header, is passed over. */
  #beginPart(known: Tag, attributes: Record<string, string>): void {
    const { name } = known;
    this.#start = this.#before;
    this.#elements = 0;
    this.#fault = undefined;
    if (name === "Product") {
      if (!this.#hasHeader && this.#top === 2) this.#pushHeader();
    } else if (name !== "Header" || this.#hasHeader) {
      this.#isSkipping = true;
      return;
    }
    this.#open = [];
    this.#known = [];
    this.#push(known, attributes);
  }

  #beginElement(known: Tag, attributes: Record<string, string>): void {
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

  #push(known: Tag, attributes: Record<string, string>): void {
    const element: Element = {
      name: known.name,
      attributes: ownAttributes(attributes),
      children: [],
      text: "",
      line: this.#parser.line,
    };
    this.#open.at(-1)?.children.push(element);
    this.#open.push(element);
    this.#known.push(known);
  }

  /** XHTML is kept as text. From its first tag on, the text of the element is XML. */
  #beginMarkup(tag: string, attributes: Record<string, string>): void {
    const element = this.#open.at(-1)!;
    if (!element.markup) {
      element.text = escapeText(element.text);
      element.markup = true;
    }
    this.#endTag(element, ">");
    element.text += startTag(tag, xhtmlAttributes(attributes)).slice(0, -1);
    this.#isTagOpen = true;
    this.#markup++;
  }

  /** Ends the last tag, if it is open. Looking for it in the text would take time for all of that. */
  #endTag(element: Element, end: ">" | "/>"): void {
    if (this.#isTagOpen) element.text += end;
    this.#isTagOpen = false;
  }

  #end(tag: string): void {
    this.#event = this.#parser.position;
    this.#depth--;
    if (this.#isSkipping) {
      if (this.#depth >= this.#top) return;
      this.#isSkipping = false;
      if (this.#fault) this.#parts.push(this.#fault);
      return;
    }
    if (this.#depth + 1 < this.#top) return;
    if (this.#markup > 0) {
      this.#markup--;
      const element = this.#open.at(-1)!;
      if (this.#isTagOpen && isVoid(tag)) return this.#endTag(element, "/>");
      this.#endTag(element, ">");
      element.text += `</${tag}>`;
      return;
    }
    if (this.#isTooLarge()) return;
    const element = this.#open.pop()!;
    this.#known.pop();
    if (element.children.length > 0) element.text = "";
    if (this.#open.length > 0) return;
    if (element.name === "Header") this.#pushHeader(element);
    else {
      const length = this.#event - this.#start;
      this.#parts.push({ kind: "product", product: element, length });
      this.#ended = this.#event;
    }
  }

  /** Takes back the record that a wrong end tag has ended: the parser reports that afterwards. */
  #takeBack(): void {
    if (this.#ended === this.#parser.position) this.#parts.pop();
  }

  /** A message without a header has one without defaults. */
  #pushHeader(header: Element = HEADER): void {
    this.#hasHeader = true;
    this.#parts.push({ kind: "header", header, release: this.#release });
  }

  #text(text: string): void {
    this.#event = this.#parser.position;
    const element = this.#open.at(-1);
    if (this.#isSkipping || !element || this.#known.at(-1)!.isComposite) return;
    if (this.#isTooLarge()) return;
    this.#endTag(element, ">");
    if (isRecoded(text)) {
      element.recoded = true;
      text = recoded(text);
    }
    element.text += element.markup ? escapeText(text) : text;
  }

  #isTooLarge(): boolean {
    if (this.#event - this.#start <= MAX_RECORD) return false;
    this.#rejectTooLarge();
    return true;
  }

  #rejectTooLarge(): void {
    this.#reject("too_large", `Expected at most ${MAX_RECORD} characters`);
  }

  /** Rejects the record alone. It is passed over up to its end. */
  #reject(code: string, message: string): void {
    const [part] = this.#open;
    if (part?.name !== "Product") this.#fail(code, message);
    this.#fault = {
      kind: "unreadable",
      reference: childValue(part, "RecordReference") ?? null,
      line: part.line!,
      code,
      message: `${message} in a record`,
    };
    this.#isSkipping = this.#depth >= this.#top;
    if (!this.#isSkipping) this.#parts.push(this.#fault);
    this.#open = [];
    this.#markup = 0;
    this.#isTagOpen = false;
  }

  /**
   * The parser collects a text, comment or attribute until it ends. Nothing needs one that
   * is larger than a record.
   */
  #limitBuffers(): void {
    const parser = this.#parser;
    this.#limitAttributes(parser["attribList"].length);
    if (parser["name"].length + parser["entity"].length > MAX_NAME_READ) {
      this.#refuseName(MAX_NAME_READ);
    }
    if (this.#consumed - this.#event <= MAX_RECORD) return;
    if (this.#depth === 0 && !this.#hasHeader) {
      this.#fail(
        "too_large",
        `Expected the root within ${MAX_RECORD} characters`,
      );
    }
    parser["text"] = "";
    // Between records, only a start tag counts: with its attributes it is part of a record.
    if (this.#open.length === 0) {
      if (parser["name"] === "") this.#event = this.#consumed;
    } else if (!this.#isSkipping) {
      this.#rejectTooLarge();
    }
  }

  /**
   * Strings that were concatenated keep their pieces, each of which takes 32 bytes, until
   * something looks into them. That copies them, which is done more rarely the longer they are.
   */
  #joinPieces(): void {
    const position = this.#consumed;
    if (position < this.#joinAt) return;
    this.#joinAt = position +
      Math.max(JOINED_AT_ONCE, (position - this.#start) / 8);
    for (const text of [this.#parser["text"], this.#open.at(-1)?.text ?? ""]) {
      /^/.test(text);
    }
  }

  #refuseName(limit: number): never {
    this.#fail("too_long", `Expected names of at most ${limit} characters`);
  }

  #limitAttributes(count: number): void {
    if (count <= MAX_ATTRIBUTES) return;
    this.#fail(
      "too_many_attributes",
      `Expected at most ${MAX_ATTRIBUTES} attributes`,
    );
  }

  /** Messages of release 2.1 have a DOCTYPE, and fail for that release first. */
  #refuseDoctype(text: string): never {
    const release = RELEASE.exec(text)?.[1];
    if (release && !/^3/.test(release)) this.#refuseRelease(release);
    this.#fail("doctype", "A message must not have a DOCTYPE: remove it");
  }

  #refuseRelease(release: string): never {
    this.#fail(
      "unsupported_release",
      `Expected ONIX ${RELEASES.join(" or ")}, not ${excerpt(release)}`,
    );
  }

  #fail(code: string, message: string): never {
    throw new XmlError(code, message, this.place);
  }
}

const HEADER = element("Header", []);

/** The release in the address of a namespace or a DTD. */
const RELEASE = /\/onix\/(\d+(?:\.\d+)*)/;

/** The release in a namespace such as `http://ns.editeur.org/onix/3.0/reference`. */
function releaseOf(attributes: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(attributes)) {
    const release = RELEASE.exec(value)?.[1];
    if (release && /^xmlns(?::|$)/.test(name)) return release;
  }
}

function excerpt(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}

/** The attributes of elements in ONIX. Others say nothing. */
const ATTRIBUTE_NAMES = [
  "collationkey",
  "dateformat",
  "datestamp",
  "language",
  "sourcename",
  "sourcetype",
  "textcase",
  "textformat",
  "textscript",
];

const NO_ATTRIBUTES: Readonly<Record<string, string>> = {};

function ownAttributes(
  attributes: Record<string, string>,
): Readonly<Record<string, string>> {
  let own: Record<string, string> | undefined;
  for (const name in attributes) {
    if (!ATTRIBUTE_NAMES.includes(name)) continue;
    own ??= {};
    own[name] = attributes[name]!;
  }
  return own ?? NO_ATTRIBUTES;
}

/** The attributes of an element of XHTML, without its namespaces. */
function xhtmlAttributes(attributes: Record<string, string>) {
  const own = Object.entries(attributes).filter(([name]) =>
    !/^xmlns\b/.test(name)
  );
  return Object.fromEntries(
    own.map(([name, value]) => [localName(name), value]),
  );
}

function isVoid(tag: string): boolean {
  return /^(?:br|hr|img)$/.test(tag);
}
