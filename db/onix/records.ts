import type { Entry } from "../../schema/bodies.ts";
import { parseExact } from "../../schema/numbers.ts";
import type { Last, Merged } from "../../schema/onix/mapping/edits.ts";
import type { Edits } from "../../schema/onix/mapping/options.ts";
import {
  type Incoming,
  replaceBlocks,
} from "../../schema/onix/mapping/incoming.ts";
import type { Book } from "../../schema/onix/mapping/codec.ts";
import {
  type Differences,
  differences,
  type Received,
  valuesOf,
  writeRecord,
} from "../../schema/onix/mapping/outgoing.ts";
import {
  addIdentities,
  identitiesOfNew,
} from "../../schema/onix/mapping/identity.ts";
import { inTurns, type Steps } from "../../schema/onix/xml/steps.ts";
import { fromStored } from "../../schema/onix/xml/write.ts";
import {
  isOneOf,
  json,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { readInGroups } from "../products/documents.ts";
import {
  type BesideProduct,
  besideProduct,
  byId,
  contributorsOf,
  receivedRecord,
} from "./books.ts";
import { type Item, storedForm } from "./items.ts";
import { ownId, ownReference, referencesOf } from "./find.ts";
import type { Planned } from "./plan.ts";

/* The records that are stored beside products. */

/** What is stored beside these products, by id. */
export async function readStored(tx: Transaction, changes: readonly Planned[]) {
  const ids = changes.map(({ id }) => id);
  const [rows] = await tx.send(sql<BesideProduct & { id: string }>`
    select p.id, n.record, n.record_reference as reference, ${besideProduct}
    from products p
    join organizations o on o.id = ${organization}
    ${receivedRecord}
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `);
  return new Map(rows.map((row) => [row.id, row]));
}

/** A record in the form in which it is stored. */
export type StoredForm = Pick<Item, "record" | "text" | "digest">;

/** The record last received, with its values. */
export interface LastRecord extends Received, Last {}

/** The record last received, if there is one, before this one. */
export function* lastOf(
  { record, differences, identities }: BesideProduct,
  incoming: Incoming,
): Steps<LastRecord | null> {
  if (record === null) return null;
  const received = yield* fromStored(record);
  const values = yield* valuesOf(received, incoming);
  addIdentities(values, identities);
  return { record: received, differences, identities, values };
}

/** The record to store: that of the message, or the last one with the blocks of a partial update. */
export function* formToStore(
  { item, found }: Planned,
  book: Book,
  last: LastRecord | null,
  edits: Edits,
): Steps<StoredForm> {
  if (item.incoming.notification !== "04") return item;
  const base = last && (found!.is_current || edits !== "overwrite")
    ? last.record
    // What requests have changed since stays changed.
    : (yield* writeRecord(book, last, "3.1")).record;
  const updated = replaceBlocks(base, item.record);
  return { record: updated, ...yield* storedForm(updated) };
}

/** The differences to store: earlier ones of kept fields, new ones of others that were not edited. */
export function keptDifferences(
  before: Differences | null,
  kept: ReadonlySet<string>,
  edited: ReadonlySet<string>,
  now: Differences | null = null,
): Differences | null {
  const isKept = ([name]: [string, unknown]) => kept.has(name);
  const isWritten = ([name]: [string, unknown]) =>
    !kept.has(name) && !edited.has(name);
  const all = [
    ...Object.entries(before ?? {}).filter(isKept),
    ...Object.entries(now ?? {}).filter(isWritten),
  ];
  return all.length > 0 ? Object.fromEntries(all) : null;
}

/** Stores the records of written products, whose JSON has these sizes in bytes. */
export async function storeRecords(
  tx: Transaction,
  changes: readonly (Planned & { form: StoredForm; merged?: Merged })[],
  sizes: ReadonlyMap<string, number | null>,
  pace: () => Promise<void>,
): Promise<void> {
  if (changes.length === 0) return;
  const ids = changes.map(({ id }) => id);
  const byProduct = new Map(changes.map((change) => [change.id, change]));
  const [[beside]] = await tx.send(
    sql<{ organization: string; contributors: string }>`
      select
        o.name as organization,
        ${contributorsOf(isOneOf(ids))} as contributors
      from organizations o
      where o.id = ${organization}
    `,
  );
  const contributors = byId(beside!.contributors);
  const rows: ProductRow[] = [];
  const sized = Array.from(sizes, ([id, bytes]) => ({ id, bytes }));
  for await (const products of readInGroups(tx, sized)) {
    for (const { id, product } of products) {
      await pace();
      const { item, found, form, merged } = byProduct.get(id)!;
      const { record, text, digest } = form;
      const reference = found?.reference ?? item.incoming.reference;
      const book = {
        product: parseExact(product) as Entry,
        contributors,
        organization: beside!.organization,
        reference,
      };
      const values = record === item.record
        ? item.incoming.values
        : await inTurns(valuesOf(record), pace);
      const now = differences(book, values);
      rows.push({
        product_id: id,
        record_reference: reference,
        record: text,
        digest,
        differences: merged
          ? keptDifferences(merged.before, merged.kept, merged.edited, now)
          : now,
        identities: merged?.identitiesIn(book) ?? identitiesOfNew(book),
        is_edited: merged !== undefined && merged.edited.size > 0,
      });
    }
  }
  const columns = sql`
    record_reference text, record text, digest text, differences jsonb, identities jsonb,
    is_edited boolean
  `;
  await tx.send(sql`
    insert into onix_records (
      organization_id, product_id, record_reference, record, digest, product_updated_at, differences,
      identities
    )
    select
      p.organization_id, p.id, r.record_reference, r.record, r.digest,
      -- A product that keeps edits does not say what the record says.
      case when not r.is_edited then p.updated_at end,
      r.differences, r.identities
    ${fromProductsOf(rows, columns)}
    on conflict (organization_id, product_id) do update set
      record = excluded.record,
      digest = excluded.digest,
      product_updated_at = excluded.product_updated_at,
      differences = excluded.differences,
      identities = excluded.identities
  `);
}

/**
 * Notes the references under which records have come besides that of their product. Where
 * a product went out under its own id until a record bound it, the feed deletes that.
 */
export function noteReferences(done: readonly Planned[]): Statement[] {
  const aliases: ProductRow[] = [];
  const retired: ProductRow[] = [];
  for (
    const { item: { incoming: { reference, notification } }, id, found } of done
  ) {
    if (!found || notification === "05") continue;
    if (ownId(reference) === id || referencesOf(found).includes(reference)) {
      continue;
    }
    if (found.reference === null) {
      retired.push({ product_id: id, record_reference: ownReference(id) });
    } else aliases.push({ product_id: id, record_reference: reference });
  }
  const referring = sql`record_reference text`;
  return [
    ...aliases.length > 0
      ? [sql`
        insert into onix_aliases (organization_id, record_reference, product_id)
        select p.organization_id, r.record_reference, p.id
        ${fromProductsOf(aliases, referring)}
        on conflict (organization_id, record_reference) do nothing
      `]
      : [],
    ...retired.length > 0
      ? [sql`
        insert into onix_retired (organization_id, id, record_reference)
        select p.organization_id, overlay(p.id::text placing '00000000' from 1)::uuid, r.record_reference
        ${fromProductsOf(retired, referring)}
        on conflict (organization_id, id) do nothing
      `]
      : [],
  ];
}

/** Notes when a sender has sent these records, unless a later time is known. */
export function noteSenders(records: readonly Planned[]): Statement[] {
  const rows = records.flatMap(({ item: { sent, incoming }, id, found }) => {
    const { sender, at } = sent;
    if (sender === null || at === null || incoming.notification === "05") {
      return [];
    }
    const isKnown = (found?.sent_at ?? -Infinity) >= at;
    const sent_at = new Date(at).toISOString();
    return isKnown ? [] : [{ product_id: id, sender_name: sender, sent_at }];
  });
  if (rows.length === 0) return [];
  return [sql`
    insert into onix_senders (organization_id, product_id, sender_name, sent_at)
    select p.organization_id, p.id, r.sender_name, r.sent_at
    ${fromProductsOf(rows, sql`sender_name text, sent_at timestamptz`)}
    on conflict (organization_id, product_id, sender_name) do update set
      sent_at = greatest(onix_senders.sent_at, excluded.sent_at)
  `];
}

/** A row of a table that belongs to products. */
interface ProductRow extends Entry {
  product_id: string;
}

/** The products `p` of these rows that exist, with their rows `r`. */
function fromProductsOf(
  rows: readonly ProductRow[],
  columns: Statement,
): Statement {
  const ids = rows.map(({ product_id }) => product_id);
  return sql`
    from products p
    join jsonb_to_recordset(${json(rows)}) r (product_id uuid, ${columns})
      on r.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `;
}
