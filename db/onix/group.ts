import type { ApiError } from "../../schema/errors.ts";
import type { Entry } from "../../schema/bodies.ts";
import { parseExact } from "../../schema/numbers.ts";
import { inTurns } from "../../schema/onix/xml/steps.ts";
import type { Message, Outcome } from "../../schema/onix/report/report.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { readCurrent } from "../products/documents.ts";
import { changedFields } from "../products/upsert.ts";
import { type Write, writeTogether } from "../products/writer.ts";
import { bodyOf } from "./body.ts";
import { findProducts, lockFound, Matches } from "./find.ts";
import { type Item, outcomeOf } from "./items.ts";
import { linkRecords } from "./links.ts";
import {
  fault,
  isUnchanged,
  type Outcomes,
  type Plan,
  type Planned,
  planOf,
} from "./plan.ts";
import { type Form, formToStore, readStored, storeRecords } from "./records.ts";

/* Writes a group of records in one transaction, and stores them beside the products. */

export interface GroupOptions {
  /** Does the same work, and writes nothing. */
  dryRun: boolean;
  /** Awaited between the records, so that other requests have their turn. */
  pace: () => Promise<void>;
}

/**
 * Writes the records of a group, and returns their outcomes. A record at fault is
 * rejected by itself. Throws the errors that no record caused.
 */
export async function importGroup(
  queries: () => Queries,
  items: readonly Item[],
  { dryRun, pace }: GroupOptions,
): Promise<Outcomes> {
  const unchanged = await findUnchanged(queries(), items);
  const changing = items.filter((item) => !unchanged.has(item));
  if (changing.length === 0) return unchanged;
  try {
    const written = await queries().transaction(async (tx) => {
      const outcomes: Outcomes = new Map();
      for (let rest: readonly Item[] = changing; rest.length > 0;) {
        const matches = new Matches(await lockFound(tx, rest));
        const plan = planOf(rest, matches, outcomes);
        const { done, faults } = await writeTogether(
          tx,
          await writesOf(tx, plan, outcomes, pace),
          (done, sizes) => storeRecords(tx, done.filter(hasForm), sizes, pace),
        );
        for (const { item, id, outcome, messages } of done) {
          outcomes.set(item, outcomeOf(item, outcome, id, ...messages));
        }
        for (const [{ item, found }, error] of faults) {
          const id = found?.id ?? null;
          outcomes.set(item, outcomeOf(item, "rejected", id, faultOf(error)));
        }
        rest = plan.later;
      }
      if (dryRun) throw new DryRun(outcomes);
      await tx.commit();
      return outcomes;
    }, WAITS);
    return new Map([...unchanged, ...written]);
  } catch (error) {
    if (!(error instanceof DryRun)) throw error;
    return new Map([...unchanged, ...error.outcomes]);
  }
}

/** Another import of the same records may take longer than the time for other locks. */
const WAITS = sql`set local lock_timeout = '8s'`;

/** Ends the transaction of a dry run. */
class DryRun extends Error {
  readonly outcomes: Outcomes;

  constructor(outcomes: Outcomes) {
    super("A dry run is rolled back");
    this.outcomes = outcomes;
    for (const outcome of outcomes.values()) {
      // The product that it creates is rolled back.
      if (outcome.outcome === "created") outcome.id = null;
    }
  }
}

/**
 * The outcomes of the records that change nothing, without a transaction: the product has
 * their record, and has not changed since.
 */
async function findUnchanged(
  database: Queries,
  items: readonly Item[],
): Promise<Outcomes> {
  const matches = new Matches(await database.scan(findProducts(items)));
  const idOf = (item: Item) => {
    const found = matches.of(item);
    return typeof found === "object" ? found.id : null;
  };
  const ofProduct = Map.groupBy(items, idOf);
  const outcomes: Outcomes = new Map();
  for (const item of items) {
    const found = matches.of(item);
    if (typeof found !== "object" || !isUnchanged(item, found)) continue;
    // Of several records of a product, the last one counts.
    if (ofProduct.get(found.id)!.length > 1) continue;
    outcomes.set(item, outcomeOf(item, "unchanged", found.id));
  }
  return outcomes;
}

/** What is written of a product because of a record. */
interface RecordWrite extends Planned, Write {
  id: string;
  outcome: Outcome["outcome"];
  messages: readonly Message[];
  /** The record to store. Absent for a deletion. */
  form?: Form;
}

function hasForm(write: RecordWrite): write is RecordWrite & { form: Form } {
  return write.form !== undefined;
}

/** What is written as planned. Records that write nothing get their outcomes. */
async function writesOf(
  tx: Transaction,
  { changes, deletions }: Plan,
  outcomes: Outcomes,
  pace: () => Promise<void>,
): Promise<RecordWrite[]> {
  const writes: RecordWrite[] = deletions.map((one) => ({
    ...one,
    body: {},
    isNew: false,
    isDeleted: true,
    outcome: "deleted",
    messages: [],
  }));
  if (changes.length === 0) return writes;
  const links = await linkRecords(
    tx,
    changes.map(({ item }) => item.incoming.linked),
  );
  for (const one of changes) {
    if (one.found) continue;
    const { item: form } = one;
    const { body, messages } = bodyOf(form.incoming, links, undefined);
    writes.push({
      ...one,
      body,
      isNew: true,
      outcome: "created",
      messages,
      form,
    });
  }
  const stored = await readStored(tx, changes);
  const byId = new Map(changes.map((one) => [one.id, one]));
  const existing = changes.flatMap(({ found }) => found ?? []);
  for await (const { id, product } of readCurrent(tx, existing)) {
    await pace();
    const one = byId.get(id)!;
    const { item, found } = one;
    const before = parseExact(product) as Entry;
    const form = await inTurns(formToStore(one, stored.get(id), before), pace);
    const isKept = form.digest === found!.digest;
    if (isKept && found!.is_current) {
      outcomes.set(item, outcomeOf(item, "unchanged", id));
      continue;
    }
    const { body, messages } = bodyOf(item.incoming, links, before);
    const changed = changedFields(product, body);
    if (isKept && Object.keys(changed).length === 0) {
      // The product has changed in what ONIX does not say.
      outcomes.set(item, outcomeOf(item, "unchanged", id, ...messages));
      continue;
    }
    // The record changes what is sent of the product, even if no field changes.
    const moved = { title: before.title, ...changed };
    writes.push({
      ...one,
      body: moved,
      isNew: false,
      isWhole: true,
      outcome: "updated",
      messages,
      form,
    });
  }
  return writes;
}

/** The message of a record whose product cannot be written. */
function faultOf({ code, details, message }: ApiError): Message {
  if (code === "CONFLICT") return fault("in_use", `${message}`);
  const [detail] = details ?? [];
  return fault(detail?.code ?? "refused", detail?.message ?? message);
}
