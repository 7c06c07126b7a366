import type { Field, Fields } from "../../fields.ts";
import { NO_PATHS, type Paths } from "../xml/paths.ts";
import { ARRAYS, SCALARS } from "../../product.ts";
import { codePoints } from "../../values.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  valueOf,
} from "../xml/element.ts";
import { Reading } from "./reading.ts";
import type { Message } from "../report/report.ts";
import { COLLATERAL, settledValues } from "./settled.ts";
import { type Block, BLOCKS, type Values, VIEW } from "./view.ts";

export { type Block, BLOCKS } from "./view.ts";

type Entry = Record<string, unknown>;

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

/** The longest `RecordReference`, in characters. */
const MAX_REFERENCE = 500;

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
   * The body of the product without what `linked` names, as `CreateProduct` returns it:
   * all that ONIX says, nulls and empty arrays included. A partial update has the fields
   * of its blocks alone, a deletion none.
   */
  body: Record<string, unknown>;
  /** The bodies of the two paths as their schemas return them, absent as in `linked`. */
  product_territories?: Record<string, unknown>[];
  product_sales_rights?: Record<string, unknown>[];
  /** Whether a partial update replaces only the territories with its market references. */
  byMarketReference: boolean;
  linked: Linked;
  blocks: Block[];
  messages: Message[];
  /** The data elements that no field holds: the record alone keeps them. */
  unmapped: Paths;
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
  product: Element,
  header: Element,
  line = product.line ?? 0,
): Incoming | Rejected {
  const record = withDefaults(product, header);
  const reading = new Reading(record);
  const reference = childValue(record, "RecordReference");
  const rejected = (): Rejected => ({
    kind: "rejected",
    reference: reference ?? null,
    line,
    messages: reading.messages,
  });
  const notification = readNotification(record, reading);
  checkReference(record, reading);
  if (!notification || hasErrors(reading)) return rejected();
  reading.messages.push(...warningsOfCredentials(product));
  const blocks = BLOCKS.filter((block) => child(record, block));
  const isPartial = notification === "04";
  const isDeletion = notification === "05";
  // Whether the record says all of the block. What is before the blocks stays in a partial update.
  const isThere = (block: Block | null) =>
    !isDeletion && (!isPartial || block !== null && blocks.includes(block));
  const values = isDeletion ? {} : settledValues(record, reading);
  if (isThere("DescriptiveDetail") && !values.title && !hasErrors(reading)) {
    const rest = { name: "DescriptiveDetail", value: null };
    reading.fault("no_title", "The record has no title", record, rest);
  }
  if (hasErrors(reading)) return rejected();
  const supplies = childrenOf(record, "ProductSupply");
  const { isbn13 = null, isbn10 = null } = values;
  return {
    kind: "record",
    reference: reference!,
    line,
    notification,
    isbn13: isbn13 as string | null,
    isbn10: isbn10 as string | null,
    body: bodyOf(values, isThere),
    ...isThere("ProductSupply") && {
      product_territories: values.product_territories as Entry[],
    },
    ...isThere("PublishingDetail") && {
      product_sales_rights: values.product_sales_rights as Entry[],
    },
    byMarketReference: isPartial && supplies.length > 0 &&
      supplies.every((supply) => childValue(supply, "MarketReference")),
    linked: linkedOf(values, isThere, reading),
    blocks,
    messages: reading.messages,
    unmapped: isDeletion ? NO_PATHS : reading.unmapped(),
  };
}

function readNotification(
  record: Element,
  reading: Reading,
): Notification | undefined {
  const found = child(record, "NotificationType");
  const value = valueOf(found);
  const known = NOTIFICATIONS.find((type) => type === value);
  if (found) reading.use(found);
  if (!known) {
    reading.fault(
      "unknown_notification",
      `Expected a NotificationType of ${NOTIFICATIONS.join(", ")}`,
      record,
      { name: "NotificationType", value: value ?? null },
    );
  }
  return known;
}

function checkReference(record: Element, reading: Reading): void {
  const found = child(record, "RecordReference");
  const value = valueOf(found);
  const rest = { name: "RecordReference" };
  if (found) reading.use(found);
  if (value === undefined) {
    reading.fault(
      "no_reference",
      "The record has no RecordReference",
      record,
      rest,
    );
  } else if (codePoints(value) > MAX_REFERENCE) {
    reading.fault(
      "too_long",
      `At most ${MAX_REFERENCE} characters`,
      record,
      rest,
    );
  }
}

function hasErrors({ messages }: Reading): boolean {
  return messages.some(({ severity }) => severity === "error");
}

/** The fields that the body of a product has. */
const BODY = Object.entries(VIEW).flatMap(([name, { block }]) => {
  const field: Field | undefined = ({ ...SCALARS, ...ARRAYS } as Fields)[name];
  const isPath = field?.kind === "rows" && (field.path || field.put === "link");
  return field && !isPath && field.kind !== "linked"
    ? [{ name, block, none: field.kind === "column" ? null : [] }]
    : [];
});

function bodyOf(
  values: Values,
  isThere: (block: Block | null) => boolean,
): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, block, none } of BODY) {
    if (isThere(block)) body[name] = values[name] ?? none;
  }
  if (isThere("CollateralDetail")) {
    body.collateral = COLLATERAL.flatMap((type) => values[type] ?? []);
  }
  return body;
}

function linkedOf(
  values: Values,
  isThere: (block: Block | null) => boolean,
  reading: Reading,
): Linked {
  const linked: Linked = {};
  const code = (name: string) => (values[name] ?? null) as string | null;
  if (isThere("DescriptiveDetail")) {
    linked.product_form = code("product_form");
    linked.contributors = distinct(
      values.contributors,
      ["name", "role"],
      reading,
    ).map((row) => {
      const { role, ...contributor } = row;
      return {
        role: String(role),
        contributor: contributor as unknown as LinkedContributor,
        get path() {
          return reading.pathOf(reading.sourceOf(row)!);
        },
      };
    });
    linked.collections = distinct(values.collections, ["name"], reading).map(
      (row) => ({
        name: String(row.name),
        collection_type: null,
        part_number: (row.part_number ?? null) as string | null,
        get path() {
          return reading.pathOf(reading.sourceOf(row)!);
        },
      }),
    );
  }
  if (isThere("PublishingDetail")) {
    linked.publisher = code("publisher");
    linked.imprint = code("imprint");
    linked.publishing_status = code("publishing_status");
  }
  if (isThere("ProductSupply")) {
    linked.product_availability = code("product_availability");
  }
  return linked;
}

/** The record with the defaults of the header written into it, and URLs without passwords: what to store. */
export function withDefaults(product: Element, header: Element): Element {
  const language = childValue(header, "DefaultLanguageOfText");
  const type = childValue(header, "DefaultPriceType");
  const currency = childValue(header, "DefaultCurrencyCode");
  return changedTree(product, (each) => {
    if (each.name === "DescriptiveDetail" && language) {
      const isKnown = childrenOf(each, "Language").some((one) =>
        childValue(one, "LanguageRole") === "01"
      );
      return isKnown ? each : withMore(each, [
        element("Language", [
          element("LanguageRole", "01"),
          element("LanguageCode", language),
        ]),
      ]);
    }
    if (each.name === "Price" && (type || currency)) {
      const isPriced = child(each, "PriceAmount") !== undefined;
      return withMore(each, [
        ...type && !child(each, "PriceType")
          ? [element("PriceType", type)]
          : [],
        ...currency && isPriced && !child(each, "CurrencyCode")
          ? [element("CurrencyCode", currency)]
          : [],
      ]);
    }
    return hasCredentials(each)
      ? { ...each, text: each.text.replace(CREDENTIALS, "$1") }
      : each;
  });
}

function withMore(each: Element, more: Element[]): Element {
  return more.length > 0
    ? { ...each, children: [...each.children, ...more] }
    : each;
}

/** The tree in which some elements are others. What does not change is shared. */
function changedTree(
  each: Element,
  change: (each: Element) => Element,
): Element {
  let children = each.children;
  children.forEach((child, i) => {
    const changed = changedTree(child, change);
    if (changed === child) return;
    if (children === each.children) children = [...children];
    children[i] = changed;
  });
  return change(children === each.children ? each : { ...each, children });
}

/** The user and password of a URL (RFC 3986, 3.2.1). */
const CREDENTIALS = /\b((?:https?|ftps?|sftp):\/\/)[^\s\/?#@"'<>]*@/gi;

function hasCredentials({ text }: Element): boolean {
  return text.includes("@") && text.search(CREDENTIALS) >= 0;
}

function warningsOfCredentials(product: Element): Message[] {
  const reading = new Reading(product);
  const visit = (each: Element) => {
    if (hasCredentials(each)) {
      reading.warn(
        "credentials_removed",
        "A user and password in a URL are not stored",
        each,
        { value: null },
      );
    }
    each.children.forEach(visit);
  };
  visit(product);
  return reading.messages;
}

/** The stored record after a partial update: the update's blocks replace its own. */
export function replaceBlocks(stored: Element, update: Element): Element {
  const blocks = BLOCKS.filter((block) => child(update, block));
  const references = referencesIn(update);
  const isReplaced = (each: Element) =>
    each.name === "ProductSupply" && references
      ? references.includes(childValue(each, "MarketReference")!)
      : (blocks as string[]).includes(each.name);
  const children = stored.children.filter((each) => !isReplaced(each));
  const added = update.children.filter(({ name }) =>
    (blocks as string[]).includes(name)
  );
  const order = (name: string) => (BLOCKS as readonly string[]).indexOf(name);
  return {
    ...stored,
    children: [...children, ...added].sort((a, b) =>
      order(a.name) - order(b.name)
    ),
  };
}

/** The market references of all product supplies in a record, if all have one. */
function referencesIn(record: Element): string[] | undefined {
  const references = childrenOf(record, "ProductSupply").map((supply) =>
    childValue(supply, "MarketReference")
  );
  return references.length > 0 && !references.includes(undefined)
    ? references as string[]
    : undefined;
}

/** The territories of a product after a partial update by market reference. */
export function replaceTerritories(
  present: readonly Entry[],
  update: readonly Entry[],
): Entry[] {
  const references = update.map(({ market_reference }) => market_reference);
  const kept = present.filter(({ market_reference }) =>
    !references.includes(market_reference)
  );
  return [...kept, ...update];
}

/** The rows without repetitions of an earlier one, with a warning for each. */
function distinct(
  rows: unknown,
  key: readonly string[],
  reading: Reading,
): Entry[] {
  const seen = new Set<string>();
  return (rows as Entry[] ?? []).filter((row) => {
    const id = JSON.stringify(key.map((field) => row[field]));
    if (!seen.has(id)) return seen.add(id);
    const source = reading.sourceOf(row);
    if (source) {
      reading.warn(
        "duplicate",
        "An earlier one is the same",
        source,
        { value: String(row.name) },
      );
    }
    return false;
  });
}
