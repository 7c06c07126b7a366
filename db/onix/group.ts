import { type Entry, overfullIn } from "../../schema/bodies.ts";
import { guarded } from "../../schema/defects.ts";
import type { ApiError } from "../../schema/errors.ts";
import { isbnNumber } from "../../schema/isbn.ts";
import { idsIn } from "../../schema/onix/mapping/ids.ts";
import { replaceBlocks } from "../../schema/onix/mapping/incoming.ts";
import { differencesOf } from "../../schema/onix/mapping/differences.ts";
import { type Last, type Merged, mergeEdits } from "../../schema/onix/mapping/merge.ts";
import {
  readStored as readRecord,
  type Received,
  writeRecord,
} from "../../schema/onix/mapping/outgoing.ts";
import { RELEASES } from "../../schema/onix/rules/releases.ts";
import { saysSame } from "../../schema/onix/xml/element.ts";
import type { Outcome } from "../../schema/onix/report/report.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { transactionOrDryRun } from "../dry_run.ts";
import { readInGroups } from "../products/read.ts";
import { changedFields } from "../products/upsert.ts";
import { type Cause, writeTogether } from "../products/write_together.ts";
import { uuidv7 } from "../uuid.ts";
import { bodyOf } from "./body.ts";
import { bookOf, receivedIn } from "./books.ts";
import {
  findProducts,
  type Found,
  lockFound,
  Matches,
  type Numbers,
  referencesOf,
} from "./find.ts";
import { type Item, outcomeOf, type StoredForm, storedForm } from "./items.ts";
import { linkRecords, type Links } from "./links.ts";
import { fillIdentifiers, identifiersIn, type PartyIdentifiers } from "./party_identifiers.ts";
import {
  createdAgain,
  FAILED,
  fault,
  isOfRival,
  isStale,
  isUnchanged,
  notOnSale,
  otherReference,
  type Outcomes,
  overfull,
  type Plan,
  type Planned,
  planOf,
  type PlanOptions,
  STALE_MESSAGE,
} from "./plan.ts";
import {
  findDeleted,
  noteReadings,
  noteReferences,
  noteSenders,
  readStored,
  type StoredRecord,
  storeRecords,
} from "./records.ts";
import type { Book } from "../../schema/onix/mapping/mapped.ts";
import type { Reading } from "../../schema/onix/mapping/mapping.ts";
import type { Message } from "../../schema/onix/xml/paths.ts";
import type { Edits } from "../../schema/onix/mapping/options.ts";

/* Writes a group of records in one transaction, and stores them beside the products. */

export interface GroupOptions extends PlanOptions {
  /** Does the same work, and writes nothing. */
  dryRun: boolean;
  /** Awaited between the records, so that other requests run. */
  pace: () => Promise<void>;
  numbers: Numbers;
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
  const { dryRun, numbers, mayWait } = options;
  const found = await queries().scan(findProducts(items));
  const matches = new Matches(found, numbers);
  const waiting = new Set(
    items.filter((item) => mayWait && matches.mayLose(item))
      .map(({ gist: { reference } }) => reference),
  );
  const decided = items.filter(({ gist: { reference } }) => !waiting.has(reference));
  const unchanged = await findUnchanged(queries(), decided, matches, options);
  const changing = decided.filter((item) => !unchanged.has(item));
  if (changing.length === 0) return unchanged;
  const outcomes = await transactionOrDryRun(queries(), dryRun, async (tx) => {
    const outcomes: Outcomes = new Map();
    for (let rest: readonly Item[] = changing; rest.length > 0;) {
      const matches = new Matches(await lockFound(tx, rest), numbers);
      const plan = planOf(rest, matches, outcomes, options);
      const reject = ({ item, found }: Planned, message: Message) =>
        void outcomes.set(
          item,
          outcomeOf(item, "rejected", found?.id ?? null, message),
        );
      const all = await writesOf(tx, plan, { ...options, reject });
      // These records are stored without a write of their products.
      const quiet = all.filter(({ outcome }) => outcome === "unchanged");
      const { done, faults } = await writeTogether(
        tx,
        all.filter(({ outcome }) => outcome !== "unchanged"),
        async (done) => void await tx.send(...storeRecords(done)),
      );
      for (const { item, id, outcome, messages } of [...done, ...quiet]) {
        outcomes.set(item, outcomeOf(item, outcome, id, ...messages));
      }
      for (const [{ item, found }, error] of faults) {
        const id = found?.id ?? null;
        outcomes.set(item, outcomeOf(item, "rejected", id, faultOf(error)));
      }
      await tx.send(
        ...storeRecords(quiet),
        ...noteReferences([...done, ...quiet]),
        ...noteSenders([...done, ...quiet, ...plan.unchanged], options),
        ...noteReadings(plan.unchanged),
      );
      rest = plan.later;
    }
    return outcomes;
  }, WAITS);
  for (const outcome of outcomes.values()) {
    // The product that it creates is rolled back.
    if (dryRun && outcome.outcome === "created") outcome.id = null;
  }
  return new Map([...unchanged, ...outcomes]);
}

/** Another import of the same records may take longer than the time for other locks. */
const WAITS = sql`set local lock_timeout = '8s'`;

/**
 * The outcomes of the records that change nothing, without a transaction: the product has
 * their record, and has not changed since.
 */
async function findUnchanged(
  database: Queries,
  items: readonly Item[],
  matches: Matches<Found>,
  options: GroupOptions,
): Promise<Outcomes> {
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
  const noted = options.dryRun ? [] : [...noteSenders(same, options), ...noteReadings(same)];
  if (noted.length > 0) await database.write(...noted);
  return outcomes;
}

/** What is written of a product because of a record. */
interface RecordWrite extends Planned, Cause {
  outcome: Outcome["outcome"];
  messages: readonly Message[];
  /** The record to store. Absent for a deletion. */
  stored?: StoredRecord;
}

interface PassOptions extends GroupOptions {
  /** Called with a record at fault, or at which the service fails. It writes nothing. */
  reject: (one: Planned, message: Message) => undefined;
}

/** What the records of a plan write. */
async function writesOf(
  tx: Transaction,
  { changes, deletions }: Plan,
  options: PassOptions,
): Promise<RecordWrite[]> {
  const deleting = deletions.map((planned): RecordWrite => ({
    ...planned,
    change: { method: "delete", id: planned.id, source: sourceOf(planned) },
    outcome: "deleted",
    messages: [],
  }));
  const created: Compared[] = [];
  for (const one of changes.filter(({ found }) => !found)) {
    await options.pace();
    const compared = guarded(
      () => compare(one, newBook(one), null, null, options),
      () => options.reject(one, FAILED),
    );
    if (compared) created.push(compared);
  }
  const writes = [...deleting, ...await writesTo(tx, created, options)];
  const existing = changes.filter(({ found }) => found);
  if (existing.length === 0) return writes;
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
      const each = guarded(() => {
        const source = { ...stored.get(id)!, product };
        const received = receivedIn(source);
        const own = receivedIn(source.own) ?? received;
        return compare(one, bookOf(source), own, received, options);
      }, () => options.reject(one, FAILED));
      if (each) compared.push(each);
    }
    writes.push(...await writesTo(tx, compared, options));
  }
  return writes;
}

/** The book of a product that does not exist yet. */
function newBook({ item: { gist: { reference } } }: Planned): Book {
  const identifiers = { publisher: [], imprint: [] };
  return {
    product: {},
    contributors: {},
    identifiers,
    organization: "",
    reference,
  };
}

/** What these records write, after what they name has been found or created. */
async function writesTo(
  tx: Transaction,
  compared: readonly Compared[],
  { pace, reject }: PassOptions,
): Promise<RecordWrite[]> {
  if (compared.length === 0) return [];
  const links = await linkRecords(
    tx,
    compared.map(({ merged }) => merged.written),
  );
  const news = compared.filter(({ one }) => !one.found);
  const deleted = await findDeleted(tx, news.map(({ one }) => one));
  const writes: RecordWrite[] = [];
  const parties: PartyIdentifiers[] = [];
  for (const [i, each] of compared.entries()) {
    await pace();
    const write = guarded(
      () => writeOf(each, links[i]!, deleted, reject),
      () => reject(each.one, FAILED),
    );
    if (!write) continue;
    writes.push(write);
    parties.push(...identifiersIn(each.now, each.book));
  }
  await tx.send(...fillIdentifiers(parties));
  return writes;
}

/** What a record writes, unless it is rejected. */
function writeOf(
  { one, book, form, now, last, received, merged }: Compared,
  links: Links,
  deleted: ReadonlyMap<string, string>,
  reject: PassOptions["reject"],
): RecordWrite | undefined {
  const { item, id, found } = one;
  const { body, after, messages } = bodyOf(
    merged.written,
    item.incoming,
    now,
    links,
    book,
  );
  const full = overfullIn(body);
  if (full) return reject(one, overfull(full));
  const { differences, isEdited } = differencesOf(
    after,
    now.values,
    merged.edited,
    last?.differences ?? null,
  );
  const source = sourceOf(one);
  const write = {
    ...one,
    stored: {
      reference: found?.reference ?? item.gist.reference,
      text: form.text,
      digest: form.digest,
      reading: form === item.form ? item.reading : null,
      differences,
      ids: idsIn(form.record),
      isEdited,
    },
    messages: [
      ...warningsOf(one, deleted),
      ...merged.messages,
      ...messages,
      ...notOnSale(item.incoming),
    ],
  };
  if (!found) {
    const change = { method: "create", id, body, source } as const;
    return { ...write, change, outcome: "created" };
  }
  const changed = changedFields(book.product, body);
  const stored = { record: form.record, differences };
  const isMoved = Object.keys(changed).length > 0 ||
    (form.digest !== found.digest || found.has_own) &&
      (!received || isSentOtherwise(book, received, stored));
  return {
    ...write,
    change: {
      method: "update",
      id,
      // The record changes what is sent of the product, even if no field changes.
      body: isMoved ? { title: book.product.title, ...changed } : {},
      isWhole: true,
      source,
    },
    outcome: isMoved ? "updated" : "unchanged",
  };
}

/** The record, as the history of its product names it. */
function sourceOf({ item: { arrived: { sent }, gist: { reference } } }: Planned): Entry {
  return {
    sender: sent.sender,
    sent: sent.at === null ? null : new Date(sent.at).toISOString(),
    record_reference: reference,
  };
}

/** The warning of a record whose product had another reference, or was deleted. */
function warningsOf(
  { item: { gist: { reference } }, found }: Planned,
  deleted: ReadonlyMap<string, string>,
): Message[] {
  if (!found) {
    const day = deleted.get(reference);
    return day ? [createdAgain(reference, day)] : [];
  }
  return found.reference === null || referencesOf(found).includes(reference)
    ? []
    : [otherReference(found, reference)];
}

/** A record beside its product. */
interface Compared {
  one: Planned;
  book: Book;
  form: StoredForm;
  now: Reading;
  last: Last | null;
  /** The record last received. */
  received: Received | null;
  merged: Merged;
}

/** Compares a record with the last one of its sender, or of any, and with its product. */
function compare(
  one: Planned,
  book: Book,
  own: Received | null,
  received: Received | null,
  { edits }: GroupOptions,
): Compared {
  const { incoming } = one.item;
  const form = formToStore(one, book, own, received, edits);
  const now = form === one.item.form ? incoming : readRecord(form.record);
  const last = own && { ...readRecord(own.record, now), ...own };
  // A record with an ISBN-10 alone also has an ISBN-13: the 978 form.
  const { isbn13 } = book.product;
  if (last && isbn13 && isbnNumber(last.values) === isbn13) {
    last.values.isbn13 = isbn13;
  }
  const merged = mergeEdits(incoming, now, last, book, edits, uuidv7);
  return { one, book, form, now, last, received, merged };
}

/** The record to store: that of the message, or the last one with the blocks of a partial update. */
function formToStore(
  { item, found }: Planned,
  book: Book,
  own: Received | null,
  received: Received | null,
  edits: Edits,
): StoredForm {
  if (item.gist.notification !== "04") return item.form;
  const base = own && (found!.is_current || edits !== "overwrite")
    ? own.record
    // What requests have changed since stays changed.
    : writeRecord(book, received, "3.1").record;
  return storedForm(replaceBlocks(base, item.incoming.record));
}

/** Whether messages show the product differently with one record than with another. */
function isSentOtherwise(book: Book, ...both: [Received, Received]): boolean {
  return RELEASES.some((release) => {
    const [one, other] = both.map((received) => writeRecord(book, received, release).record);
    return !saysSame(one!, other!);
  });
}

/** The message of a record whose product cannot be written. */
function faultOf({ code, details, message }: ApiError): Message {
  if (code === "CONFLICT") return fault("in_use", message);
  const [detail] = details ?? [];
  return fault(detail?.code ?? "refused", detail?.message ?? message);
}
