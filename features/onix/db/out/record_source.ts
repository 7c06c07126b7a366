import type { MessageForm } from "../../schema/rules/releases.ts";
import type { Differences } from "../../schema/merge/differences.ts";
import type { Ids } from "../../schema/codecs/ids.ts";
import type { Sender } from "../../schema/xml/write.ts";
import type { OwnTable } from "../../../../schema/records.ts";
import { organization, raw, sql, type Statement } from "../../../../db/connections/sql.ts";
import type { Queries } from "../../../../db/database.ts";
import { etagOf } from "../../../../db/entity_tag.ts";
import { type LongText, readLong } from "../../../../db/long_text.ts";
import {
  fullProduct,
  sizeOfDocument,
  validDocument,
} from "../../../../db/products/documents/document.ts";
import { productNotFound } from "../../../../db/products/errors/errors.ts";
import { jsonArray, recordWithId, selectRecord } from "../../../../db/row_json.ts";
import { viewConditions } from "../../../../db/products/lists/view.ts";
import type { View } from "../../../../schema/view.ts";
import { readBuilt } from "../../../../db/products/read.ts";
import { receivedRecord } from "./received.ts";
import { storedText, writingRules } from "./stored_texts.ts";

/*
 * The source of a product's record: the product, its contributors, the identifiers of its parties,
 * and the record received last.
 */

/** The source of a product's record. */
export interface RecordSource extends ProductMetadata {
  /** The full product as JSON text. */
  product: string;
}

/** The data that is stored alongside the JSON of a product. */
export interface ProductMetadata extends ReceivedRow, Sender {
  /** The identifiers of its publisher and its imprint, as a JSON object. */
  identifiers: string;
  /** The product's contributors as a JSON array, as `GET /contributors/{id}` shows them. */
  contributors: string;
  /** The reference of the product's record. Null without a record. */
  reference: string | null;
  digest: string | null;
}

/** The record last received, as stored. Null without one. */
export interface ReceivedRow {
  record: string | null;
  differences: Differences | null;
  /** The ids of the record's elements. */
  identities: Ids | null;
}

/** The identifiers of the party that a reference of product `p` names. */
function selectIdentifiers(table: OwnTable, reference: string): Statement {
  const party = recordWithId(table, raw(`p.${reference}`));
  return sql`(select r.identifiers ${party})`;
}

/** The fields of organization `o` for the header of messages, without its name. */
export const senderFields = sql`o.sender_identifiers, o.contact_name, o.email_address`;

/** Joins `parties`: the columns `identifiers` and `contributors` of `ProductMetadata`, of product `p`. */
export const joinedParties = sql`
  cross join lateral (
    select
      json_build_object(
        'publisher', ${selectIdentifiers("publishers", "publisher_id")},
        'imprint', ${selectIdentifiers("imprints", "imprint_id")}
      )::text as identifiers,
      ${
  jsonArray(sql`
        select ${selectRecord("contributors")}
        from contributors r
        -- The array forces look-ups by primary key.
        where r.organization_id = ${organization} and r.id = any(array(
          select x.contributor_id
          from product_contributors x
          where x.organization_id = ${organization} and x.product_id = p.id
        ))
        order by r.id
      `)
}::text as contributors
    offset 0
  ) parties
`;

/**
 * The columns of `ProductMetadata` without the record and its reference: organization `o`, record
 * `n`, and `joinedParties`.
 */
export const productMetadata = sql`
  o.name as organization,
  ${senderFields},
  parties.identifiers,
  parties.contributors,
  n.digest,
  n.differences,
  n.identities
`;

/** The record of a product, to be sent. */
interface OneRecord {
  /** Its text as it went out last, or the source from which it is written. */
  record: string | RecordSource;
  sender: Sender;
  etag: string;
}

/**
 * The record of a product, with its stored text in this form if that is as it would be written
 * now. Without a form, its source. Throws `NOT_FOUND`.
 */
export async function getOnixRecord(
  database: Queries,
  id: string,
  { form, view }: { form?: MessageForm | undefined; view?: View | undefined },
): Promise<OneRecord> {
  const row = await readLong(
    database,
    "lookUp",
    (allowed) => storedSource(id, allowed, form, view),
  );
  if (!row) throw productNotFound(id);
  const { stored, ...metadata } = row;
  const { text: product, etag: tag } = row.etag === null
    ? await readBuilt(database, id)
    : { text: row.product!, etag: row.etag };
  const { contributors, identifiers, reference, digest } = row;
  const parts = [
    writingRules(),
    tag,
    contributors,
    identifiers,
    senderText(row),
    reference,
    digest,
  ];
  return {
    record: stored ?? { ...metadata, product },
    sender: row,
    etag: etagOf(parts.join("\n")),
  };
}

/** The source of a product's record. Throws `NOT_FOUND`. */
export async function getSource(database: Queries, id: string): Promise<RecordSource> {
  const { record } = await getOnixRecord(database, id, {});
  // Without a form, there is no stored text.
  return record as RecordSource;
}

/** The fields of the sender as text, for entity tags. */
export function senderText(
  { organization, sender_identifiers, contact_name, email_address }: Sender,
): string {
  return JSON.stringify([organization, sender_identifiers, contact_name, email_address]);
}

/** The size of document `d` and record `n`, which is known without reading them. */
const sourceBytes = sql`(
  coalesce(${sizeOfDocument}, 0) + coalesce(octet_length(n.record), 0)
)`;

/**
 * The stored text of a record, or its source from the product's document. Texts are null if they
 * have more bytes than `allowed`.
 */
function storedSource(
  id: string,
  allowed: number,
  form: MessageForm | undefined,
  view: View | undefined,
) {
  const bytes = sql`coalesce(octet_length(t.stored), ${sourceBytes})`;
  const isRead = sql`t.stored is null and ${bytes} <= ${allowed}::int`;
  return sql<
    & ProductMetadata
    & { product: string | null; etag: string | null; stored: string | null }
    & LongText
  >`
      select
        case when ${isRead} then ${fullProduct} end as product,
        case when ${isRead} then n.record end as record,
        case when ${bytes} <= ${allowed}::int then t.stored end as stored,
        case when ${bytes} > ${allowed}::int then ${bytes} end as too_long,
        d.etag,
        n.record_reference as reference,
        ${productMetadata}
      from products p
      join organizations o on o.id = ${organization}
      ${validDocument}
      ${receivedRecord}
      ${joinedParties}
      ${storedText(form)}
      where p.organization_id = ${organization} and p.id = ${id} ${viewConditions(view)}
  `;
}
