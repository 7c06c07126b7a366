import type { Entry } from "../../../../schema/bodies.ts";
import { overfullIn } from "../../../../schema/entry_limits.ts";
import { catchDefect } from "../../../../schema/defects.ts";
import { type Differences, differencesOf } from "../../schema/merge/differences.ts";
import { idsIn } from "../../schema/codecs/ids.ts";
import type { Edits } from "../../schema/merge/options.ts";
import type { Message } from "../../schema/report/message.ts";
import type { Outcome } from "../../schema/report/report.ts";
import type { Transaction } from "../../../../db/connections/transaction.ts";
import { changedFields } from "../../../../db/products/change/changed_fields.ts";
import type { Cause } from "../../../../db/products/write_together.ts";
import { bodyOf } from "./body.ts";
import { compare, type Compared, isSentOtherwise } from "./compare.ts";
import { referencesOf } from "./find.ts";
import type { AnalysedRecord } from "./analysed_record.ts";
import { linkRecords, type Links } from "../links/links.ts";
import { fillIdentifiers, identifiersIn } from "../links/party_identifiers.ts";
import type { Plan, Planned } from "./plan.ts";
import { createdAgain, FAILED, notOnSale, otherReference, overfull } from "./record_messages.ts";
import type { StoredRecord } from "./records.ts";
import { type Comparable, findDeleted, readProductsOf } from "./stored_products.ts";
import type { Pace } from "../../../../schema/turns.ts";

/* Makes the writes of a plan: changes of products, and the records to store. */

/**
 * The write of a record. With the outcome `unchanged`, the record is stored without a write of its
 * product.
 */
export interface RecordWrite extends Planned, Cause {
  outcome: Outcome["outcome"];
  messages: readonly Message[];
  /** The record to store. Absent for a deletion. */
  record?: StoredRecord;
}

interface WriteOptions {
  edits: Edits;
  pace: Pace;
  /** Called with a rejected record, or one on which the service fails. It writes nothing. */
  reject: (one: Planned, message: Message) => undefined;
}

/** Returns the writes of the records in a plan. */
export async function writesOf(
  tx: Transaction,
  { changes, deletions }: Plan,
  options: WriteOptions,
): Promise<RecordWrite[]> {
  const writes = deletions.map((one): RecordWrite => ({
    ...one,
    change: { method: "delete", id: one.id, source: sourceOf(one.analysed) },
    outcome: "deleted",
    messages: [],
  }));
  for await (const part of readProductsOf(tx, changes)) {
    writes.push(...await writesOfPart(tx, part, options));
  }
  return writes;
}

/** Returns the writes of these records, after their names were linked. */
async function writesOfPart(
  tx: Transaction,
  part: readonly Comparable[],
  options: WriteOptions,
): Promise<RecordWrite[]> {
  const compared = await mapEach(part, (each) => compare(each, options.edits), options);
  if (compared.length === 0) return [];
  const links = await linkRecords(tx, compared.map(({ merged }) => merged.written));
  const linked = compared.map((each, i) => ({ ...each, links: links[i]! }));
  const created = compared.flatMap(({ one }) => one.found ? [] : [one]);
  const deleted = await findDeleted(tx, created);
  const written = await mapEach(
    linked,
    (each) => {
      const write = writeOf(each, each.links, deleted, options.reject);
      return write && { write, parties: identifiersIn(each.incoming, each.book) };
    },
    options,
  );
  await tx.send(...fillIdentifiers(tx, written.flatMap(({ parties }) => parties)));
  return written.map(({ write }) => write);
}

/** Maps records one by one. One on which the service fails is rejected. */
async function mapEach<E extends { one: Planned }, Made>(
  all: readonly E[],
  make: (each: E) => Made | undefined,
  { pace, reject }: WriteOptions,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const each of all) {
    await pace();
    const one = catchDefect(() => make(each), () => reject(each.one, FAILED));
    if (one) made.push(one);
  }
  return made;
}

/** Returns the write of a record, unless it is rejected. */
function writeOf(
  compared: Compared,
  links: Links,
  deleted: ReadonlyMap<string, string>,
  reject: WriteOptions["reject"],
): RecordWrite | undefined {
  const { one, form, incoming, base, merged } = compared;
  const { analysed, found } = one;
  const { body, after, messages } = bodyOf(compared, links);
  const full = overfullIn(body);
  if (full) return reject(one, overfull(full));
  const { differences, isEdited } = differencesOf(
    after,
    incoming.values,
    merged.edited,
    base?.differences ?? null,
  );
  return {
    ...one,
    ...effectOf(compared, body, differences),
    record: {
      reference: found?.reference ?? analysed.analysis.reference,
      text: form.text,
      digest: form.digest,
      analysis: form === analysed.form ? analysed.cachedAnalysis : null,
      differences,
      ids: idsIn(form.record),
      isEdited,
    },
    messages: [
      ...referenceWarnings(one, deleted),
      ...merged.messages,
      ...messages,
      ...notOnSale(analysed.content),
    ],
  };
}

/** Returns the change that a record makes to its product. */
function effectOf(
  { one: { analysed, id, found }, book, form, received }: Compared,
  body: Entry,
  differences: Differences | null,
): Pick<RecordWrite, "change" | "outcome"> {
  const source = sourceOf(analysed);
  if (!found) return { change: { method: "create", id, body, source }, outcome: "created" };
  const changed = changedFields(book.product, body);
  const isOtherRecord = form.digest !== found.digest || found.has_own;
  // Even if no field changes, another record may change what is sent of the product.
  const isUpdated = Object.keys(changed).length > 0 ||
    isOtherRecord &&
      (!received || isSentOtherwise(book, received, { record: form.record, differences }));
  return {
    change: {
      method: "update",
      id,
      // The title is that of the product: a body without a field would write nothing.
      body: { title: book.product.title, ...changed },
      isWhole: true,
      source,
    },
    outcome: isUpdated ? "updated" : "unchanged",
  };
}

/** The record, as the history of its product names it. */
function sourceOf({ incomingRecord: { sent }, analysis: { reference } }: AnalysedRecord): Entry {
  return {
    sender: sent.sender,
    sent: sent.at === null ? null : new Date(sent.at).toISOString(),
    record_reference: reference,
  };
}

/** The warning of a record whose product had another reference, or was deleted. */
function referenceWarnings(
  { analysed: { analysis: { reference } }, found }: Planned,
  deleted: ReadonlyMap<string, string>,
): Message[] {
  if (!found) {
    const day = deleted.get(reference);
    return day ? [createdAgain(reference, day)] : [];
  }
  return found.reference === null || referencesOf(found).includes(reference)
    ? []
    : [otherReference(found.reference, reference)];
}
