import type { Message } from "../../schema/report/message.ts";
import { sql } from "../../../../db/connections/sql.ts";
import type { Transaction } from "../../../../db/connections/transaction.ts";
import type { Queries } from "../../../../db/database.ts";
import { transactionOrDryRun } from "../../../../db/dry_run.ts";
import { writeTogether } from "../../../../db/products/write_together.ts";
import { cacheAnalyses } from "./cached_analyses.ts";
import { findProducts, lockFound } from "./find.ts";
import { type AnalysedRecord, outcomeOf } from "./analysed_record.ts";
import { Matches } from "./matches.ts";
import type { MessageBooks } from "./message_books.ts";
import { storeReferences, storeSendingTimes } from "./references_and_times.ts";
import { type Outcomes, type Plan, type Planned, planOf, type PlanOptions } from "./plan.ts";
import { faultOfWrite } from "./record_messages.ts";
import { storeRecords } from "./records.ts";
import { writesOf } from "./writes.ts";
import type { Pace } from "../../../../schema/turns.ts";

/*
 * Imports a group of records. Records that write nothing are decided without a lock. The others
 * are written in one transaction, in passes: each pass writes a product once.
 */

/** Settings for all groups of a message. */
export interface GroupSettings extends PlanOptions {
  /** Whether all is rolled back. */
  dryRun: boolean;
  /** Awaited between the segments of the work, so that other requests run. May throw. */
  pace: Pace;
}

/** Settings for one group. */
export interface GroupOptions extends GroupSettings {
  books: MessageBooks;
  /**
   * Whether records may wait for the rest of the message, which can show the product that has their
   * ISBN.
   */
  mayWait: boolean;
}

/**
 * Writes the records of a group, and returns their outcomes: those that wait have none. A
 * record at fault is rejected by itself. Throws the errors that no record caused.
 */
export async function importGroup(
  queries: () => Queries,
  records: readonly AnalysedRecord[],
  options: GroupOptions,
): Promise<Outcomes> {
  const { dryRun, books, mayWait } = options;
  const matches = new Matches(await queries().scan(findProducts(records)), books);
  const waiting = new Set(
    records.filter((analysed) => mayWait && matches.mayLoseIsbn(analysed))
      .map(({ analysis: { reference } }) => reference),
  );
  const ready = records.filter(({ analysis: { reference } }) => !waiting.has(reference));
  const decided = await decideWithoutLock(queries(), ready, matches, options);
  const rest = ready.filter((analysed) => !decided.has(analysed));
  if (rest.length === 0) return decided;
  const outcomes = await transactionOrDryRun(queries(), dryRun, async (tx) => {
    const outcomes: Outcomes = new Map();
    for (let left = rest; left.length > 0;) {
      const pass = await writePass(tx, left, options);
      pass.outcomes.forEach((outcome, analysed) => outcomes.set(analysed, outcome));
      left = pass.later;
    }
    return outcomes;
  }, LOCK_TIMEOUT);
  for (const outcome of outcomes.values()) {
    // The product that it creates is rolled back.
    if (dryRun && outcome.outcome === "created") outcome.id = null;
  }
  return new Map([...decided, ...outcomes]);
}

/** Another import of the same records may take longer than the time for other locks. */
const LOCK_TIMEOUT = sql`set local lock_timeout = '8s'`;

/**
 * Decides, without a lock, the records that write nothing: their product has them already, the
 * sender has sent a later message, or another record of the message has their ISBN. A record is
 * left for the transaction if the group has another one of its product, or if it matches no product
 * or several.
 */
async function decideWithoutLock(
  database: Queries,
  records: readonly AnalysedRecord[],
  matches: Matches,
  options: GroupOptions,
): Promise<Outcomes> {
  const single = [...Map.groupBy(records, (analysed) => matches.of(analysed))]
    .flatMap(([found, own]) => typeof found === "object" && own.length === 1 ? own : []);
  // The changes that it plans are planned again under the lock.
  const { unchanged, outcomes } = planOf(single, matches, options);
  const statements = [...storeSendingTimes(unchanged, options), ...cacheAnalyses(unchanged)];
  if (statements.length > 0 && !options.dryRun) await database.write(...statements);
  return outcomes;
}

/** Writes each product once. Returns the outcomes of its records, and the records of the next pass. */
async function writePass(
  tx: Transaction,
  records: readonly AnalysedRecord[],
  options: GroupOptions,
): Promise<Pick<Plan, "outcomes" | "later">> {
  const matches = new Matches(await lockFound(tx, records), options.books);
  const plan = planOf(records, matches, options);
  const { outcomes, later } = plan;
  const reject = ({ analysed, found }: Planned, message: Message) =>
    void outcomes.set(analysed, outcomeOf(analysed, "rejected", found?.id ?? null, message));
  const writes = await writesOf(tx, plan, { ...options, reject });
  // A record that changes nothing is stored as well, without a write of its product.
  const { changing = [], unchanging = [] } = Object.groupBy(
    writes,
    ({ outcome }) => outcome === "unchanged" ? "unchanging" : "changing",
  );
  const { done, faults } = await writeTogether(
    tx,
    changing,
    async (written) => void await tx.send(...storeRecords(written)),
  );
  for (const [one, error] of faults) reject(one, faultOfWrite(error));
  const stored = [...done, ...unchanging];
  for (const { analysed, id, outcome, messages } of stored) {
    outcomes.set(analysed, outcomeOf(analysed, outcome, id, ...messages));
  }
  await tx.send(
    ...storeRecords(unchanging),
    ...storeReferences(stored),
    ...storeSendingTimes([...stored, ...plan.unchanged], options),
    ...cacheAnalyses(plan.unchanged),
  );
  return { outcomes, later };
}
