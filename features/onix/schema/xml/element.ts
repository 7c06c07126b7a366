import { DEPENDENTS } from "../rules/dependents.ts";
import { dataElement } from "../rules/facts.ts";

/*
 * A record of ONIX for Books as a tree of elements, and functions that read, compare and change
 * them. Names are reference names, whatever the tags of the message, and have no namespace.
 */

/** An element: either a composite with children, or a data element with a value. */
export interface Element {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: Element[];
  /** The value of a data element. In an element with `markup` it is XHTML as XML text, else plain text. */
  text: string;
  /** Whether the value contains XHTML elements. */
  markup?: true;
  /** Whether its text had controls that are read as characters of Windows-1252. */
  recoded?: true;
  /** Whether it is only stored, because it would permit more than its sender did (`withhold.ts`). */
  isWithheld?: boolean;
  /** Its line in the message. */
  line?: number;
  /** The id of its row (`codecs/ids.ts`). */
  id?: string;
}

/** A data element, or a composite with these children. */
export function element(
  name: string,
  content: string | Element[],
  attributes: Record<string, string> = {},
): Element {
  return typeof content === "string"
    ? { name, attributes, children: [], text: content }
    : { name, attributes, children: content, text: "" };
}

/** The first child with this name that is not withheld. */
export function child(parent: Element, name: string): Element | undefined {
  return parent.children.find((child) => child.name === name && !child.isWithheld);
}

/** All children with this name that are not withheld. */
export function childrenOf(parent: Element, name: string): Element[] {
  return parent.children.filter((child) => child.name === name && !child.isWithheld);
}

/** Whether an element or one in it has a text. */
export function hasText({ children, text }: Element): boolean {
  return children.length > 0 ? children.some(hasText) : /\S/.test(text);
}

/** Returns the value without insignificant white space, or undefined without a value. */
export function valueOf(element: Element | undefined): string | undefined {
  if (!element) return;
  const value = textWithoutPadding(element);
  return value === "" ? undefined : value;
}

/** The value of the first child with this name. */
export function childValue(parent: Element, name: string): string | undefined {
  return valueOf(child(parent, name));
}

/**
 * Returns the text without insignificant white space. Markup and texts with line breaks keep
 * theirs.
 */
export function textWithoutPadding(element: Element): string {
  const { name, text } = element;
  if (isMarkedUp(element)) return text.trim();
  const hasLines = text.includes("\n") && dataElement(name)?.kind === "flow" &&
    text.trim().includes("\n");
  return hasLines ? text.trim() : normalized(text);
}

/** The text with each run of white space as one space, trimmed. */
export function normalized(text: string): string {
  // One expression for all of it takes ten times as long.
  const isNormalized = !text.startsWith(" ") && !text.endsWith(" ") &&
    !text.includes("  ") && !/[\t\r\n]/.test(text);
  return isNormalized ? text : withoutEnds(text.replace(/[ \t\r\n]{2,}|[\t\r\n]/g, " "));
}

function withoutEnds(text: string): string {
  const end = text.length > 1 && text.endsWith(" ") ? -1 : undefined;
  return text.slice(text.startsWith(" ") ? 1 : 0, end);
}

/** The formats of text in which white space belongs to the markup (List 34). */
const MARKED_UP = ["02", "03", "05"];

/** Whether the value is HTML or XHTML, also where it is written with entities or in CDATA. */
function isMarkedUp(
  { name, attributes, markup, text }: Element,
): boolean {
  if (markup) return true;
  return dataElement(name)?.kind === "flow" &&
    (MARKED_UP.includes(attributes.textformat!) || /<\/?[a-z]/i.test(text));
}

/** Whether two elements have the same content. White space and the order of attributes do not count. */
export function hasSameContent(a: Element, b: Element): boolean {
  return a.name === b.name && a.markup === b.markup &&
    (a.text === b.text || textWithoutPadding(a) === textWithoutPadding(b)) &&
    hasAllOf(b.attributes, a.attributes) &&
    hasAllOf(a.attributes, b.attributes) &&
    haveSameContent(a.children, b.children);
}

/** Whether elements have the same content, one by one. */
export function haveSameContent(a: readonly Element[], b: readonly Element[]): boolean {
  return a.length === b.length && a.every((each, i) => hasSameContent(each, b[i]!));
}

/** Whether all attributes of the other are among these. */
function hasAllOf(these: Element["attributes"], other: Element["attributes"]): boolean {
  for (const name in other) if (other[name] !== these[name]) return false;
  return true;
}

/** Returns the exact content of an element as text. Equal texts are read alike. */
export function contentOf({ name, attributes, children, text, markup, recoded }: Element): string {
  const own = JSON.stringify([name, attributes, text, markup, recoded]);
  return children.length === 0 ? own : `[${own}${children.map(contentOf).join("")}]`;
}

/** A copy whose children can be replaced without changing the original. */
export function copyOf(element: Element): Element {
  return { ...element, children: element.children.map(copyOf) };
}

/** Removes all children with these names. */
export function removeChildren(composite: Element, ...names: string[]): void {
  composite.children = composite.children.filter(({ name }) => !names.includes(name));
}

/** The attributes of an element whose value changes, without the sort key, the source and the date of the old value. */
export function attributesAfter({ attributes }: Element): Element["attributes"] {
  const { collationkey: _, datestamp: _at, sourcename: _by, sourcetype: _of, ...others } =
    attributes;
  return others;
}

/** Removes the dependents of an element (`rules/dependents`) from its composite. */
export function removeDependents(composite: Element, name: string): void {
  const dependents = DEPENDENTS[composite.name]?.[name];
  if (!dependents) return;
  const first = child(composite, name);
  for (const path of dependents) {
    const [, dependent = "", code, value, part] = /^(\w+)(?:\[(\w+)=(\w+)\])?(?:\/(\w+))?$/.exec(
      path,
    )!;
    if (part) childrenOf(composite, dependent).forEach((each) => removeChildren(each, part));
    else {
      composite.children = composite.children.filter((each) =>
        each.name !== dependent || code && childValue(each, code) !== value ||
        dependent === name && (each === first || !isTranslation(each, first))
      );
    }
  }
}

/** Whether an element is in another language or script than the other one. */
function isTranslation({ attributes }: Element, other: Element | undefined): boolean {
  return attributes.language !== other?.attributes.language ||
    attributes.textscript !== other?.attributes.textscript;
}

/** Gives the first child with this name a value, or removes it. Its dependents are removed. */
export function setChild(
  composite: Element,
  name: string,
  text: string | undefined,
): void {
  const found = child(composite, name);
  removeDependents(composite, name);
  if (text === undefined) {
    if (found) replaceChildren(composite, [found], []);
  } else if (found) {
    found.attributes = attributesAfter(found);
    found.text = text;
    delete found.markup;
    found.children = [];
  } else composite.children.push(element(name, text));
}

/** Replaces elements by others, in their places. Additional ones follow the last. */
export function replaceChildren(
  composite: Element,
  old: readonly Element[],
  wanted: readonly Element[],
): void {
  const places = new Set(old);
  const queue = [...wanted];
  let seen = 0;
  const children = composite.children.flatMap((child) => {
    if (!places.has(child)) return [child];
    seen++;
    return seen === places.size ? queue.splice(0) : queue.splice(0, 1);
  });
  composite.children = [...children, ...queue];
}
