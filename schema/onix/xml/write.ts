import { type Element, element, settledText } from "./element.ts";
import { shortTag } from "../rules/facts.ts";
import { readProduct } from "./read.ts";
import type { Release, Tags } from "../rules/releases.ts";
import type { Steps } from "./steps.ts";
import { escapeText, startTag, xmlCharacters } from "./xml.ts";

/** The form of a message, and who sends it when. */
export interface MessageOptions {
  release: Release;
  tags: Tags;
  /** The name of the organization. */
  sender: string;
  sentAt: Date;
}

/** The least size of what is written at once, in characters. */
const PIECE = 16_384;

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
export function* toStored(record: Element): Steps<string> {
  const pieces = [];
  for (const piece of piecesOf(record)) {
    pieces.push(piece);
    yield;
  }
  return pieces.join("");
}

/** Reads what `toStored` wrote. */
export function fromStored(text: string): Steps<Element> {
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

/** An element in pieces of text, each of which takes little time. */
function* piecesOf(
  root: Element,
  nameOf = asItIs,
  indent = "",
  lineBreak = "",
): Generator<string> {
  let piece = "";

  function* add(given: Element, margin: string): Generator<string> {
    const tag = nameOf(given.name);
    const start = margin + startTag(tag, given.attributes);
    if (given.children.length > 0) {
      piece += start + lineBreak;
      for (const child of given.children) {
        if (isShort(child)) piece += margin + indent + short(child) + lineBreak;
        else yield* add(child, margin + indent);
        if (piece.length < PIECE) continue;
        yield piece;
        piece = "";
      }
      piece += `${margin}</${tag}>${lineBreak}`;
    } else yield* addLong(given, start, `</${tag}>${lineBreak}`);
  }

  function short(given: Element): string {
    const tag = nameOf(given.name);
    const start = startTag(tag, given.attributes);
    const content = contentOf(given, settledText(given));
    return content === ""
      ? `${start.slice(0, -1)}/>`
      : `${start}${content}</${tag}>`;
  }

  function* addLong(
    given: Element,
    start: string,
    end: string,
  ): Generator<string> {
    const text = settledText(given);
    yield piece + start;
    for (let from = 0, to = 0; from < text.length; from = to) {
      to = from + PIECE;
      // Keeps surrogate pairs together.
      if (/[\ud800-\udbff]/.test(text.charAt(to - 1))) to--;
      yield contentOf(given, text.slice(from, to));
    }
    piece = end;
  }

  if (isShort(root)) piece = indent + short(root) + lineBreak;
  else yield* add(root, indent);
  yield piece;
}

/** Whether it is a data element whose value takes little time. */
function isShort({ children, text }: Element): boolean {
  return children.length === 0 && text.length <= PIECE;
}

/** The text, or a part of it, as XML. */
function contentOf({ markup }: Element, text: string): string {
  const known = xmlCharacters(text);
  return markup ? known : escapeText(known);
}
