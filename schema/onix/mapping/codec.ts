// Declares `JSON.isRawJSON`.
import type {} from "../../numbers.ts";
import { isObject } from "../../objects.ts";
import { child, type Element, element } from "../xml/element.ts";
import type { RecordReader } from "./record_reader.ts";

/** How a value stands in a composite. */
export interface Codec {
  /** The element of the value, or of the one with this index of several. */
  find?(composite: Element, index?: number): Element | undefined;
  read(composite: Element, reader: RecordReader): unknown;
  /** Makes the composite say `now`. It says `before`, from which entries know their elements. */
  write(
    composite: Element,
    now: unknown,
    before: unknown,
    reader: RecordReader,
  ): void;
  /** The value without what the element does not say, such as ids and labels. */
  project(value: unknown): unknown;
}

/** What a record is written from. */
export interface Book {
  /** The full product, as `GET /products/{id}` shows it, with `product_territories` and `product_sales_rights`. */
  product: Record<string, unknown>;
  /** The records of its contributors, as `GET /contributors/{id}` shows them, by id. */
  contributors: Readonly<Record<string, Record<string, unknown>>>;
  /** The name of the organization. */
  organization: string;
  /** The reference that the product is bound to. Null: `urn:uuid:` and its id. */
  reference: string | null;
}

/** The objects of an array, or none of another value. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Whether two projected values are equal, whatever the order of the fields of their objects. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length &&
      a.every((each, i) => isEqual(each, b[i]));
  }
  if (JSON.isRawJSON(a)) return JSON.isRawJSON(b) && a.rawJSON === b.rawJSON;
  if (!isObject(a) || !isObject(b)) return false;
  for (const key in a) if (!isEqual(a[key], b[key])) return false;
  for (const key in b) {
    if (a[key] === undefined && b[key] !== undefined) return false;
  }
  return true;
}

/** A text by which projected values are found. */
export function canonical(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

/** A scalar in one form, or undefined for what an element does not say. */
export function scalar(value: unknown): unknown {
  if (value === null || value === false || value === "") return;
  return value === true ? true : textOf(value);
}

/** A scalar as the value of an element. True is an element without a value. */
export function textOf(value: unknown): string | undefined {
  if (value === true) return "";
  if (typeof value === "number") return String(value);
  if (JSON.isRawJSON(value)) return value.rawJSON;
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Gives the first child with this name a value, or removes it. */
export function setChild(
  composite: Element,
  name: string,
  text: string | undefined,
): void {
  const found = child(composite, name);
  if (text === undefined) {
    if (found) replaceChildren(composite, [found], []);
  } else if (found) {
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
