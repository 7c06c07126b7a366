import { isbnNumber } from "../../schema/isbn.ts";
import type { Edits, Stale } from "../../schema/onix/mapping/options.ts";
import type { Outcome } from "../../schema/onix/report/report.ts";
import { DELETION, PARTIAL } from "../../schema/onix/rules/notifications.ts";
import { uuidv7 } from "../uuid.ts";
import { type Found, referencesOf } from "./find.ts";
import { type Item, outcomeOf } from "./items.ts";
import type { Matches } from "./matches.ts";
import {
  ambiguous,
  isbnInUse,
  NOT_FOUND,
  STALE_RECORD,
  superseded,
  UNKNOWN_RECORD,
} from "./record_messages.ts";

/* What becomes of records: which products they create, change and delete, and which write nothing. */

/** A record that creates, changes or deletes its product. */
export interface Planned {
  item: Item;
  id: string;
  /** Absent for a new product. */
  found?: Found;
}

/** What is done with records in one pass. */
export interface Plan {
  changes: Planned[];
  deletions: Planned[];
  /** The records that their products have already. */
  unchanged: Planned[];
  /** The records of the next pass. */
  later: Item[];
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

/**
 * Plans a pass, in which each product is written once. Of several whole records of a product the
 * last one counts. The pass ends before a partial update of a product that it already writes, and
 * before a record that could find a product by what it writes: these and all that follow are
 * `later`. Records that write nothing get their outcomes.
 */
export function planOf(
  items: readonly Item[],
  matches: Matches,
  outcomes: Outcomes,
  options: PlanOptions,
): Plan {
  // What is planned for each product, by all that another record of it may share.
  const planned = new Map<string, Planned>();
  // The ISBNs of records with products. Once written, they may find products for other records.
  const writtenIsbns = new Set<string | null>();
  let later: Item[] = [];

  for (const [at, item] of items.entries()) {
    const match = matchOf(item, matches, options);
    if ("outcome" in match) {
      outcomes.set(item, match.outcome);
      continue;
    }
    const { found } = match;
    const isbn = isbnNumber(item.gist);
    const keys = sharedKeysOf(item, found);
    const earlier = keys.map((key) => planned.get(key)).find((one) => one);
    const isPartial = item.gist.notification === PARTIAL;
    const comesLater = earlier ? isPartial : !found && writtenIsbns.has(isbn);
    if (comesLater) {
      later = items.slice(at);
      break;
    }
    if (earlier) {
      outcomes.set(earlier.item, outcomeOfSuperseded(earlier, item));
      for (const [key, one] of planned) if (one === earlier) planned.delete(key);
    }
    const withoutProduct = found ? undefined : outcomeWithoutProduct(item);
    if (withoutProduct) {
      outcomes.set(item, withoutProduct);
      continue;
    }
    const one: Planned = found ? { item, id: found.id, found } : { item, id: uuidv7() };
    for (const key of keys) planned.set(key, one);
    if (found && isbn) writtenIsbns.add(isbn);
  }

  const { changes = [], deletions = [], unchanged = [] } = Object.groupBy(
    new Set(planned.values()),
    (one) => taskOf(one, options),
  );
  for (const { item, id } of unchanged) outcomes.set(item, outcomeOf(item, "unchanged", id));
  return { changes, deletions, unchanged, later };
}

/** The product of a record, which may be a new one, or why nothing is written of it. */
function matchOf(
  item: Item,
  matches: Matches,
  options: PlanOptions,
): { found: Found | undefined } | { outcome: Outcome } {
  const found = matches.of(item);
  const { rival } = item;
  if (found === "ambiguous") {
    const sharing = matches.withIsbn(isbnNumber(item.gist));
    return { outcome: outcomeOf(item, "rejected", null, ambiguous(item.incoming, sharing)) };
  }
  if (rival !== undefined && areOfDifferentProducts(rival, item, found)) {
    return { outcome: outcomeOf(item, "rejected", null, isbnInUse(item.incoming, rival)) };
  }
  if (found && isStale(item, found, options)) {
    return { outcome: outcomeOf(item, "unchanged", found.id, STALE_RECORD) };
  }
  return { found };
}

/** Whether a record and its rival, which has the same ISBN, are of different products. */
function areOfDifferentProducts(
  rival: string,
  { gist }: Item,
  found: Found | undefined,
): boolean {
  const references = found ? referencesOf(found) : [];
  return !references.includes(rival) || !references.includes(gist.reference);
}

/** Whether the sender has sent a later message with the product, so that this record is skipped. */
function isStale(
  { arrived: { sent: { at } } }: Item,
  { sent_at }: Found,
  { stale }: PlanOptions,
): boolean {
  return stale === "skip" && at !== null && sent_at !== null && at < sent_at;
}

/** What another record of the same product shares with this one: the product, or while there is none, a reference or an ISBN. */
function sharedKeysOf({ gist }: Item, found: Found | undefined): string[] {
  if (found) return [`id ${found.id}`];
  const isbn = isbnNumber(gist);
  return [`reference ${gist.reference}`, ...isbn ? [`isbn ${isbn}`] : []];
}

/** The outcome of a record after which another one of its product comes. */
function outcomeOfSuperseded({ item, found }: Planned, { arrived }: Item): Outcome {
  return outcomeOf(item, "unchanged", found?.id ?? null, superseded(arrived.line));
}

/** The outcome of a record that presupposes a product, where there is none. */
function outcomeWithoutProduct(item: Item): Outcome | undefined {
  const { notification } = item.gist;
  if (notification === PARTIAL) return outcomeOf(item, "rejected", null, NOT_FOUND);
  if (notification === DELETION) return outcomeOf(item, "unchanged", null, UNKNOWN_RECORD);
}

/** What is to be done with a record: the list of a plan that it is in. */
function taskOf(
  { item, found }: Planned,
  options: PlanOptions,
): Exclude<keyof Plan, "later"> {
  if (item.gist.notification === DELETION) return "deletions";
  return found && isUnchanged(item, found, options) ? "unchanged" : "changes";
}

/** Whether the product has the record already, and nothing is to be written again. */
function isUnchanged(
  { gist: { digest, reference, notification } }: Item,
  found: Found,
  { edits }: PlanOptions,
): boolean {
  return found.digest === digest &&
    (found.is_current || edits !== "overwrite") &&
    referencesOf(found).includes(reference) &&
    notification !== PARTIAL;
}
