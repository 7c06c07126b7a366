import { dataElement } from "../rules/facts.ts";

/*
 * A record of ONIX for Books as a tree: what its elements are, how they are read, compared
 * and changed. Names are reference names, whatever the tags of the message were, and have no
 * namespace.
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
  /** Whether it is only stored, since it would say more than its sender did (`withhold.ts`). */
  isWithheld?: boolean;
  /** Its line in the message. */
  line?: number;
  /** The id of what it stands for (`mapping/ids.ts`). */
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

/** The value without the white space that says nothing, or undefined without a value. */
export function valueOf(element: Element | undefined): string | undefined {
  if (!element) return;
  const value = settledText(element);
  return value === "" ? undefined : value;
}

/** The value of the first child with this name. */
export function childValue(parent: Element, name: string): string | undefined {
  return valueOf(child(parent, name));
}

/** The text without the white space that says nothing. Markup keeps it, and a text with line breaks. */
export function settledText(element: Element): string {
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

/** Whether two elements say the same. White space and the order of attributes say nothing. */
export function saysSame(a: Element, b: Element): boolean {
  return a.name === b.name && a.markup === b.markup &&
    (a.text === b.text || settledText(a) === settledText(b)) &&
    hasAllOf(b.attributes, a.attributes) &&
    hasAllOf(a.attributes, b.attributes) &&
    saySame(a.children, b.children);
}

/** Whether elements say the same, one by one. */
export function saySame(a: readonly Element[], b: readonly Element[]): boolean {
  return a.length === b.length && a.every((each, i) => saysSame(each, b[i]!));
}

/** Whether all attributes of the other are among these. */
function hasAllOf(these: Element["attributes"], other: Element["attributes"]): boolean {
  for (const name in other) if (other[name] !== these[name]) return false;
  return true;
}

/** All that an element says, to the letter, wherever it stands: equal texts are read alike. */
export function saidOf({ name, attributes, children, text, markup, recoded }: Element): string {
  const own = JSON.stringify([name, attributes, text, markup, recoded]);
  return children.length === 0 ? own : `[${own}${children.map(saidOf).join("")}]`;
}

/** A copy whose children can be replaced without changing the original. */
export function copyOf(element: Element): Element {
  return { ...element, children: element.children.map(copyOf) };
}

/** Removes all children with these names. */
export function removeChildren(composite: Element, ...names: string[]): void {
  composite.children = composite.children.filter(({ name }) => !names.includes(name));
}

/** The attributes of an element whose value changes, without the sort key, which was that of the old value. */
export function attributesAfter(
  { attributes: { collationkey: _, ...others } }: Element,
): Element["attributes"] {
  return others;
}

/**
 * What goes when the value beside it changes: what says it again in other words, and the
 * exemption from tax, which was that of the price before.
 */
const RESTATED: Readonly<Record<string, readonly string[]>> = {
  AudienceCodeValue: ["AudienceHeadingText"],
  CurrencyCode: ["TaxExempt"],
  ExtentValue: ["ExtentValueRoman"],
  MarketPublishingStatus: ["MarketPublishingStatusNote"],
  PriceAmount: ["TaxExempt"],
  PriceType: ["PriceTypeDescription"],
  PublishingStatus: ["PublishingStatusNote"],
};

/** Gives the first child with this name a value, or removes it. Its `RESTATED` elements go. */
export function setChild(
  composite: Element,
  name: string,
  text: string | undefined,
): void {
  const found = child(composite, name);
  if (RESTATED[name]) removeChildren(composite, ...RESTATED[name]);
  if (text === undefined) {
    if (found) replaceChildren(composite, [found], []);
  } else if (found) {
    found.attributes = attributesAfter(found);
    found.text = text;
    delete found.markup;
    found.children = [];
  } else composite.children.push(element(name, text));
}

/** Puts other elements into the places of these. More than these follow the last one. */
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
