import { SaxesParser } from "saxes";
import { explain, misused, type Tag, unknownEntity } from "./faults.ts";
import { type LineAndColumn, XmlError } from "./xml_error.ts";

/* Parses XML with saxes: bounds its memory, and explains faults at their place. */

const MAX_ELEMENT_DEPTH = 64;

const MAX_ATTRIBUTES = 64;

/** The longest name of an element or attribute. Names stand in the paths of a report. */
const MAX_NAME = 100;

/** The events of a parser, in the order of the text. */
export interface Events {
  /** A start tag begins at this position: its name has been read. */
  tag(position: number): void;
  begin(name: string, attributes: Record<string, string>): void;
  end(name: string): void;
  text(text: string): void;
  doctype(text: string): void;
}

/** A tag or reference that has no end yet, or a half of what is one character. */
const UNFINISHED = /(?:[&<][^\s<>;]*|<\/[^<>]*|\]{1,2}|[\r\ud800-\udbff])$/;

/** A `&` or `<` that begins no reference and no tag. */
const MISUSED =
  /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)|<(?=[^A-Za-z_:/!?\xc0-\u1fff\u2c00-\uffff]|!(?!--|\[CDATA\[|DOCTYPE))/g;

/** A reference by a name, as in HTML. */
const NAMED_REFERENCE = /^&(\w+);/;

/**
 * Parses XML that arrives in pieces. In: pieces of text. Out: events. Throws `XmlError` if it is
 * not well-formed, or has longer names, more attributes or more levels than any message.
 */
export class Parser {
  readonly #saxes = new SaxesParser({ xmlns: false, position: true });
  /** The length of a text, comment or attribute that is not kept. */
  readonly #maxText: number;
  /**
   * The end of the written text, if it is an unfinished tag or reference. It waits for the next
   * text.
   */
  #rest = "";
  /** The piece that saxes reads now, the place of its start, and how many characters were before it. */
  #piece = "";
  #start = { line: 1, column: 1 };
  #parsed = 0;
  /** The start tag that was read last. */
  #tag = "";
  /** The elements that are open with the lines of their tags, and the last that has ended. */
  readonly #open: Tag[] = [];
  #ended: Tag | undefined;

  constructor(events: Events, maxText = Infinity) {
    this.#maxText = maxText;
    const saxes = this.#saxes;
    // An eighth handler would make V8 store the parser's properties in a dictionary, which
    // takes three times as long.
    saxes.on("error", ({ message }) => this.#explain(message));
    saxes.on("doctype", (text) => events.doctype(text));
    saxes.on("opentagstart", ({ name }) => {
      this.#limitName(name);
      this.#tag = name;
      // The character after the name has been read, too.
      const { line, column, position } = saxes;
      this.#open.push({ name, line: column === 0 ? line - 1 : line });
      if (this.#open.length > MAX_ELEMENT_DEPTH) {
        const most = `Expected at most ${MAX_ELEMENT_DEPTH} levels of elements`;
        this.fail("too_deep", most);
      }
      events.tag(position - name.length - 2);
    });
    saxes.on("opentag", ({ name, attributes }) => {
      const names = Object.keys(attributes);
      this.#limitAttributes(names.length);
      names.forEach((each) => this.#limitName(each));
      events.begin(name, attributes);
    });
    saxes.on("closetag", ({ name }) => {
      this.#ended = this.#open.pop();
      events.end(name);
    });
    saxes.on("text", (text) => events.text(text));
    saxes.on("cdata", (text) => events.text(text));
  }

  /** The place of the next character. */
  get place(): LineAndColumn {
    const { line, column } = this.#saxes;
    return { line, column: column + this.#rest.length + 1 };
  }

  /** The line in which the innermost open element begins. */
  get line(): number {
    return this.#open.at(-1)!.line;
  }

  /** The position of the next character, within an event. */
  get position(): number {
    return this.#saxes.position;
  }

  /** How many characters have been parsed, between two writes. */
  get parsed(): number {
    return this.#parsed;
  }

  write(text: string): void {
    const all = withLineFeeds(this.#rest + text);
    const { 0: rest } = UNFINISHED.exec(all.slice(-2 * MAX_NAME)) ?? [""];
    this.#rest = "";
    this.#parse(all.slice(0, all.length - rest.length));
    this.#rest = rest;
    this.#limitGathered();
  }

  close(): void {
    this.#parse(this.#rest);
    this.#rest = "";
    this.#feed("");
    this.#saxes.close();
  }

  /** Throws an error, at the next character if not elsewhere. */
  fail(code: string, message: string, place = this.place): never {
    throw new XmlError(code, message, place);
  }

  /** Parses a text. Fails at a `&` or `<` that begins nothing, where saxes would fail after it. */
  #parse(text: string): void {
    let from = 0;
    for (const { 0: mark, index } of text.matchAll(MISUSED)) {
      this.#feed(text.slice(from, index));
      from = index + 1;
      // In a comment, an instruction or CDATA it is a normal character: saxes collects it.
      const { length } = this.#gathered.text;
      this.#feed(mark);
      if (this.#gathered.text.length > length) continue;
      const [, name] = NAMED_REFERENCE.exec(text.slice(index, from + MAX_NAME)) ?? [];
      const message = name ? unknownEntity(name) : misused(mark);
      this.fail("not_well_formed", message, this.#start);
    }
    this.#feed(text.slice(from));
  }

  /** Passes a piece to saxes, and records its start. */
  #feed(piece: string): void {
    const { line, column } = this.#saxes;
    this.#start = { line, column: column + 1 };
    this.#piece = piece;
    this.#saxes.write(piece);
    this.#parsed += piece.length;
  }

  /** Throws the fault that saxes has found, at its place, with a message of ours. */
  #explain(words: string): never {
    const saxes = this.#saxes;
    const before = this.#piece.slice(0, saxes.position - this.#parsed);
    const { message, length } = explain(words.replace(/^\d+:\d+: |\.$/g, ""), {
      before,
      tag: this.#tag,
      attribute: this.#gathered.name,
      open: this.#open.at(-1),
      ended: this.#ended,
    });
    const place = placeAfter(
      before.slice(0, before.length - length),
      this.#start,
    );
    this.fail("not_well_formed", message, place);
  }

  /**
   * The text that saxes (6.0.0) collects until a tag or a text ends. Its fields are private, and
   * nothing else bounds them.
   */
  get #gathered() {
    const saxes = this.#saxes;
    return {
      text: saxes["text"],
      name: saxes["name"],
      target: saxes["piTarget"],
      attributes: saxes["attribList"].length,
    };
  }

  /** Bounds the collected text. */
  #limitGathered(): void {
    const { text, name, target, attributes } = this.#gathered;
    this.#limitName(name + target);
    this.#limitAttributes(attributes);
    if (text.length > this.#maxText) this.#saxes["text"] = "";
  }

  #limitName(name: string): void {
    if (name.length <= MAX_NAME) return;
    this.fail("too_long", `Expected names of at most ${MAX_NAME} characters`);
  }

  #limitAttributes(count: number): void {
    if (count <= MAX_ATTRIBUTES) return;
    const most = `Expected at most ${MAX_ATTRIBUTES} attributes`;
    this.fail("too_many_attributes", most);
  }
}

/** The text with line breaks as XML has them. A half of one at its end stays. */
function withLineFeeds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n|\r(?=[^\n])/g, "\n") : text;
}

/** The place after a text that begins at this one. A column is a character, not a code unit. */
function placeAfter(text: string, { line, column }: LineAndColumn) {
  const lines = text.split("\n");
  const length = [...lines.at(-1)!].length;
  return lines.length === 1
    ? { line, column: column + length }
    : { line: line + lines.length - 1, column: length + 1 };
}
