import type { Entry } from "../../schema/bodies.ts";
import type { Ids } from "../../schema/onix/mapping/ids.ts";
import type { Differences } from "../../schema/onix/mapping/outgoing.ts";
import {
  isOneOf,
  json,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { type BesideProduct, besideProduct, receivedRecord } from "./books.ts";
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

/** What is stored of a record beside its product. */
export interface StoredRecord {
  reference: string;
  text: string;
  digest: string;
  differences: Differences | null;
  ids: Ids;
  /** Whether the product keeps edits, so that it does not say what the record says. */
  isEdited: boolean;
}

/** Stores the records of written products. */
export function storeRecords(
  changes: readonly { id: string; stored?: StoredRecord }[],
): Statement[] {
  const rows = changes.flatMap(({ id, stored }): ProductRow[] =>
    stored
      ? [{
        product_id: id,
        record_reference: stored.reference,
        record: stored.text,
        digest: stored.digest,
        differences: stored.differences,
        identities: stored.ids,
        is_edited: stored.isEdited,
      }]
      : []
  );
  if (rows.length === 0) return [];
  const columns = sql`
    record_reference text, record text, digest text, differences jsonb, identities jsonb,
    is_edited boolean
  `;
  return [sql`
    insert into onix_records (
      organization_id, product_id, record_reference, record, digest, product_updated_at, differences,
      identities
    )
    select
      p.organization_id, p.id, r.record_reference, r.record, r.digest,
      case when not r.is_edited then p.updated_at end,
      r.differences, r.identities
    ${fromProductsOf(rows, columns)}
    on conflict (organization_id, product_id) do update set
      record = excluded.record,
      digest = excluded.digest,
      product_updated_at = excluded.product_updated_at,
      differences = excluded.differences,
      identities = excluded.identities
  `];
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
