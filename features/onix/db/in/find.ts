import { isbnNumber } from "../../../../schema/isbn.ts";
import { ownId, ownReference } from "../../schema/mapping/own_reference.ts";
import {
  isOneOfTexts,
  organization,
  sql,
  type Statement,
  unprepared,
} from "../../../../db/connections/sql.ts";
import type { Transaction } from "../../../../db/connections/transaction.ts";
import { sizeOfStored } from "../../../../db/products/read_many.ts";
import { hasIsbn, isbnKeys, type LockKey } from "../../../../db/products/change/keys.ts";
import { lockAndFind } from "../../../../db/products/write_together.ts";
import type { AnalysedRecord } from "./analysed_record.ts";
import { ownRecord, receivedRecord } from "../out/received.ts";

/*
 * Finds the products that records of a message may match, by references and ISBNs. Each is first
 * read without a lock, and again with one if something is to be written.
 */

/** A product that a record may match. */
export interface Found {
  id: string;
  isbn13: string | null;
  isbn10: string | null;
  /** The reference of its record. Null without a record. */
  reference: string | null;
  /** The other references of its records. */
  aliases: string[];
  /** The hash of the sender's last record, or of the last one of any. */
  digest: string | null;
  /** Who sent the record last received. */
  last_sender: string | null;
  /**
   * Whether the last record of this message's sender is also stored, because another sender's came
   * later.
   */
  has_own: boolean;
  /** Whether the product is unchanged since this sender's record, and no edit was kept. */
  is_current: boolean;
  /** When the sender of the message sent the latest message with the product, in milliseconds. */
  sent_at: number | null;
  /** The size of its JSON in bytes, if that is known. Absent as long as it is not locked. */
  bytes?: number | null;
}

/** The state of product `p`, its record `n` and the sender `x` when a message arrives. */
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

/** Product `p` with its record `n`, and the data `x` of this sender. */
function withRecord(sender: string | null): Statement {
  return sql`
    products p
    ${receivedRecord}
    ${ownRecord(sql`p.id`, sender)}
  `;
}

/**
 * Finds the products that records of one message may match. It is not prepared: a plan cached while
 * the tables were small would scan them when they are large.
 */
export function findProducts(records: readonly AnalysedRecord[]): Statement<Found> {
  return unprepared(sql`
    select ${FOUND}
    from ${withRecord(senderOf(records))}
    where p.organization_id = ${organization} and ${mayMatch(records)}
    order by p.id
  `);
}

/** Locks these products, and returns their state after that. */
export async function lockFound(
  tx: Transaction,
  records: readonly AnalysedRecord[],
): Promise<Found[]> {
  const from = withRecord(senderOf(records));
  return await lockAndFind(
    tx,
    productKeysOf(records),
    mayMatch(records),
    sql<Found>`select ${FOUND}, ${sizeOfStored} as bytes from ${from}`,
  );
}

/** The keys by which the records, and upserts of the same books, find products. */
function productKeysOf(records: readonly AnalysedRecord[]): LockKey[] {
  return records.flatMap(({ analysis }) => [
    { kind: "record_reference", value: analysis.reference },
    ...isbnKeys(analysis),
  ]);
}

/** The sender of the message with these records. */
function senderOf([first]: readonly AnalysedRecord[]): string | null {
  return first!.incomingRecord.sent.sender;
}

/** The condition that one of the records may match product `p`. */
function mayMatch(records: readonly AnalysedRecord[]): Statement {
  const references = records.map(({ analysis }) => analysis.reference);
  const isbns = records.flatMap(({ analysis }) => isbnNumber(analysis) ?? []);
  return sql`(${isReferredToBy(sql`p.id`, references)} or ${hasIsbn(isbns)})`;
}

/**
 * The condition that the product with this id has one of the references: its own, that of its
 * record, or an alias.
 */
export function isReferredToBy(id: Statement, references: readonly string[]): Statement {
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
