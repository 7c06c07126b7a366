import { type Element, element, textWithoutPadding } from "./element.ts";
import { shortTag } from "../rules/facts.ts";
import type { MessageForm, Tags } from "../rules/releases.ts";
import { escapeText, startTag, xmlCharacters } from "./xml.ts";

/* Writes records as XML: messages for recipients, and the text in which a record is stored. */

/** The form of a message, its sender and its time. */
interface MessageOptions extends MessageForm {
  sender: Sender;
  sentAt: Date;
}

/** The organization that sends messages. */
export interface Sender {
  /** Its name. */
  organization: string;
  sender_identifiers:
    | readonly {
      sender_id_type: string;
      id_type_name?: string | null;
      id_value: string;
    }[]
    | null;
  contact_name: string | null;
  email_address: string | null;
}

/** Writes a message, record by record: elements, or texts of `recordText`. Without records it has `NoProduct`. */
export async function* writeMessage(
  { release, tags, sender, sentAt }: MessageOptions,
  records: Iterable<Element | string> | AsyncIterable<Element | string>,
): AsyncGenerator<string> {
  const nameOf = namesWith(tags);
  const root = nameOf("ONIXMessage");
  const xmlns = `http://ns.editeur.org/onix/${release}/${tags}`;
  yield `<?xml version="1.0" encoding="UTF-8"?>\n${startTag(root, { release, xmlns })}\n`;
  yield indented(headerOf(sender, sentAt), nameOf);
  let isEmpty = true;
  for await (const record of records) {
    isEmpty = false;
    yield typeof record === "string" ? record : indented(record, nameOf);
  }
  if (isEmpty) yield indented(element("NoProduct", ""), nameOf);
  yield `</${root}>\n`;
}

/** A record as the text that it has in a message with these tags. */
export function recordText(record: Element, tags: Tags): string {
  return indented(record, namesWith(tags));
}

function namesWith(tags: Tags): (name: string) => string {
  return tags === "short" ? shortTag : asItIs;
}

/** The header of a message that the organization sends. */
export function headerOf(sender: Sender, sentAt: Date): Element {
  const optional = (name: string, value: string | null | undefined) =>
    value ? [element(name, value)] : [];
  const identifiers = (sender.sender_identifiers ?? []).map((one) =>
    element("SenderIdentifier", [
      element("SenderIDType", one.sender_id_type),
      ...optional("IDTypeName", one.id_type_name),
      element("IDValue", one.id_value),
    ])
  );
  return element("Header", [
    element("Sender", [
      ...identifiers,
      element("SenderName", sender.organization),
      ...optional("ContactName", sender.contact_name),
      ...optional("EmailAddress", sender.email_address),
    ]),
    element("SentDateTime", timeOf(sentAt)),
  ]);
}

/** A time as ONIX writes it, such as `20270131T120000Z`. */
export function timeOf(time: Date): string {
  return time.toISOString().replace(/[-:]|\.\d+/g, "");
}

/** The text in which a record is stored: its XML in reference names. Equal records have equal texts. */
export function toStored(record: Element): string {
  return xmlOf(record, asItIs, "", "");
}

/** An element of a message, each on a line of its own, with its names as the function gives them. */
export function indented(
  element: Element,
  nameOf: (name: string) => string = asItIs,
): string {
  return xmlOf(element, nameOf, "  ", "\n");
}

function asItIs(name: string): string {
  return name;
}

function xmlOf(
  element: Element,
  nameOf: (name: string) => string,
  margin: string,
  lineBreak: string,
): string {
  const tag = nameOf(element.name);
  const start = margin + startTag(tag, element.attributes);
  const end = `</${tag}>${lineBreak}`;
  if (element.children.length === 0) {
    const content = contentOf(element);
    return content === "" ? `${start.slice(0, -1)}/>${lineBreak}` : start + content + end;
  }
  const inner = lineBreak && `${margin}  `;
  let text = start + lineBreak;
  for (const child of element.children) {
    text += xmlOf(child, nameOf, inner, lineBreak);
  }
  return text + margin + end;
}

/** The value as XML. */
function contentOf(element: Element): string {
  const known = xmlCharacters(textWithoutPadding(element));
  return element.markup ? known : escapeText(known);
}
