import { type Element, element, settledText } from "./element.ts";
import { shortTag } from "../rules/facts.ts";
import { readProduct } from "./read.ts";
import type { Release, Tags } from "../rules/releases.ts";
import { escapeText, startTag, xmlCharacters } from "./xml.ts";

/** The form of a message, and who sends it when. */
export interface MessageOptions {
  release: Release;
  tags: Tags;
  /** The name of the organization. */
  sender: string;
  sentAt: Date;
}

/** About how much is written at once, in characters. */
const WRITTEN_AT_ONCE = 16_384;

/** About how long the tags of an element are. */
const TAGS_LENGTH = 40;

/** Writes a message in chunks of text. Without records it has `NoProduct`. */
export async function* writeMessage(
  { release, tags, sender, sentAt }: MessageOptions,
  records: Iterable<Element> | AsyncIterable<Element>,
): AsyncGenerator<string> {
  const nameOf = tags === "short" ? shortTag : asItIs;
  const root = nameOf("ONIXMessage");
  const xmlns = `http://ns.editeur.org/onix/${release}/${tags}`;
  const header = element("Header", [
    element("Sender", [element("SenderName", sender)]),
    element("SentDateTime", timeOf(sentAt)),
  ]);
  yield `<?xml version="1.0" encoding="UTF-8"?>\n${
    startTag(root, { release, xmlns })
  }\n`;
  yield* indented(header, nameOf);
  let isEmpty = true;
  for await (const record of records) {
    isEmpty = false;
    yield* indented(record, nameOf);
  }
  if (isEmpty) yield* indented(element("NoProduct", ""), nameOf);
  yield `</${root}>\n`;
}

/** A time as ONIX writes it, such as `20270131T120000Z`. */
export function timeOf(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d+/g, "");
}

/** The text in which a record is stored: its XML in reference names. Equal records have equal texts. */
export function toStored(record: Element): string {
  const pieces = [];
  for (const piece of piecesOf(record)) {
    pieces.push(piece);
  }
  return pieces.join("");
}

/** Reads what `toStored` wrote. */
export function fromStored(text: string): Element {
  return readProduct(text);
}

function asItIs(name: string): string {
  return name;
}

/** An element of a message in pieces of text, with its names as the function gives them. */
export function indented(
  element: Element,
  nameOf: (name: string) => string = asItIs,
): Generator<string> {
  return piecesOf(element, nameOf, "  ", "\n");
}

/** A composite that is being written, and how many of its children are. */
interface OpenElement {
  element: Element;
  written: number;
}

/**
 * An element in pieces of text, each of which takes little time. A generator for each
 * composite would take five times as long as this stack.
 */
function* piecesOf(
  root: Element,
  nameOf = asItIs,
  indent = "",
  lineBreak = "",
): Generator<string> {
  let text = "";
  let length = 0;
  let margin = indent;
  const open: OpenElement[] = [];
  for (let next: Element | undefined = root; next;) {
    const tag = nameOf(next.name);
    const start = startTag(tag, next.attributes);
    if (next.children.length > 0) {
      text += margin + start + lineBreak;
      margin += indent;
      open.push({ element: next, written: 0 });
    } else if (next.text.length <= WRITTEN_AT_ONCE) {
      const content = contentOf(next, settledText(next));
      if (content === "") {
        text += margin + start.slice(0, -1) + "/>" + lineBreak;
      } else text += margin + start + content + "</" + tag + ">" + lineBreak;
      length += content.length;
    } else {
      yield text + margin + start;
      for (const part of partsOf(settledText(next))) {
        yield contentOf(next, part);
      }
      text = "</" + tag + ">" + lineBreak;
    }
    next = undefined;
    while (!next && open.length > 0) {
      const top = open.at(-1)!;
      next = top.element.children[top.written++];
      if (next) continue;
      open.pop();
      margin = margin.slice(indent.length);
      text += margin + "</" + nameOf(top.element.name) + ">" + lineBreak;
    }
    length += TAGS_LENGTH;
    if (length < WRITTEN_AT_ONCE) continue;
    yield text;
    text = "";
    length = 0;
  }
  yield text;
}

/** The parts of a long text. */
function* partsOf(text: string): Generator<string> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + WRITTEN_AT_ONCE;
    // Keeps surrogate pairs together.
    if (/[\ud800-\udbff]/.test(text.charAt(to - 1))) to--;
    yield text.slice(from, to);
  }
}

/** The text, or a part of it, as XML. */
function contentOf({ markup }: Element, text: string): string {
  const known = xmlCharacters(text);
  return markup ? known : escapeText(known);
}
