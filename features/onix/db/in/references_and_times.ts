import { ownId, ownReference } from "../../schema/mapping/own_reference.ts";
import { DELETION } from "../../schema/rules/notifications.ts";
import { sql, type Statement } from "../../../../db/connections/sql.ts";
import { referencesOf } from "./find.ts";
import type { Planned, PlanOptions } from "./plan.ts";
import { fromProductsOf, type ProductRow } from "./product_rows.ts";

/* Stores the references of records and the times of their messages. */

/**
 * Stores references of records other than that of their product. If a product was sent under its
 * own id before it had a record, the feed then deletes that id.
 */
export function storeReferences(done: readonly Planned[]): Statement[] {
  const aliases: ProductRow[] = [];
  const retired: ProductRow[] = [];
  for (const { analysed: { analysis: { reference, notification } }, id, found } of done) {
    if (!found || notification === DELETION) continue;
    if (ownId(reference) === id || referencesOf(found).includes(reference)) continue;
    const isBound = found.reference !== null;
    if (isBound) aliases.push({ product_id: id, record_reference: reference });
    else retired.push({ product_id: id, record_reference: ownReference(id) });
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
    // The deletion has a position of its own in the feed: the product's id with the time of 1970 in it
    // (RFC 9562, 5.7), so that it comes before the product itself.
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

/** Stores when a sender has sent these records: the latest time, or with `stale=apply` this one. */
export function storeSendingTimes(
  records: readonly Planned[],
  { stale }: PlanOptions,
): Statement[] {
  const rows = records.flatMap(({ analysed: { incomingRecord, analysis }, id, found }) => {
    const { sender, at } = incomingRecord.sent;
    if (sender === null || at === null || analysis.notification === DELETION) {
      return [];
    }
    const sent_at = new Date(at).toISOString();
    return found?.sent_at === at ? [] : [{ product_id: id, sender_name: sender, sent_at }];
  });
  if (rows.length === 0) return [];
  return [sql`
    insert into onix_senders (organization_id, product_id, sender_name, sent_at)
    select p.organization_id, p.id, r.sender_name, r.sent_at
    ${fromProductsOf(rows, sql`sender_name text, sent_at timestamptz`)}
    on conflict (organization_id, product_id, sender_name) do update set
      sent_at = ${
    stale === "apply"
      ? sql`excluded.sent_at`
      : sql`greatest(onix_senders.sent_at, excluded.sent_at)`
  }
  `];
}
