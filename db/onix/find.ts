import { isbnNumber } from "../../schema/isbn.ts";
import { ownId, ownReference } from "../../schema/onix/mapping/own_reference.ts";
import { isOneOfTexts, organization, sql, type Statement, unprepared } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { sizeOfStored } from "../products/read_many.ts";
import { hasIsbn, isbnKeys, type LockKey } from "../products/keys.ts";
import { lockAndFind } from "../products/write_together.ts";
import type { Item } from "./items.ts";
import { ownRecord, receivedRecord } from "./received.ts";

/*
 * The products that the records of a message may be of, by their references and ISBNs. Each is read
 * without a lock first, and again with one if something is to be written.
 */

/** A product that a record may be of. */
export interface Found {
  id: string;
  isbn13: string | null;
  isbn10: string | null;
  /** The reference that it is bound to. Null without a record. */
  reference: string | null;
  /** The other references under which its records came. */
  aliases: string[];
  /** The hash of the sender's last record, or of the last one of any. */
  digest: string | null;
  /** Who sent the record last received. */
  last_sender: string | null;
  /** Whether the last record of this message's sender is stored, too, since another one's came later. */
  has_own: boolean;
  /** Whether the product is as this sender's record left it: nothing has changed it since, and no edit was kept. */
  is_current: boolean;
  /** When the sender of the message sent the latest message with the product, in milliseconds. */
  sent_at: number | null;
  /** The size of its JSON in bytes, if that is known. Absent as long as it is not locked. */
  bytes?: number | null;
}

/** What is known of product `p`, its record `n` and the sender `x` when a message arrives. */
const FOUND = sql`
    p.id,
    p.isbn13,
    p.isbn10,
    n.record_reference as reference,
    to_jsonb(array(
      select a.record_reference
      from onix_aliases a
      where a.organization_id = ${organization} and a.product_id = p.id
    )) as aliases,
    coalesce(x.digest, n.digest) as digest,
    n.sender_name as last_sender,
    x.digest is not null as has_own,
    coalesce(n.product_updated_at = p.updated_at and x.digest is null, false) as is_current,
    extract(epoch from x.sent_at)::float8 * 1000 as sent_at
`;

/** Product `p` with its record `n`, and what is known of this sender `x`. */
function withRecord(sender: string | null): Statement {
  return sql`
    products p
    ${receivedRecord}
    ${ownRecord(sql`p.id`, sender)}
  `;
}

/**
 * The products that the records of one message may be of. It is not prepared: a plan cached
 * while the tables were small would scan them when they are large.
 */
export function findProducts(items: readonly Item[]): Statement<Found> {
  return unprepared(sql`
    select ${FOUND}
    from ${withRecord(senderOf(items))}
    where p.organization_id = ${organization} and ${mayBeOf(items)}
    order by p.id
  `);
}

/** Locks these products, and returns them as they are after that. */
export async function lockFound(
  tx: Transaction,
  items: readonly Item[],
): Promise<Found[]> {
  const from = withRecord(senderOf(items));
  return await lockAndFind(
    tx,
    productKeysOf(items),
    mayBeOf(items),
    sql<Found>`select ${FOUND}, ${sizeOfStored} as bytes from ${from}`,
  );
}

/** The keys by which the records, and upserts of the same books, find products. */
function productKeysOf(items: readonly Item[]): LockKey[] {
  return items.flatMap(({ gist }) => [
    { kind: "record_reference", value: gist.reference },
    ...isbnKeys(gist),
  ]);
}

/** The sender of the message that these records are of. */
function senderOf([item]: readonly Item[]): string | null {
  return item!.arrived.sent.sender;
}

/** The condition that one of the records may be of product `p`. */
function mayBeOf(items: readonly Item[]): Statement {
  const references = items.map(({ gist }) => gist.reference);
  const isbns = items.flatMap(({ gist }) => isbnNumber(gist) ?? []);
  return sql`(${isBoundTo(sql`p.id`, references)} or ${hasIsbn(isbns)})`;
}

/** The condition that records with one of the references find the product with this id by that. */
export function isBoundTo(id: Statement, references: readonly string[]): Statement {
  const ids = references.flatMap((reference) => ownId(reference) ?? []);
  return sql`${id} = any(array(
    select unnest(string_to_array(${ids.join()}, ',')::uuid[])
    union all
    select b.product_id
    from onix_records b
    where b.organization_id = ${organization}
      and b.record_reference ${isOneOfTexts(references)}
    union all
    select a.product_id
    from onix_aliases a
    where a.organization_id = ${organization}
      and a.record_reference ${isOneOfTexts(references)}
  ))`;
}

/** The references by which records find the product. */
export function referencesOf({ id, reference, aliases }: Found): string[] {
  return [
    ...reference === null ? [] : [reference],
    ...aliases,
    ownReference(id),
  ];
}
