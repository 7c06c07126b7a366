import { isbnNumber } from "../../../../schema/isbn.ts";
import type { Edits, Stale } from "../../schema/merge/options.ts";
import type { Outcome } from "../../schema/report/report.ts";
import { DELETION, PARTIAL } from "../../schema/rules/notifications.ts";
import { uuidv7 } from "../../../../db/uuid.ts";
import { type Found, referencesOf } from "./find.ts";
import { type AnalysedRecord, outcomeOf } from "./analysed_record.ts";
import type { Matches } from "./matches.ts";
import {
  ambiguous,
  isbnInUse,
  NOT_FOUND,
  STALE_RECORD,
  superseded,
  UNKNOWN_RECORD,
} from "./record_messages.ts";

/*
 * Plans what is done with the records of a pass: which create, change or delete a product, and
 * which write nothing. In: records and the products that match them. Out: a plan, and the outcomes
 * of the records that write nothing.
 */

/** A record with its product, which may be new. */
export interface Planned {
  item: AnalysedRecord;
  id: string;
  /** Absent for a new product. */
  found?: Found;
}

/** The plan of one pass. */
export interface Plan {
  changes: Planned[];
  deletions: Planned[];
  /** The records that their products have already. */
  unchanged: Planned[];
  /** The records of the next pass. */
  later: AnalysedRecord[];
  /** The outcomes of the records that write nothing. */
  outcomes: Outcomes;
}

/** The outcomes of records. */
export type Outcomes = Map<AnalysedRecord, Outcome>;

/** Options of applying records. */
export interface PlanOptions {
  /**
   * The treatment of local edits. `keep` and `protect` write what the sender has changed since the
   * last record, except, with `protect`, edited fields. `overwrite` writes all fields of the
   * record.
   */
  edits: Edits;
  /** Whether a record of an older message than the last one is applied. */
  stale: Stale;
}

/**
 * Plans a pass, in which each product is written once. Of several full records of a product the
 * last one counts. The pass ends before a partial update of a product that it already writes: that
 * record and all after it are `later`.
 */
export function planOf(
  items: readonly AnalysedRecord[],
  matches: Matches,
  options: PlanOptions,
): Plan {
  const outcomes: Outcomes = new Map();
  // The plan for each product, by all keys that another record of it may share.
  const planned = new Map<string, Planned>();
  let later: AnalysedRecord[] = [];

  for (const [at, item] of items.entries()) {
    const match = matchOf(item, matches, options);
    if ("outcome" in match) {
      outcomes.set(item, match.outcome);
      continue;
    }
    const { found } = match;
    const keys = sharedKeysOf(item, found);
    const earlier = keys.map((key) => planned.get(key)).find((one) => one);
    if (earlier && item.analysis.notification === PARTIAL) {
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
  }

  const { changes = [], deletions = [], unchanged = [] } = Object.groupBy(
    new Set(planned.values()),
    (one) => taskOf(one, options),
  );
  for (const { item, id } of unchanged) outcomes.set(item, outcomeOf(item, "unchanged", id));
  return { changes, deletions, unchanged, later, outcomes };
}

/** Returns the product of a record, which may be new, or why nothing is written. */
function matchOf(
  item: AnalysedRecord,
  matches: Matches,
  options: PlanOptions,
): { found: Found | undefined } | { outcome: Outcome } {
  const found = matches.of(item);
  const { rival } = item;
  if (found === "ambiguous") {
    const sharing = matches.withIsbn(isbnNumber(item.analysis));
    return { outcome: outcomeOf(item, "rejected", null, ambiguous(item.content, sharing)) };
  }
  if (rival !== undefined && areOfDifferentProducts(rival, item, found)) {
    return { outcome: outcomeOf(item, "rejected", null, isbnInUse(item.content, rival)) };
  }
  if (found && isStale(item, found, options)) {
    return { outcome: outcomeOf(item, "unchanged", found.id, STALE_RECORD) };
  }
  return { found };
}

/** Whether a record and its rival, which has the same ISBN, are of different products. */
function areOfDifferentProducts(
  rival: string,
  { analysis }: AnalysedRecord,
  found: Found | undefined,
): boolean {
  const references = found ? referencesOf(found) : [];
  return !references.includes(rival) || !references.includes(analysis.reference);
}

/** Whether the sender has sent a later message with the product, so that this record is skipped. */
function isStale(
  { incomingRecord: { sent: { at } } }: AnalysedRecord,
  { sent_at }: Found,
  { stale }: PlanOptions,
): boolean {
  return stale === "skip" && at !== null && sent_at !== null && at < sent_at;
}

/**
 * Returns the keys that another record of the same product shares: the product, or, before it
 * exists, a reference or an ISBN.
 */
function sharedKeysOf({ analysis }: AnalysedRecord, found: Found | undefined): string[] {
  if (found) return [`id ${found.id}`];
  const isbn = isbnNumber(analysis);
  return [`reference ${analysis.reference}`, ...isbn ? [`isbn ${isbn}`] : []];
}

/** The outcome of a record after which another one of its product comes. */
function outcomeOfSuperseded(
  { item, found }: Planned,
  { incomingRecord }: AnalysedRecord,
): Outcome {
  return outcomeOf(item, "unchanged", found?.id ?? null, superseded(incomingRecord.line));
}

/** Returns the outcome of a record that needs an existing product, if there is none. */
function outcomeWithoutProduct(item: AnalysedRecord): Outcome | undefined {
  const { notification } = item.analysis;
  if (notification === PARTIAL) return outcomeOf(item, "rejected", null, NOT_FOUND);
  if (notification === DELETION) return outcomeOf(item, "unchanged", null, UNKNOWN_RECORD);
}

/** Returns the list of the plan for a record. */
function taskOf(
  { item, found }: Planned,
  options: PlanOptions,
): "changes" | "deletions" | "unchanged" {
  if (item.analysis.notification === DELETION) return "deletions";
  return found && isUnchanged(item, found, options) ? "unchanged" : "changes";
}

/** Whether the product has the record already, and nothing is to be written again. */
function isUnchanged(
  { analysis: { digest, reference, notification } }: AnalysedRecord,
  found: Found,
  { edits }: PlanOptions,
): boolean {
  return found.digest === digest &&
    (found.is_current || edits !== "overwrite") &&
    referencesOf(found).includes(reference) &&
    notification !== PARTIAL;
}
