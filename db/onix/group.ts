import type { ApiError } from "../../schema/errors.ts";
import { type Merged, mergeEdits } from "../../schema/onix/mapping/edits.ts";
import type { Book } from "../../schema/onix/mapping/codec.ts";
import {
  type Received,
  writeRecord,
} from "../../schema/onix/mapping/outgoing.ts";
import { toStored } from "../../schema/onix/xml/write.ts";
import { inTurns } from "../../schema/onix/xml/steps.ts";
import type { Message, Outcome } from "../../schema/onix/report/report.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { readInGroups } from "../products/documents.ts";
import { changedFields } from "../products/upsert.ts";
import { type Write, writeTogether } from "../products/write_together.ts";
import { bodyOf } from "./body.ts";
import { type BesideProduct, bookOf } from "./books.ts";
import {
  findProducts,
  isbnNumber,
  lockFound,
  Matches,
  referencesOf,
} from "./find.ts";
import { type Item, outcomeOf } from "./items.ts";
import { linkRecords } from "./links.ts";
import {
  fault,
  isOfRival,
  isStale,
  isUnchanged,
  otherReference,
  type Outcomes,
  type Plan,
  type Planned,
  planOf,
  type PlanOptions,
  STALE_MESSAGE,
} from "./plan.ts";
import {
  formToStore,
  keptDifferences,
  lastOf,
  type LastRecord,
  noteReferences,
  noteSenders,
  readStored,
  type StoredForm,
  storeRecords,
} from "./records.ts";

/* Writes a group of records in one transaction, and stores them beside the products. */

export interface GroupOptions extends PlanOptions {
  /** Does the same work, and writes nothing. */
  dryRun: boolean;
  /** Awaited between the records, so that other requests run. */
  pace: () => Promise<void>;
}

/**
 * Writes the records of a group, and returns their outcomes. A record at fault is
 * rejected by itself. Throws the errors that no record caused.
 */
export async function importGroup(
  queries: () => Queries,
  items: readonly Item[],
  options: GroupOptions,
): Promise<Outcomes> {
  const { dryRun, pace } = options;
  const unchanged = await findUnchanged(queries(), items, options);
  const changing = items.filter((item) => !unchanged.has(item));
  if (changing.length === 0) return unchanged;
  try {
    const written = await queries().transaction(async (tx) => {
      const outcomes: Outcomes = new Map();
      for (let rest: readonly Item[] = changing; rest.length > 0;) {
        const matches = new Matches(await lockFound(tx, rest));
        const plan = planOf(rest, matches, outcomes, options);
        const { writes, quiet } = await writesOf(tx, plan, outcomes, options);
        const { done, faults } = await writeTogether(
          tx,
          writes,
          (done, sizes) => storeRecords(tx, done.filter(hasForm), sizes, pace),
        );
        await storeRecords(tx, quiet, sizesOf(quiet), pace);
        for (const { item, id, outcome, messages } of done) {
          outcomes.set(item, outcomeOf(item, outcome, id, ...messages));
        }
        for (const [{ item, found }, error] of faults) {
          const id = found?.id ?? null;
          outcomes.set(item, outcomeOf(item, "rejected", id, faultOf(error)));
        }
        await tx.send(
          ...noteReferences([...done, ...quiet]),
          ...noteSenders([...done, ...quiet, ...plan.unchanged]),
        );
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
  options: GroupOptions,
): Promise<Outcomes> {
  const matches = new Matches(await database.scan(findProducts(items)));
  const idOf = (item: Item) => {
    const found = matches.of(item);
    return typeof found === "object" ? found.id : null;
  };
  const ofProduct = Map.groupBy(items, idOf);
  const outcomes: Outcomes = new Map();
  const same: Planned[] = [];
  for (const item of items) {
    const found = matches.of(item);
    if (typeof found !== "object" || isOfRival(item, found)) continue;
    // Of several records of a product, the last one counts.
    if (ofProduct.get(found.id)!.length > 1) continue;
    if (isStale(item, found, options)) {
      outcomes.set(item, outcomeOf(item, "unchanged", found.id, STALE_MESSAGE));
    } else if (isUnchanged(item, found, options)) {
      outcomes.set(item, outcomeOf(item, "unchanged", found.id));
      same.push({ item, id: found.id, found });
    }
  }
  const noted = options.dryRun ? [] : noteSenders(same);
  if (noted.length > 0) await database.write(...noted);
  return outcomes;
}

/** What is written of a product because of a record. */
interface RecordWrite extends Planned, Write {
  id: string;
  outcome: Outcome["outcome"];
  messages: readonly Message[];
  /** The record to store. Absent for a deletion. */
  form?: StoredForm;
  /** What was edited here. Absent for a new product. */
  merged?: Merged;
}

/** The sizes of the products of these records in bytes, by id. */
function sizesOf(quiet: Writes["quiet"]): Map<string, number | null> {
  return new Map(quiet.map(({ id, found }) => [id, found?.bytes ?? null]));
}

function hasForm(
  write: RecordWrite,
): write is RecordWrite & { form: StoredForm } {
  return write.form !== undefined;
}

/** The writes of a plan. */
interface Writes {
  writes: RecordWrite[];
  /** The records that are stored without a write of their products. */
  quiet: (RecordWrite & { form: StoredForm })[];
}

/** The writes of a plan. Records that write nothing get their outcomes. */
async function writesOf(
  tx: Transaction,
  { changes, deletions }: Plan,
  outcomes: Outcomes,
  options: GroupOptions,
): Promise<Writes> {
  const created = changes.filter(({ found }) => !found);
  const existing = changes.filter(({ found }) => found);
  const creations = await creationsOf(tx, created);
  const updates = await updatesOf(tx, existing, outcomes, options);
  return {
    writes: [...deletions.map(deletionOf), ...creations, ...updates.writes],
    quiet: updates.quiet,
  };
}

function deletionOf(planned: Planned): RecordWrite {
  return {
    ...planned,
    body: {},
    isNew: false,
    isDeleted: true,
    outcome: "deleted",
    messages: [],
  };
}

async function creationsOf(
  tx: Transaction,
  created: readonly Planned[],
): Promise<RecordWrite[]> {
  if (created.length === 0) return [];
  const links = await linkRecords(
    tx,
    created.map(({ item }) => item.incoming.linked),
  );
  return created.map((one) => ({
    ...one,
    ...bodyOf(one.item.incoming, links, undefined),
    isNew: true,
    outcome: "created",
    form: one.item,
  }));
}

/** The writes of records that have a product. Those that write nothing get their outcomes. */
async function updatesOf(
  tx: Transaction,
  existing: readonly Planned[],
  outcomes: Outcomes,
  options: GroupOptions,
): Promise<Writes> {
  const writes: RecordWrite[] = [];
  const quiet: Writes["quiet"] = [];
  if (existing.length === 0) return { writes, quiet };
  const stored = await readStored(tx, existing);
  const byId = new Map(existing.map((one) => [one.id, one]));
  const sized = existing.map(({ id, found }) => ({
    id,
    bytes: found!.bytes ?? null,
  }));
  for await (const products of readInGroups(tx, sized)) {
    const compared: Compared[] = [];
    for (const { id, product } of products) {
      await options.pace();
      const one = byId.get(id)!;
      compared.push(await compare(one, product, stored.get(id)!, options));
    }
    const links = await linkRecords(
      tx,
      compared.map(({ merged }) => merged.incoming.linked),
    );
    for (const { one, book, form, last, merged } of compared) {
      await options.pace();
      const { item, id, found } = one;
      const { body, messages } = bodyOf(merged.incoming, links, book.product);
      const changed = changedFields(book.product, body);
      const write = {
        ...one,
        form,
        merged,
        isNew: false,
        isWhole: true,
        messages: [...warningsOf(one), ...merged.messages, ...messages],
      };
      const isMoved = Object.keys(changed).length > 0 ||
        form.digest !== found!.digest &&
          await isSentOtherwise(book, last, form, merged, options.pace);
      if (isMoved) {
        // The record changes what is sent of the product, even if no field changes.
        const moved = { title: book.product.title, ...changed };
        writes.push({ ...write, body: moved, outcome: "updated" });
      } else {
        quiet.push({ ...write, body: {}, outcome: "unchanged" });
        outcomes.set(item, outcomeOf(item, "unchanged", id, ...write.messages));
      }
    }
  }
  return { writes, quiet };
}

/** The warning of a record that has found its product under another reference. */
function warningsOf({ item: { incoming }, found }: Planned): Message[] {
  const isOther = found && found.reference !== null &&
    !referencesOf(found).includes(incoming.reference);
  return isOther ? [otherReference(found, incoming.reference)] : [];
}

/** A record beside its product. */
interface Compared {
  one: Planned;
  book: Book;
  form: StoredForm;
  last: LastRecord | null;
  merged: Merged;
}

/** Compares a record with the last one and with its product. */
async function compare(
  one: Planned,
  product: string,
  stored: BesideProduct,
  { edits, pace }: GroupOptions,
): Promise<Compared> {
  const { incoming } = one.item;
  const book = bookOf({ ...stored, product });
  const last = await inTurns(lastOf(stored, incoming), pace);
  // A record with an ISBN-10 alone has also said its ISBN-13.
  const { isbn13 } = book.product;
  if (last && isbn13 && isbnNumber(last.values) === isbn13) {
    last.values.isbn13 = isbn13;
  }
  const form = await inTurns(formToStore(one, book, last, edits), pace);
  const merged = await inTurns(mergeEdits(incoming, last, book, edits), pace);
  return { one, book, form, last, merged };
}

/** Whether messages show the product differently with the new record than with the last one. */
async function isSentOtherwise(
  book: Book,
  last: LastRecord | null,
  { record }: StoredForm,
  { kept, edited, identitiesIn }: Merged,
  pace: () => Promise<void>,
): Promise<boolean> {
  if (!last) return true;
  const differences = keptDifferences(last.differences, kept, edited);
  const identities = identitiesIn(book);
  const sent = async (received: Received) => {
    const { record } = await inTurns(writeRecord(book, received, "3.1"), pace);
    return await inTurns(toStored(record), pace);
  };
  return await sent(last) !== await sent({ record, differences, identities });
}

/** The message of a record whose product cannot be written. */
function faultOf({ code, details, message }: ApiError): Message {
  if (code === "CONFLICT") return fault("in_use", `${message}`);
  const [detail] = details ?? [];
  return fault(detail?.code ?? "refused", detail?.message ?? message);
}
