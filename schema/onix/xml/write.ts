import { type Element, element, isMarkedUp, normalized } from "./element.ts";
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
  }\n${indented(header, nameOf, 1)}`;
  let isEmpty = true;
  for await (const record of records) {
    isEmpty = false;
    yield indented(record, nameOf, 1);
  }
  if (isEmpty) yield indented(element("NoProduct", ""), nameOf, 1);
  yield `</${root}>\n`;
}

/** A time as ONIX writes it, such as `20270131T120000Z`. */
export function timeOf(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d+/g, "");
}

/** The text in which a record is stored: its XML in reference names. Equal records have equal texts. */
export function toStored(record: Element): string {
  return compact(record);
}

/** Reads what `toStored` wrote. */
export function fromStored(text: string): Element {
  return readProduct(text);
}

function asItIs(name: string): string {
  return name;
}

/** An element as text, indented, with its names as the function gives them. */
export function indented(
  { name, attributes, children, ...rest }: Element,
  nameOf: (name: string) => string,
  depth: number,
): string {
  const indent = "  ".repeat(depth);
  const tag = nameOf(name);
  if (children.length === 0) {
    return `${indent}${
      whole(tag, attributes, contentOf({ name, attributes, children, ...rest }))
    }\n`;
  }
  let xml = `${indent}${startTag(tag, attributes)}\n`;
  for (const child of children) xml += indented(child, nameOf, depth + 1);
  return `${xml}${indent}</${tag}>\n`;
}

function compact(element: Element): string {
  const { name, attributes, children } = element;
  if (children.length === 0) return whole(name, attributes, contentOf(element));
  let xml = startTag(name, attributes);
  for (const child of children) xml += compact(child);
  return `${xml}</${name}>`;
}

function whole(
  tag: string,
  attributes: Element["attributes"],
  content: string,
): string {
  const start = startTag(tag, attributes);
  return content === ""
    ? `${start.slice(0, -1)}/>`
    : `${start}${content}</${tag}>`;
}

/** The value as XML. White space is kept in marked-up text alone. */
function contentOf(element: Element): string {
  const text = xmlCharacters(
    isMarkedUp(element) ? element.text.trim() : normalized(element.text),
  );
  return element.markup ? text : escapeText(text);
}
