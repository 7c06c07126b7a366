import type { Element } from "./element.ts";
import type { Release } from "./releases.ts";

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

/** The record last received. */
export interface Received {
  record: Element;
  /** What the product said otherwise than the record when it was received (`differences`). */
  differences: Differences | null;
}

/** The parts of a product that differ from a record, by part. */
export type Differences = Readonly<Record<string, unknown>>;

/** A record that can be sent. */
export interface Outgoing {
  record: Element;
  /** The paths, without positions, of what would make the message invalid and is left out. */
  notSent: string[];
}

/**
 * The product as a record: the record last received, changed where the product has changed
 * since. Always valid by EDItEUR's schema of the release.
 */
export function writeRecord(
  book: Book,
  received: Received | null,
  _release: Release,
): Outgoing {
  return { record: received!.record, notSent: [String(book.reference)] };
}

/**
 * What a product says otherwise than the record it was just written from, such as the name
 * of a contributor that was found by ISNI. To be stored with the record. Null: nothing.
 */
export function differences(_book: Book, _record: Element): Differences | null {
  return null;
}

/** The paths of what would make a message with this record invalid, without positions. */
export function notSentOf(_record: Element, _release: Release): string[] {
  return [];
}

/** The record of a deleted product (NotificationType 05). */
export function deletion(reference: string, id: string): Element {
  throw new Error(`Not implemented: ${reference} ${id}`);
}
