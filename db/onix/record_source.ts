import type { Differences } from "../../schema/onix/mapping/differences.ts";
import type { Ids } from "../../schema/onix/mapping/ids.ts";
import type { Sender } from "../../schema/onix/xml/write.ts";
import type { OwnTable } from "../../schema/records.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { etagOf } from "../entity_tag.ts";
import { jsonArray } from "../json_array.ts";
import { type LongText, readLong } from "../long_text.ts";
import { fullProduct, sizeOfDocument, validDocument } from "../products/document.ts";
import { productNotFound } from "../products/errors.ts";
import { recordWithId, selectRecord } from "../products/json.ts";
import { readBuilt } from "../products/read.ts";
import { receivedRecord } from "./received.ts";

/*
 * The source of a product's record, from which that record is written: the product, its
 * contributors, the identifiers of its parties, and the record last received.
 */

/** The source of a product's record. */
export interface RecordSource extends BesideProduct {
  /** The full product as JSON text. */
  product: string;
}

/** What is stored beside the JSON of a product. */
export interface BesideProduct extends ReceivedRow, Sender {
  /** The identifiers of its publisher and its imprint, as a JSON object. */
  identifiers: string;
  /** The product's contributors as a JSON array, as `GET /contributors/{id}` shows them. */
  contributors: string;
  /** The reference that the product is bound to. Null without a record. */
  reference: string | null;
  digest: string | null;
}

/** A record last received as it is stored. Null: there is none. */
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

/** What the header of messages says of organization `o` beside its name. */
export const senderFields = sql`o.sender_identifiers, o.contact_name, o.email_address`;

/** The columns of `BesideProduct` without the record and its reference: product `p`, organization `o`, record `n`. */
export const besideProduct = sql`
  o.name as organization,
  ${senderFields},
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
}::text as contributors,
  n.digest,
  n.differences,
  n.identities
`;

/** The source of a product's record, and its entity tag. Throws `NOT_FOUND`. */
export async function getSource(
  database: Queries,
  id: string,
): Promise<{ source: RecordSource; etag: string }> {
  const stored = await readLong(
    database,
    "lookUp",
    (allowed) => storedSource(id, allowed),
  );
  if (!stored) throw productNotFound(id);
  const { text: product, etag: tag } = stored.etag === null
    ? await readBuilt(database, id)
    : { text: stored.product!, etag: stored.etag };
  const { organization: name, contributors, identifiers, reference, digest } = stored;
  const { sender_identifiers, contact_name, email_address } = stored;
  const sender = JSON.stringify([
    name,
    sender_identifiers,
    contact_name,
    email_address,
  ]);
  const parts = [tag, contributors, identifiers, sender, reference, digest];
  return {
    source: { ...stored, product },
    etag: etagOf(parts.join("\n")),
  };
}

/** The size of document `d` and record `n`, which is known without reading them. */
const sourceBytes = sql`(
  coalesce(${sizeOfDocument}, 0) + coalesce(octet_length(n.record), 0)
)`;

/** A source from the product's document, null if it has more bytes than `allowed`. */
function storedSource(id: string, allowed: number) {
  return sql<
    & BesideProduct
    & { product: string | null; etag: string | null }
    & LongText
  >`
      select
        case when ${sourceBytes} <= ${allowed}::int then ${fullProduct} end as product,
        case when ${sourceBytes} <= ${allowed}::int then n.record end as record,
        case when ${sourceBytes} > ${allowed}::int then ${sourceBytes} end as too_long,
        d.etag,
        n.record_reference as reference,
        ${besideProduct}
      from products p
      join organizations o on o.id = ${organization}
      ${validDocument}
      ${receivedRecord}
      where p.organization_id = ${organization} and p.id = ${id}
  `;
}
