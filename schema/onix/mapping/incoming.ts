import { codePoints } from "../../values.ts";
import { compositeSince21, isAtMostOnce, nameInOnix21 } from "../rules/facts.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  hasText,
  valueOf,
} from "../xml/element.ts";
import { type Message, NO_PATHS, type Paths } from "../xml/paths.ts";
import { type Sent, sentOf } from "../xml/sent.ts";
import { withhold } from "../xml/withhold.ts";
import { repeatedRows } from "./contributors.ts";
import { type Block, BLOCKS } from "./mapped.ts";
import { readValues, type RecordValues } from "./reading.ts";
import { RecordReader } from "./record_reader.ts";

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

/** A record that can be written. */
export interface Incoming {
  kind: "record";
  reference: string;
  line: number;
  notification: Notification;
  /** When and by whom its message was sent. */
  sent: Sent;
  isbn13: string | null;
  isbn10: string | null;
  blocks: Block[];
  messages: Message[];
  /** How many warnings are left out. */
  moreMessages: number;
  /** Whether a message is about the header, or was and is not told again. */
  tellsOfHeader: boolean;
  /** The data elements that no field holds: the record alone keeps them. */
  unmapped: Paths;
  /** The record to store, with the defaults of the header. For a partial update, its blocks. */
  record: Element;
  /** Its values by field of the mapping, as the API has them, nulls left out. Not to be changed. */
  values: RecordValues;
  /** Knows the elements of its entries, and their places. */
  reader: RecordReader;
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

/** What has been reported of the defaults of headers: it is reported once for all records of a message. */
const TOLD_OF_HEADERS = new WeakMap<Element, Set<string>>();

/** Reads a record, with the defaults of the message's header. */
export function readRecord(
  product: Element,
  header: Element,
): Incoming | Rejected {
  const { record, origins } = withDefaults(product, header);
  const toldBefore = TOLD_OF_HEADERS.getOrInsert(header, new Set());
  const reader = new RecordReader(record, { origins, toldBefore });
  const reference = childValue(record, "RecordReference") ?? null;
  const line = product.line ?? 0;
  const notification = readNotification(record, reader);
  checkReference(record, reader);
  const sent = sentOf(header);
  if (sent.ahead) {
    reader.warn(
      "future_date",
      "The time lies more than a day ahead: it does not tell old messages from new ones",
      sent.ahead,
    );
  }
  warnOfElements(product, record, reader);
  if (notification && notification !== "05") warnOfReason(record, reader);
  withhold(
    record,
    (element, code, message, missing) => reader.warn(code, message, element, { missing }),
  );
  const blocks = BLOCKS.filter((block) => child(record, block));
  const isPartial = notification === "04";
  const isDeletion = notification === "05";
  const values = isDeletion ? {} : readValues(record, reader);
  const mustHaveTitle = !isDeletion &&
    (!isPartial || blocks.includes("DescriptiveDetail"));
  if (mustHaveTitle && values.title === undefined) {
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
  for (const row of repeatedRows(values.contributors)) {
    reader.warn("duplicate", "An earlier one is the same", reader.elementOf(row)!);
  }
  const { messages, more } = reader.messages();
  if (!notification || reference === null || reader.hasErrors) {
    return { kind: "rejected", reference, line, messages, moreMessages: more };
  }
  const { isbn13 = null, isbn10 = null } = values;
  return {
    kind: "record",
    reference,
    line,
    notification,
    sent,
    isbn13: isbn13 as string | null,
    isbn10: isbn10 as string | null,
    blocks,
    messages,
    moreMessages: more,
    tellsOfHeader: reader.tellsOfOthers,
    unmapped: isDeletion ? NO_PATHS : reader.unmapped(),
    record,
    values,
    reader,
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
  } else if (!hasText(found)) {
    reader.fault("no_reference", "The RecordReference is blank", found);
  } else if (codePoints(value) > MAX_REFERENCE) {
    reader.fault("too_long", `At most ${MAX_REFERENCE} characters`, found);
  }
}

/** Warns of the reason for a deletion, in a record that is none. */
function warnOfReason(record: Element, reader: RecordReader): void {
  for (const found of childrenOf(record, "DeletionText")) {
    reader.warn(
      "unexpected_deletion_text",
      "The record says why it is deleted, and is no deletion: that has NotificationType 05",
      found,
    );
  }
}

/**
 * Warns of single elements: of repeated ones, of those of ONIX 2.1, and of texts that are
 * read as others. `received` is the record without defaults.
 */
function warnOfElements(
  received: Element,
  record: Element,
  reader: RecordReader,
): void {
  warnOf(received, record);
  visit(received, record);

  function visit(was: Element, is: Element): void {
    const seen = new Map<string, Element>();
    for (const [i, each] of was.children.entries()) {
      const child = is.children[i]!;
      const first = seen.get(each.name);
      if (!first) seen.set(each.name, child);
      else if (isAtMostOnce(each.name, was.name)) {
        reader.warnOfOther(child, first);
      }
      const composite = compositeSince21(was.name, each.name);
      if (composite) {
        const message =
          `${each.name} stands in ${composite} since ONIX 3.0: here it is kept in the record`;
        reader.warn("onix21_element", message, child, { value: null });
      }
      warnOf(each, child);
      if (each.children.length > 0) visit(each, child);
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
      const message = `${was.name} is an element of ONIX 2.1: it is kept in the record`;
      reader.warn("onix21_element", message, is);
    }
  }
}

/**
 * The record with the defaults of the header written into it, and URLs without passwords:
 * what is stored. `origins` are the paths of the defaults.
 */
function withDefaults(
  product: Element,
  header: Element,
): { record: Element; origins: ReadonlyMap<Element, string> } {
  const origins = new Map(
    header.children.map((each) => [each, `/Header/${each.name}`]),
  );
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
        ...currency && isPriced && !child(each, "CurrencyCode") ? [currency] : [],
      ]);
    }
    return hasCredentials(each) ? { ...each, text: each.text.replace(CREDENTIALS, "$1") } : each;
  });
  return { record, origins };
}

function withMore(each: Element, more: Element[]): Element {
  return more.length > 0 ? { ...each, children: [...each.children, ...more] } : each;
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
  const added = update.children.filter(({ name }) => (blocks as string[]).includes(name));
  const order = (name: string) => (BLOCKS as readonly string[]).indexOf(name);
  return {
    ...stored,
    children: [...children, ...added].sort((a, b) => order(a.name) - order(b.name)),
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
