import { localName } from "../rules/facts.ts";
import type { Element } from "./element.ts";
import { escapeText, startTag } from "./xml.ts";

/**
 * Collects the XHTML in a data element, which is kept as text. From its first tag on, that text is
 * XML.
 */
export class Markup {
  /** The number of open elements. */
  #depth = 0;
  /** Whether the last tag still lacks its `>` or `/>`: looking for it in the text would take as long as that is. */
  #isTagOpen = false;

  get isOpen(): boolean {
    return this.#depth > 0;
  }

  begin(element: Element, tag: string, attributes: Record<string, string>): void {
    if (!element.markup) {
      element.text = escapeText(element.text);
      element.markup = true;
    }
    this.#endTag(element, ">");
    element.text += startTag(tag, withoutNamespaces(attributes)).slice(0, -1);
    this.#isTagOpen = true;
    this.#depth++;
  }

  end(element: Element, tag: string): void {
    this.#depth--;
    if (this.#isTagOpen && isVoid(tag)) return this.#endTag(element, "/>");
    this.#endTag(element, ">");
    element.text += `</${tag}>`;
  }

  /** Adds a text to the data element, inside its XHTML or outside. */
  addText(element: Element, text: string): void {
    this.#endTag(element, ">");
    element.text += element.markup ? escapeText(text) : text;
  }

  /** Forgets what is open, in an element that is not read on. */
  reset(): void {
    this.#depth = 0;
    this.#isTagOpen = false;
  }

  #endTag(element: Element, end: ">" | "/>"): void {
    if (this.#isTagOpen) element.text += end;
    this.#isTagOpen = false;
  }
}

function withoutNamespaces(attributes: Record<string, string>): Record<string, string> {
  const own = Object.entries(attributes).filter(([name]) => !/^xmlns\b/.test(name));
  return Object.fromEntries(own.map(([name, value]) => [localName(name), value]));
}

function isVoid(tag: string): boolean {
  return /^(?:br|hr|img)$/.test(tag);
}
