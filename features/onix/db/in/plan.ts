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
  analysed: AnalysedRecord;
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
  records: readonly AnalysedRecord[],
  matches: Matches,
  options: PlanOptions,
): Plan {
  const outcomes: Outcomes = new Map();
  // The plan for each product, by all keys that another record of it may share.
  const planned = new Map<string, Planned>();
  let later: AnalysedRecord[] = [];

  for (const [at, analysed] of records.entries()) {
    const match = matchOf(analysed, matches, options);
    if ("outcome" in match) {
      outcomes.set(analysed, match.outcome);
      continue;
    }
    const { found } = match;
    const keys = sharedKeysOf(analysed, found);
    const earlier = keys.map((key) => planned.get(key)).find((one) => one);
    if (earlier && analysed.analysis.notification === PARTIAL) {
      later = records.slice(at);
      break;
    }
    if (earlier) {
      outcomes.set(earlier.analysed, outcomeOfSuperseded(earlier, analysed));
      for (const [key, one] of planned) if (one === earlier) planned.delete(key);
    }
    const withoutProduct = found ? undefined : outcomeWithoutProduct(analysed);
    if (withoutProduct) {
      outcomes.set(analysed, withoutProduct);
      continue;
    }
    const one: Planned = found ? { analysed, id: found.id, found } : { analysed, id: uuidv7() };
    for (const key of keys) planned.set(key, one);
  }

  const { changes = [], deletions = [], unchanged = [] } = Object.groupBy(
    new Set(planned.values()),
    (one) => taskOf(one, options),
  );
  for (const { analysed, id } of unchanged) {
    outcomes.set(analysed, outcomeOf(analysed, "unchanged", id));
  }
  return { changes, deletions, unchanged, later, outcomes };
}

/** Returns the product of a record, which may be new, or why nothing is written. */
function matchOf(
  analysed: AnalysedRecord,
  matches: Matches,
  options: PlanOptions,
): { found: Found | undefined } | { outcome: Outcome } {
  const found = matches.of(analysed);
  const { rival } = analysed;
  if (found === "ambiguous") {
    const sharing = matches.withIsbn(isbnNumber(analysed.analysis));
    return { outcome: outcomeOf(analysed, "rejected", null, ambiguous(analysed.content, sharing)) };
  }
  if (rival !== undefined && areOfDifferentProducts(rival, analysed, found)) {
    return { outcome: outcomeOf(analysed, "rejected", null, isbnInUse(analysed.content, rival)) };
  }
  if (found && isStale(analysed, found, options)) {
    return { outcome: outcomeOf(analysed, "unchanged", found.id, STALE_RECORD) };
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
  { analysed, found }: Planned,
  { incomingRecord }: AnalysedRecord,
): Outcome {
  return outcomeOf(analysed, "unchanged", found?.id ?? null, superseded(incomingRecord.line));
}

/** Returns the outcome of a record that needs an existing product, if there is none. */
function outcomeWithoutProduct(analysed: AnalysedRecord): Outcome | undefined {
  const { notification } = analysed.analysis;
  if (notification === PARTIAL) return outcomeOf(analysed, "rejected", null, NOT_FOUND);
  if (notification === DELETION) return outcomeOf(analysed, "unchanged", null, UNKNOWN_RECORD);
}

/** Returns the list of the plan for a record. */
function taskOf(
  { analysed, found }: Planned,
  options: PlanOptions,
): "changes" | "deletions" | "unchanged" {
  if (analysed.analysis.notification === DELETION) return "deletions";
  return found && isUnchanged(analysed, found, options) ? "unchanged" : "changes";
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
