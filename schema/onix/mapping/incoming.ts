import type { Entry } from "../../bodies.ts";
import type { Field, Fields } from "../../fields.ts";
import { ARRAYS, SCALARS } from "../../product.ts";
import { codePoints } from "../../values.ts";
import type { Message } from "../report/report.ts";
import {
  compositeSince21,
  isAtMostOnce,
  nameInOnix21,
} from "../rules/facts.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  valueOf,
} from "../xml/element.ts";
import { elementOfName } from "./collections.ts";
import {
  CONTRIBUTOR_FIELDS,
  type ContributorRow,
  elementOfPerson,
  type Person,
} from "./contributors.ts";
import { NO_PATHS, type Paths } from "../xml/paths.ts";
import { ELEMENTS_PER_STEP, type Steps } from "../xml/steps.ts";
import { withhold } from "../xml/withhold.ts";
import {
  type Block,
  BLOCKS,
  COLLATERAL_TYPES,
  containerOf,
  MAPPED,
  MAPPING,
  readValues,
  type RecordValues,
} from "./mapping.ts";
import { warnOfOther } from "./path.ts";
import { type ElementPlace, RecordReader } from "./record_reader.ts";
import { validValues } from "./valid_values.ts";

/*
 * Records on their way in. In: a record as an element, and the header of its message. Out:
 * what to write of its product, and what to tell its sender.
 */

/** The types of notification that the service reads (List 1). 88 and 89 are tests: as a dry run. */
// deno-fmt-ignore
const NOTIFICATIONS = ["01", "02", "03", "04", "05", "88", "89"] as const;

export type Notification = typeof NOTIFICATIONS[number];

/** The longest `RecordReference`, in characters. */
export const MAX_REFERENCE = 500;

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
    contributor: Person;
    /** The element that says a field of the contributor. */
    placeOf(field: string): ElementPlace;
  }[];
  /** In order, each name once. */
  collections?: {
    name: string;
    part_number: string | null;
    /** The element of the name. */
    place: ElementPlace;
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
  /** The element that says a field. */
  placeOf(field: string): ElementPlace;
  blocks: Block[];
  messages: Message[];
  /** How many warnings are left out. */
  moreMessages: number;
  /** The data elements that no field holds: the record alone keeps them. */
  unmapped: Paths;
  /** The record to store, with the defaults of the header. For a partial update, its blocks. */
  record: Element;
  /** Its values by field of the mapping, as the API has them. Not to be changed. */
  values: RecordValues;
  /** The fields of which it says what cannot be read. */
  unreadable: ReadonlySet<string>;
}

/** A record whose faults reject it. */
export interface Rejected {
  kind: "rejected";
  reference: string | null;
  line: number;
  messages: Message[];
  moreMessages: number;
}

/** What has been reported of the defaults of headers: it is said once for all records of a message. */
const TOLD_OF_HEADERS = new WeakMap<Element, Set<string>>();

/** Reads a record, with the defaults of the message's header. */
export function* readRecord(
  product: Element,
  header: Element,
): Steps<Incoming | Rejected> {
  const { record, origins } = withDefaults(product, header);
  const toldBefore = TOLD_OF_HEADERS.getOrInsert(header, new Set());
  const reader = new RecordReader(record, { origins, toldBefore });
  const reference = childValue(record, "RecordReference") ?? null;
  const line = product.line ?? 0;
  const notification = readNotification(record, reader);
  checkReference(record, reader);
  yield;
  yield* warnOfElements(product, record, reader);
  yield;
  yield* withhold(
    record,
    (element, code, message, missing) =>
      reader.warn(code, message, element, { missing }),
  );
  const blocks = BLOCKS.filter((block) => child(record, block));
  const isPartial = notification === "04";
  const isDeletion = notification === "05";
  // Whether the record says all of the block. What is before the blocks stays in a partial update.
  const isThere = (block: Block | null) =>
    !isDeletion && (!isPartial || block !== null && blocks.includes(block));
  const values = isDeletion
    ? {}
    : yield* validValues(yield* readValues(record, reader), reader);
  if (isThere("DescriptiveDetail") && values.title === undefined) {
    const block = child(record, "DescriptiveDetail");
    const title = block && child(block, "TitleDetail");
    const missing = block ? "TitleDetail" : "DescriptiveDetail";
    reader.fault(
      "no_title",
      "The record has no title",
      title ?? block ?? record,
      title ? undefined : { missing },
    );
  }
  const linked = linkedIn(values, isThere, reader);
  yield;
  const { messages, more } = reader.messages();
  yield;
  if (!notification || reference === null || reader.hasErrors) {
    return { kind: "rejected", reference, line, messages, moreMessages: more };
  }
  const { isbn13 = null, isbn10 = null } = values;
  return {
    kind: "record",
    reference,
    line,
    notification,
    isbn13: isbn13 as string | null,
    isbn10: isbn10 as string | null,
    body: bodyIn(values, isThere, reader),
    ...isThere("ProductSupply") && {
      product_territories: values.product_territories as Entry[],
    },
    ...isThere("PublishingDetail") && {
      product_sales_rights: (values.product_sales_rights ?? []) as Entry[],
    },
    byMarketReference: isPartial && marketReferencesIn(record) !== undefined,
    linked,
    placeOf(field) {
      const { block, find } = MAPPING[field]!;
      const container = containerOf(record, block);
      const found = container && find?.(container);
      return reader.placeOf(found ?? container ?? record);
    },
    blocks,
    messages,
    moreMessages: more,
    unmapped: isDeletion ? NO_PATHS : yield* reader.unmapped(),
    record,
    values,
    unreadable: reader.unreadableFields,
  };
}

function readNotification(
  record: Element,
  reader: RecordReader,
): Notification | undefined {
  const found = child(record, "NotificationType");
  const value = valueOf(found);
  const known = NOTIFICATIONS.find((type) => type === value);
  if (found) reader.claim(found);
  if (!known) {
    reader.fault(
      "unknown_notification",
      `Expected a NotificationType of ${NOTIFICATIONS.join(", ")}`,
      found ?? record,
      { missing: found ? undefined : "NotificationType" },
    );
  }
  return known;
}

function checkReference(record: Element, reader: RecordReader): void {
  const found = child(record, "RecordReference");
  const value = valueOf(found);
  if (found) reader.claim(found);
  if (!found || value === undefined) {
    reader.fault("no_reference", "The record has no RecordReference", record, {
      missing: "RecordReference",
    });
  } else if (codePoints(value) > MAX_REFERENCE) {
    reader.fault("too_long", `At most ${MAX_REFERENCE} characters`, found);
  }
}

/**
 * Warns of single elements: of repeated ones, of those of ONIX 2.1, and of texts that are
 * read as others. `received` is the record without defaults.
 */
function* warnOfElements(
  received: Element,
  record: Element,
  reader: RecordReader,
): Steps<void> {
  let count = 0;
  warnOf(received, record);
  yield* visit(received, record);

  function* visit(was: Element, is: Element): Steps<void> {
    const seen = new Map<string, Element>();
    for (const [i, each] of was.children.entries()) {
      if (++count % ELEMENTS_PER_STEP === 0) yield;
      const child = is.children[i]!;
      const first = seen.get(each.name);
      if (!first) seen.set(each.name, child);
      else if (isAtMostOnce(each.name, was.name)) {
        warnOfOther(child, first, reader);
      }
      const composite = compositeSince21(was.name, each.name);
      if (composite) {
        const message =
          `${each.name} stands in ${composite} since ONIX 3.0: here it is kept in the record`;
        reader.warn("onix21_element", message, child, { value: null });
      }
      warnOf(each, child);
      if (each.children.length > 0) yield* visit(each, child);
    }
  }

  function warnOf(was: Element, is: Element): void {
    if (was.text !== is.text) {
      const message = "A user and password in a URL are not stored";
      reader.warn("credentials_removed", message, is, { value: null });
    }
    if (was.recoded) {
      const message = "Controls are read as characters of Windows-1252";
      reader.warn("windows_1252", message, is);
    }
    if (nameInOnix21(was.name) !== undefined) {
      const message =
        `${was.name} is an element of ONIX 2.1: it is kept in the record`;
      reader.warn("onix21_element", message, is);
    }
  }
}

/** The fields that the body of a product has. */
const BODY = MAPPED.flatMap(([name, { block }]) => {
  const field: Field | undefined = ({ ...SCALARS, ...ARRAYS } as Fields)[name];
  const isPath = field?.kind === "rows" && (field.path || field.put === "link");
  return field && !isPath && field.kind !== "linked"
    ? [{ name, block, none: field.kind === "column" ? null : [] }]
    : [];
});

function bodyIn(
  values: RecordValues,
  isThere: (block: Block | null) => boolean,
  reader: RecordReader,
): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, block, none } of BODY) {
    // What cannot be read changes nothing.
    const isUnreadable = none === null && reader.unreadableFields.has(name);
    if (isThere(block) && !isUnreadable) body[name] = values[name] ?? none;
  }
  if (isThere("CollateralDetail")) {
    body.collateral = COLLATERAL_TYPES.flatMap((type) => values[type] ?? []);
  }
  return body;
}

function linkedIn(
  values: RecordValues,
  isThere: (block: Block | null) => boolean,
  reader: RecordReader,
): Linked {
  const linked: Linked = {};
  if (isThere("DescriptiveDetail")) {
    linked.contributors = distinct(
      values.contributors,
      Object.keys(CONTRIBUTOR_FIELDS),
      reader,
    )
      .map((row) => {
        const { role, ...contributor } = row as ContributorRow;
        return {
          role,
          contributor,
          placeOf(field: string) {
            const found = reader.elementOf(row)!;
            return reader.placeOf(elementOfPerson(found, field) ?? found);
          },
        };
      });
    linked.collections = distinct(values.collections, ["name"], reader).map(
      (row) => ({
        name: String(row.name),
        part_number: (row.part_number ?? null) as string | null,
        get place() {
          const found = reader.elementOf(row)!;
          return reader.placeOf(elementOfName(found) ?? found);
        },
      }),
    );
  }
  for (const name of NAMED) {
    // What cannot be read changes nothing.
    const isUnreadable = reader.unreadableFields.has(name);
    if (!isThere(MAPPING[name]!.block) || isUnreadable) continue;
    linked[name] = (values[name] ?? null) as string | null;
  }
  return linked;
}

/** What products link to by one name or code. */
const NAMED = [
  "publisher",
  "imprint",
  "product_form",
  "publishing_status",
  "product_availability",
] as const;

/**
 * The record with the defaults of the header written into it, and URLs without passwords:
 * what is stored. `origins` are the paths of the defaults.
 */
function withDefaults(
  product: Element,
  header: Element,
): { record: Element; origins: ReadonlyMap<Element, string> } {
  const origins = new Map<Element, string>();
  const defaultOf = (name: string, to: string) => {
    const value = childValue(header, name);
    if (value === undefined) return;
    const made = element(to, value);
    origins.set(made, `/Header/${name}`);
    return made;
  };
  const language = defaultOf("DefaultLanguageOfText", "LanguageCode");
  const type = defaultOf("DefaultPriceType", "PriceType");
  const currency = defaultOf("DefaultCurrencyCode", "CurrencyCode");
  const record = changedTree(product, (each) => {
    if (each.name === "DescriptiveDetail" && language) {
      const isKnown = childrenOf(each, "Language").some((one) =>
        childValue(one, "LanguageRole") === "01"
      );
      return isKnown ? each : withMore(each, [
        element("Language", [element("LanguageRole", "01"), language]),
      ]);
    }
    if (each.name === "Price" && (type || currency)) {
      const isPriced = child(each, "PriceAmount") !== undefined;
      return withMore(each, [
        ...type && !child(each, "PriceType") ? [type] : [],
        ...currency && isPriced && !child(each, "CurrencyCode")
          ? [currency]
          : [],
      ]);
    }
    return hasCredentials(each)
      ? { ...each, text: each.text.replace(CREDENTIALS, "$1") }
      : each;
  });
  return { record, origins };
}

function withMore(each: Element, more: Element[]): Element {
  return more.length > 0
    ? { ...each, children: [...each.children, ...more] }
    : each;
}

/** The tree after a change of each element. Parts that do not change are shared. */
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

/** The stored record after a partial update: the update's blocks replace its own. */
export function replaceBlocks(stored: Element, update: Element): Element {
  const blocks = BLOCKS.filter((block) => child(update, block));
  const references = marketReferencesIn(update);
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
function marketReferencesIn(record: Element): string[] | undefined {
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
  reader: RecordReader,
): Entry[] {
  const seen = new Set<string>();
  return (rows as Entry[] ?? []).filter((row) => {
    const id = JSON.stringify(key.map((field) => row[field]));
    if (!seen.has(id)) return seen.add(id);
    const found = reader.elementOf(row);
    if (found) {
      reader.warn("duplicate", "An earlier one is the same", found);
    }
    return false;
  });
}
