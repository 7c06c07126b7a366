import { type Entry, overfullIn } from "../../schema/bodies.ts";
import { guarded } from "../../schema/defects.ts";
import { type Differences, differencesOf } from "../../schema/onix/mapping/differences.ts";
import { idsIn } from "../../schema/onix/mapping/ids.ts";
import type { Edits } from "../../schema/onix/mapping/options.ts";
import type { Message } from "../../schema/onix/report/message.ts";
import type { Outcome } from "../../schema/onix/report/report.ts";
import type { Transaction } from "../connections/transaction.ts";
import { changedFields } from "../products/changed_fields.ts";
import type { Cause } from "../products/write_together.ts";
import { bodyOf } from "./body.ts";
import { compare, type Compared, isSentOtherwise } from "./compare.ts";
import { referencesOf } from "./find.ts";
import type { Item } from "./items.ts";
import { linkRecords, type Links } from "./links.ts";
import { fillIdentifiers, identifiersIn } from "./party_identifiers.ts";
import type { Plan, Planned } from "./plan.ts";
import { createdAgain, FAILED, notOnSale, otherReference, overfull } from "./record_messages.ts";
import type { StoredRecord } from "./records.ts";
import { type Comparable, findDeleted, readProductsOf } from "./stored_products.ts";

/* What the records of a plan write: changes of products, and what is stored beside them. */

/** What a record writes. With the outcome `unchanged` the record is stored, and its product is not written. */
export interface RecordWrite extends Planned, Cause {
  outcome: Outcome["outcome"];
  messages: readonly Message[];
  /** The record to store. Absent for a deletion. */
  record?: StoredRecord;
}

interface WriteOptions {
  edits: Edits;
  pace: () => Promise<void>;
  /** Called with a record at fault, or at which the service fails. It writes nothing. */
  reject: (one: Planned, message: Message) => undefined;
}

/** What the records of a plan write. */
export async function writesOf(
  tx: Transaction,
  { changes, deletions }: Plan,
  options: WriteOptions,
): Promise<RecordWrite[]> {
  const writes = deletions.map((one): RecordWrite => ({
    ...one,
    change: { method: "delete", id: one.id, source: sourceOf(one.item) },
    outcome: "deleted",
    messages: [],
  }));
  for await (const part of readProductsOf(tx, changes)) {
    writes.push(...await writesOfPart(tx, part, options));
  }
  return writes;
}

/** What these records write, after what they name has been found or created. */
async function writesOfPart(
  tx: Transaction,
  part: readonly Comparable[],
  options: WriteOptions,
): Promise<RecordWrite[]> {
  const compared = await ofEach(part, (each) => compare(each, options.edits), options);
  if (compared.length === 0) return [];
  const links = await linkRecords(tx, compared.map(({ merged }) => merged.written));
  const linked = compared.map((each, i) => ({ ...each, links: links[i]! }));
  const created = compared.flatMap(({ one }) => one.found ? [] : [one]);
  const deleted = await findDeleted(tx, created);
  const written = await ofEach(
    linked,
    (each) => {
      const write = writeOf(each, each.links, deleted, options.reject);
      return write && { write, parties: identifiersIn(each.now, each.book) };
    },
    options,
  );
  await tx.send(...fillIdentifiers(written.flatMap(({ parties }) => parties)));
  return written.map(({ write }) => write);
}

/** What is made of each record, one by one. One at which the service fails is rejected. */
async function ofEach<E extends { one: Planned }, Made>(
  all: readonly E[],
  make: (each: E) => Made | undefined,
  { pace, reject }: WriteOptions,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const each of all) {
    await pace();
    const one = guarded(() => make(each), () => reject(each.one, FAILED));
    if (one) made.push(one);
  }
  return made;
}

/** What a record writes, unless it is rejected. */
function writeOf(
  compared: Compared,
  links: Links,
  deleted: ReadonlyMap<string, string>,
  reject: WriteOptions["reject"],
): RecordWrite | undefined {
  const { one, form, now, last, merged } = compared;
  const { item, found } = one;
  const { body, after, messages } = bodyOf(compared, links);
  const full = overfullIn(body);
  if (full) return reject(one, overfull(full));
  const { differences, isEdited } = differencesOf(
    after,
    now.values,
    merged.edited,
    last?.differences ?? null,
  );
  return {
    ...one,
    ...effectOf(compared, body, differences),
    record: {
      reference: found?.reference ?? item.gist.reference,
      text: form.text,
      digest: form.digest,
      gist: form === item.form ? item.storedGist : null,
      differences,
      ids: idsIn(form.record),
      isEdited,
    },
    messages: [
      ...referenceWarnings(one, deleted),
      ...merged.messages,
      ...messages,
      ...notOnSale(item.incoming),
    ],
  };
}

/** What the record does to its product, which it creates or changes. */
function effectOf(
  { one: { item, id, found }, book, form, received }: Compared,
  body: Entry,
  differences: Differences | null,
): Pick<RecordWrite, "change" | "outcome"> {
  const source = sourceOf(item);
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
function sourceOf({ arrived: { sent }, gist: { reference } }: Item): Entry {
  return {
    sender: sent.sender,
    sent: sent.at === null ? null : new Date(sent.at).toISOString(),
    record_reference: reference,
  };
}

/** The warning of a record whose product had another reference, or was deleted. */
function referenceWarnings(
  { item: { gist: { reference } }, found }: Planned,
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
