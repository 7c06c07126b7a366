import { isOneOf, isOneOfTexts, organization, sql } from "../../../../db/connections/sql.ts";
import type { Transaction } from "../../../../db/connections/transaction.ts";
import { readInGroups } from "../../../../db/products/read_many.ts";
import type { Planned } from "./plan.ts";
import {
  joinedParties,
  type ProductMetadata,
  productMetadata,
  type ReceivedRow,
  type RecordSource,
} from "../out/record_source.ts";
import { ownRecord, receivedRecord } from "../out/received.ts";

/*
 * Reads the products that records change, with their stored records, and the deletions of products
 * that are created again.
 */

/** The last record of the message's sender, if another sender's came later. */
interface WithOwn {
  own: ReceivedRow;
}

/** A stored product with its metadata. */
export interface StoredProduct extends RecordSource, WithOwn {}

/** A record that is to be compared with its product. */
export interface Comparable {
  one: Planned;
  /** Null: there is no product yet. */
  stored: StoredProduct | null;
}

/** Reads the products of these records: the new ones come at once, the others in parts of a bounded size. */
export async function* readProductsOf(
  tx: Transaction,
  changes: readonly Planned[],
): AsyncGenerator<Comparable[]> {
  const created = changes.filter(({ found }) => !found);
  if (created.length > 0) yield created.map((one) => ({ one, stored: null }));
  const changed = changes.filter(({ found }) => found);
  if (changed.length === 0) return;
  const metadata = await findMetadata(tx, changed);
  const byId = new Map(changed.map((one) => [one.id, one]));
  const sized = changed.map(({ id, found }) => ({ id, bytes: found!.bytes ?? null }));
  for await (const products of readInGroups(tx, sized)) {
    yield products.map(({ id, product }) => ({
      one: byId.get(id)!,
      stored: { ...metadata.get(id)!, product },
    }));
  }
}

/** Reads the metadata of these products, by id. */
async function findMetadata(
  tx: Transaction,
  changes: readonly Planned[],
): Promise<ReadonlyMap<string, ProductMetadata & WithOwn>> {
  const ids = changes.map(({ id }) => id);
  const sender = changes[0]!.analysed.incomingRecord.sent.sender;
  const [rows] = await tx.send(sql<ProductMetadata & WithOwn & { id: string }>`
    select
      p.id,
      n.record,
      n.record_reference as reference,
      ${productMetadata},
      jsonb_build_object(
        'record', x.record, 'differences', x.differences, 'identities', x.identities
      ) as own
    from products p
    join organizations o on o.id = ${organization}
    ${receivedRecord}
    ${joinedParties}
    ${ownRecord(sql`p.id`, sender)}
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The days on which products with the references of these records were deleted, by reference. */
export async function findDeleted(
  tx: Transaction,
  changes: readonly Planned[],
): Promise<ReadonlyMap<string, string>> {
  const references = changes.map(({ analysed }) => analysed.analysis.reference);
  if (references.length === 0) return new Map();
  const [rows] = await tx.send(sql<{ reference: string; day: string }>`
    select x.record_reference as reference, to_char(x.deleted_at at time zone 'UTC', 'YYYY-MM-DD') as day
    from product_deletions x
    where x.organization_id = ${organization}
      and x.record_reference ${isOneOfTexts(references)}
    order by x.deleted_at
  `);
  return new Map(rows.map(({ reference, day }) => [reference, day]));
}
