import type { Entry } from "../../bodies.ts";
import { isPartOf } from "../rules/facts.ts";
import { child, type Element } from "../xml/element.ts";
import { type Step, stepsOf } from "./path.ts";
import type { FieldCodec } from "./codec.ts";

/*
 * What a field of a product is in a record: a block, a place in that, a codec, and what the
 * product has for it.
 */

/** The blocks of a record, which a partial update replaces as wholes. */
export const BLOCKS = [
  "DescriptiveDetail",
  "CollateralDetail",
  "PromotionDetail",
  "ContentDetail",
  "PublishingDetail",
  "RelatedMaterial",
  "ProductionDetail",
  "ProductSupply",
] as const;

export type Block = typeof BLOCKS[number];

/** The parties that a product refers to, and that may have identifiers. */
export type PartyName = "publisher" | "imprint";

/** What a record is written from. */
export interface Book {
  /** The full product, as `GET /products/{id}` shows it, with `product_territories` and `product_sales_rights`. */
  product: Record<string, unknown>;
  /** The records of its contributors, as `GET /contributors/{id}` shows them, by id. */
  contributors: Readonly<Record<string, Record<string, unknown>>>;
  /** The identifiers of its publisher and its imprint. */
  identifiers: Readonly<Record<PartyName, readonly Entry[]>>;
  /** The name of the organization. */
  organization: string;
  /** The reference that the product is bound to. Null: `urn:uuid:` and its id. */
  reference: string | null;
}

/** A field in a record. */
export interface MappedField extends FieldCodec {
  /** Its block. Null: before the blocks. */
  block: Block | null;
  /** Its place there: a path, or the composite that it is about. */
  place: string;
  /** What the product has for it. */
  valueIn(book: Book): unknown;
  /** Removes what a composite says of the party that the product no longer refers to, but for its name. */
  forgetParty?(composite: Element): void;
}

/** The block that has the first element of a path, by the content models. */
export function blockWith(path: string): Block | null {
  const [{ name }] = stepsOf(path) as [Step];
  if (name === "ProductSupply") return name;
  return BLOCKS.find((block) => isPartOf(name, block)) ?? null;
}

/** The composite in which a field of the block stands. */
export function containerOf(
  record: Element,
  block: Block | null,
): Element | undefined {
  // Each `ProductSupply` is an entry of its own.
  return block === null || block === "ProductSupply" ? record : child(record, block);
}
