import type { Outcome } from "../../schema/onix/report/report.ts";
import { DEFECT } from "../../schema/defects.ts";
import { isbnNumber } from "../../schema/isbn.ts";
import { sharedBy } from "../products/keys.ts";
import { uuidv7 } from "../uuid.ts";
import { type Found, type Locked, type Matches, referencesOf } from "./find.ts";
import type { Incoming } from "../../schema/onix/mapping/incoming.ts";
import { MAPPING } from "../../schema/onix/mapping/mapping.ts";
import { type Item, outcomeOf } from "./items.ts";
import { childrenOf } from "../../schema/onix/xml/element.ts";
import type { Message } from "../../schema/onix/xml/paths.ts";
import type { Edits, Stale } from "../../schema/onix/mapping/options.ts";

/* What a transaction does with records: which products it creates, changes and deletes. */

/** A record that creates, changes or deletes its product. */
export interface Planned {
  item: Item;
  id: string;
  /** Absent for a new product. */
  found?: Found & { bytes?: number | null };
}

/** The next pass of a transaction. */
export interface Plan {
  changes: Planned[];
  deletions: Planned[];
  /** The records that their products have already. */
  unchanged: Planned[];
  /** The records of the next pass. */
  later: readonly Item[];
}

/** What has become of records. */
export type Outcomes = Map<Item, Outcome>;

/** How records are applied. */
export interface PlanOptions {
  /**
   * What is written of a product that was edited here: `keep` and `protect` write what the
   * sender has changed since the last record, `protect` not where it was edited, and
   * `overwrite` writes all that the record says.
   */
  edits: Edits;
  /** Whether a record of an older message than the last one is applied. */
  stale: Stale;
}

/** Whether the product has the record already, and nothing is to be written again. */
export function isUnchanged(
  { gist: { digest, reference, notification } }: Item,
  found: Found,
  { edits }: PlanOptions,
): boolean {
  return found.digest === digest &&
    (found.is_current || edits !== "overwrite") &&
    referencesOf(found).includes(reference) &&
    notification !== "04" && notification !== "05";
}

/** Whether the sender has sent a later message with the product, so that this record is skipped. */
export function isStale(
  { arrived: { sent: { at } } }: Item,
  { sent_at }: Found,
  { stale }: PlanOptions,
): boolean {
  return stale === "skip" && at !== null && sent_at !== null && at < sent_at;
}

/** Whether the record has the ISBN of an earlier record in the message, which is of another product. */
export function isOfRival({ rival, gist }: Item, found: Found | undefined) {
  if (rival === undefined) return false;
  const references = found ? referencesOf(found) : [];
  return !references.includes(rival) ||
    !references.includes(gist.reference);
}

/**
 * Plans a pass, in which each product is written once. Of several whole records of a
 * product the last one counts. A partial update after another record of its product comes
 * later, as does a record that could find a product by what this pass writes. Records that
 * write nothing get their outcomes.
 */
export function planOf(
  items: readonly Item[],
  matches: Matches<Locked>,
  outcomes: Outcomes,
  options: PlanOptions,
): Plan {
  const planned = new Map<string, Planned>();
  const writtenIsbns = new Set<string>();
  let later: readonly Item[] = [];
  const decide = (
    item: Item,
    outcome: "rejected" | "unchanged",
    id: string | null,
    ...messages: Message[]
  ) => outcomes.set(item, outcomeOf(item, outcome, id, ...messages));

  for (const [at, item] of items.entries()) {
    const { reference, notification } = item.gist;
    const isbn13 = isbnNumber(item.gist);
    const found = matches.of(item);
    if (found === "ambiguous") {
      decide(item, "rejected", null, ambiguous(item, matches.sharing(isbn13)));
      continue;
    }
    if (isOfRival(item, found)) {
      decide(item, "rejected", null, isbnInUse(item));
      continue;
    }
    if (found && isStale(item, found, options)) {
      decide(item, "unchanged", found.id, STALE_MESSAGE);
      continue;
    }
    const names = found
      ? [`id ${found.id}`]
      : [`reference ${reference}`, ...isbn13 ? [`isbn ${isbn13}`] : []];
    const earlier = names.map((name) => planned.get(name)).find((one) => one);
    const findsWritten = !found && isbn13 !== null && !earlier &&
      writtenIsbns.has(isbn13);
    if (findsWritten || earlier && notification === "04") {
      later = items.slice(at);
      break;
    }
    if (earlier) {
      decide(earlier.item, "unchanged", found?.id ?? null, superseded(item));
      for (const [name, one] of planned) {
        if (one === earlier) planned.delete(name);
      }
    }
    if (!found && notification === "04") {
      decide(item, "rejected", null, NOT_FOUND);
      continue;
    }
    if (!found && notification === "05") {
      decide(item, "unchanged", null, UNKNOWN_RECORD);
      continue;
    }
    const one: Planned = found ? { item, id: found.id, found } : { item, id: uuidv7() };
    for (const name of names) planned.set(name, one);
    if (found && isbn13) writtenIsbns.add(isbn13);
  }

  const all = [...new Set(planned.values())];
  const changes: Planned[] = [];
  const deletions: Planned[] = [];
  const unchanged: Planned[] = [];
  for (const one of all) {
    const { item, id, found } = one;
    if (item.gist.notification === "05") deletions.push(one);
    else if (found && isUnchanged(item, found, options)) {
      decide(item, "unchanged", id);
      unchanged.push(one);
    } else changes.push(one);
  }
  return { changes, deletions, unchanged, later };
}

/** A message about a record, or what is at the path in it. */
function messageOf(
  severity: Message["severity"],
  code: string,
  message: string,
  { path = "", value = null }: { path?: string; value?: string | null } = {},
): Message {
  return { severity, code, path: `/Product${path}`, value, message };
}

/** A message that rejects a record. */
export function fault(code: string, message: string): Message {
  return messageOf("error", code, message);
}

/** The fault of a record at which the service fails. */
export const FAILED = fault(DEFECT.code, DEFECT.message);

/** The fault of a record that leaves its product too many entries beside those that were added here. */
export function overfull(limit: string): Message {
  const message = `${limit}, with those that were added here: remove some there first`;
  return fault("too_many", message);
}

const NOT_FOUND = fault(
  "not_found",
  "No product has the reference or the ISBN of this partial update",
);

function ambiguous({ incoming }: Item, products: readonly Found[]): Message {
  return isbnFault(incoming, "ambiguous", sharedBy("ISBN", products));
}

function isbnInUse({ rival, incoming }: Item): Message {
  const message = `The record "${rival}" of this message has the same ISBN`;
  return isbnFault(incoming, "isbn_in_use", message);
}

/** A message that rejects a record because of its ISBN. */
function isbnFault(
  { record, reader }: Incoming,
  code: string,
  message: string,
): Message {
  const [found] = ["isbn13", "isbn10"].flatMap((name) => MAPPING[name]!.find!(record) ?? []);
  return {
    severity: "error",
    code,
    ...reader.placeOf(found ?? record),
    message,
  };
}

/** The fault of a record whose reference an earlier one of the message has for another product. */
export function referenceOfAnother({ gist: { reference } }: Item): Message {
  const message =
    "An earlier record of this message has this reference, but another ISBN and another form: each product needs a reference of its own";
  const at = { path: "/RecordReference", value: reference };
  return messageOf("error", "reference_of_another", message, at);
}

/** The warning of a record that has lost all its prices: it alone has them. */
export function notOnSale(
  { record, reader, notification }: Incoming,
): Message[] {
  const prices = childrenOf(record, "ProductSupply")
    .flatMap((supply) => childrenOf(supply, "SupplyDetail"))
    .flatMap(({ children }) => children.filter(({ name }) => name === "Price"));
  const [first] = prices;
  const isLost = prices.every(({ isWithheld }) => isWithheld);
  if (!first || !isLost || notification === "04") return [];
  return [{
    severity: "warning",
    code: "not_on_sale",
    path: reader.placeOf(first).path,
    value: null,
    message: "No price of the record can be read: the book is on sale nowhere",
  }];
}

/** The warning of a record that creates a product which was deleted. */
export function createdAgain(value: string, deleted_at: string): Message {
  const message =
    `The product with this reference was deleted on ${deleted_at}: this record creates it again`;
  return messageOf("warning", "created_again", message, {
    path: "/RecordReference",
    value,
  });
}

/** The warning of a record that its ISBN has led to a product with another reference. */
export function otherReference({ reference }: Found, value: string): Message {
  const message =
    `The product has the reference "${reference}": this one finds it, too, from now on`;
  const at = { path: "/RecordReference", value };
  return messageOf("warning", "other_reference", message, at);
}

export const STALE_MESSAGE = messageOf(
  "warning",
  "stale",
  "The sender has sent a later message with this product: this record is not applied",
);

const UNKNOWN_RECORD = messageOf(
  "warning",
  "not_found",
  "No product has this reference: there is nothing to delete",
  { path: "/RecordReference" },
);

function superseded({ arrived: { line } }: Item): Message {
  const message = `The record on line ${line} is of the same product, and counts instead`;
  return messageOf("warning", "superseded", message);
}
