import type { Element } from "./element.ts";
import type { Message } from "./report.ts";

/** The types of notification that the service reads (List 1). 88 and 89 are tests: as a dry run. */
export const NOTIFICATIONS = [
  "01",
  "02",
  "03",
  "04",
  "05",
  "88",
  "89",
] as const;

export type Notification = typeof NOTIFICATIONS[number];

/** The blocks of a record that a partial update (04) replaces, in their order. */
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

/** The fields of a contributor that a record may fill. Absent: the record does not say. */
export interface LinkedContributor {
  name: string;
  names_before_key?: string;
  key_names?: string;
  person_name_inverted?: string;
  is_organization?: boolean;
  isni?: string;
  orcid?: string;
  biographical_note?: string;
}

/**
 * What a record names that the database has a row for. A field is absent if the record is
 * a partial update without its block, and null or empty if the record has no such element.
 */
export interface Linked {
  publisher?: string | null;
  imprint?: string | null;
  /** The code of List 150. */
  product_form?: string | null;
  /** The code of List 64. */
  publishing_status?: string | null;
  /** The code of List 65, if all supply details have the same. */
  product_availability?: string | null;
  /** A contributor and a role (the code of List 17), in order, each pair once. */
  contributors?: {
    role: string;
    contributor: LinkedContributor;
    path: string;
  }[];
  /** In order, each name once. */
  collections?: {
    name: string;
    collection_type: string | null;
    part_number: string | null;
    path: string;
  }[];
}

/** A record that can be written. */
export interface Incoming {
  kind: "record";
  reference: string;
  line: number;
  notification: Notification;
  isbn13: string | null;
  isbn10: string | null;
  /**
   * The body of the product without what `linked` names, valid by `CreateProduct`: all
   * that ONIX says, nulls and empty arrays included. A partial update has the fields of
   * its blocks alone, a deletion none.
   */
  body: Record<string, unknown>;
  /** The bodies of the two paths, absent as in `linked`. */
  product_territories?: Record<string, unknown>[];
  product_sales_rights?: Record<string, unknown>[];
  /** Whether a partial update replaces only the territories with its market references. */
  byMarketReference: boolean;
  linked: Linked;
  blocks: Block[];
  messages: Message[];
  /** The paths, without positions, of data elements that no field holds: the record alone keeps them. */
  unmapped: string[];
}

/** A record whose faults reject it. */
export interface Rejected {
  kind: "rejected";
  reference: string | null;
  line: number;
  messages: Message[];
}

/** Reads a record, with the defaults of the message's header. */
export function readRecord(
  _product: Element,
  _header: Element,
  line = 0,
): Incoming | Rejected {
  return { kind: "rejected", reference: null, line, messages: [] };
}

/** The record with the defaults of the message's header written into it: what to store. */
export function withDefaults(product: Element, _header: Element): Element {
  return product;
}

/** The stored record after a partial update: the update's blocks replace its own. */
export function replaceBlocks(_stored: Element, update: Element): Element {
  return update;
}

/** The territories of a product after a partial update by market reference. */
export function replaceTerritories(
  _present: readonly Record<string, unknown>[],
  update: readonly Record<string, unknown>[],
): Record<string, unknown>[] {
  return [...update];
}
