import type { Entry } from "../../../../schema/bodies.ts";
import { isPartOf } from "../rules/facts.ts";
import { child, type Element } from "../xml/element.ts";
import { type Segment, segmentsOf } from "../codecs/path.ts";
import type { FieldCodec } from "../codecs/codec.ts";

/*
 * The type of a mapped field: its block in a record, its path in the block, its codec, and the
 * value that the product has.
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

/** Whether a record has a block. A withheld one counts, since its sender has replaced the block. */
export function hasBlock({ children }: Element, block: Block): boolean {
  return children.some(({ name }) => name === block);
}

/** The parties that a product refers to, and that may have identifiers. */
const PARTY_NAMES = ["publisher", "imprint"] as const;

export type PartyName = typeof PARTY_NAMES[number];

/** Whether a field names a party. */
export function isParty(name: string): name is PartyName {
  return PARTY_NAMES.some((party) => party === name);
}

/** The data from which a record is written. */
export interface Book {
  /** The full product, as `GET /products/{id}` shows it, with `product_territories` and `product_sales_rights`. */
  product: Record<string, unknown>;
  /** The records of its contributors, as `GET /contributors/{id}` shows them, by id. */
  contributors: Readonly<Record<string, Record<string, unknown>>>;
  /** The identifiers of its publisher and its imprint. */
  identifiers: Readonly<Record<PartyName, readonly Entry[]>>;
  /** The name of the organization. */
  organization: string;
  /** The reference of the product's record. Null: `urn:uuid:` and its id is used. */
  reference: string | null;
}

/** A field in a record. */
export interface MappedField extends FieldCodec {
  /** The field of the product, which bodies write and pointers name. */
  field: string;
  /** Its block. Null: before the blocks. */
  block: Block | null;
  /** Its path in the block, or its composite. */
  path: string;
  /** Returns its value in the product. */
  valueIn(book: Book): unknown;
  /** Removes the content of a composite about the former party, except its name. */
  forgetParty?(composite: Element): void;
}

/** The block that has the first element of a path, by the content models. */
export function blockWith(path: string): Block | null {
  const [{ name }] = segmentsOf(path) as [Segment];
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
