import type { Message } from "../../schema/onix/report/message.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { transactionOrDryRun } from "../dry_run.ts";
import { writeTogether } from "../products/write_together.ts";
import { noteGists } from "./gists.ts";
import { findProducts, lockFound } from "./find.ts";
import { type Item, outcomeOf } from "./items.ts";
import { Matches } from "./matches.ts";
import type { MessageBooks } from "./message_books.ts";
import { noteReferences, noteSenders } from "./notes.ts";
import { type Outcomes, type Planned, planOf, type PlanOptions } from "./plan.ts";
import { faultOfWrite } from "./record_messages.ts";
import { storeRecords } from "./records.ts";
import { writesOf } from "./writes.ts";

/*
 * A group of records on its way. What writes nothing is decided without a lock. The rest is
 * written in one transaction, pass by pass, and stored beside the products.
 */

/** How the groups of a message are written. */
export interface GroupSettings extends PlanOptions {
  /** Does the same work, and writes nothing. */
  dryRun: boolean;
  /** Awaited between the steps of the work, so that other requests run. May throw. */
  pace: () => Promise<void>;
}

/** How one group is written. */
export interface GroupOptions extends GroupSettings {
  books: MessageBooks;
  /** Whether records may wait for the rest of the message, which says whose ISBN they have. */
  mayWait: boolean;
}

/**
 * Writes the records of a group, and returns their outcomes: those that wait have none. A
 * record at fault is rejected by itself. Throws the errors that no record caused.
 */
export async function importGroup(
  queries: () => Queries,
  items: readonly Item[],
  options: GroupOptions,
): Promise<Outcomes> {
  const { dryRun, books, mayWait } = options;
  const matches = new Matches(await queries().scan(findProducts(items)), books);
  const waiting = new Set(
    items.filter((item) => mayWait && matches.mayLoseIsbn(item))
      .map(({ gist: { reference } }) => reference),
  );
  const ready = items.filter(({ gist: { reference } }) => !waiting.has(reference));
  const decided = await decideAlone(queries(), ready, matches, options);
  const rest = ready.filter((item) => !decided.has(item));
  if (rest.length === 0) return decided;
  const outcomes = await transactionOrDryRun(queries(), dryRun, async (tx) => {
    const outcomes: Outcomes = new Map();
    for (let left = rest; left.length > 0;) left = await writePass(tx, left, outcomes, options);
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
 * Decides without a transaction about records that write nothing, since their products have them
 * already or the sender has sent a later message. Each is the only one of its product: of several
 * the last one counts. A record without a product is left: it may have one once the group is locked.
 */
async function decideAlone(
  database: Queries,
  items: readonly Item[],
  matches: Matches,
  options: GroupOptions,
): Promise<Outcomes> {
  const alone = [...Map.groupBy(items, (item) => matches.of(item))]
    .flatMap(([found, own]) => typeof found === "object" && own.length === 1 ? own : []);
  const outcomes: Outcomes = new Map();
  // The changes that it plans are planned again under the lock.
  const { unchanged } = planOf(alone, matches, outcomes, options);
  const notes = [...noteSenders(unchanged, options), ...noteGists(unchanged)];
  if (notes.length > 0 && !options.dryRun) await database.write(...notes);
  return outcomes;
}

/** Writes each product once, as its records say, and returns the records of the next pass. */
async function writePass(
  tx: Transaction,
  items: readonly Item[],
  outcomes: Outcomes,
  options: GroupOptions,
): Promise<Item[]> {
  const matches = new Matches(await lockFound(tx, items), options.books);
  const plan = planOf(items, matches, outcomes, options);
  const reject = ({ item, found }: Planned, message: Message) =>
    void outcomes.set(item, outcomeOf(item, "rejected", found?.id ?? null, message));
  const writes = await writesOf(tx, plan, { ...options, reject });
  // A record that changes nothing is stored all the same, beside a product that is not written.
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
  for (const { item, id, outcome, messages } of stored) {
    outcomes.set(item, outcomeOf(item, outcome, id, ...messages));
  }
  await tx.send(
    ...storeRecords(unchanging),
    ...noteReferences(stored),
    ...noteSenders([...stored, ...plan.unchanged], options),
    ...noteGists(plan.unchanged),
  );
  return plan.later;
}
