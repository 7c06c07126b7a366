import { hash } from "node:crypto";
import type { Entry } from "../../../schema/bodies.ts";
import { parsePieces } from "../../../schema/json_pieces.ts";
import { inTurns, type Pace } from "../../../schema/turns.ts";
import { joinByKey, organization, raw, sql, type Statement } from "../../connections/sql.ts";
import { detailsJson, newDetailsJson, summaryJson } from "./product_json.ts";
import { MAX_PRODUCT_BYTES } from "../../sizes.ts";

/*
 * Builds a product as JSON text in SQL, and decides whether a stored text is valid. The document of
 * a product has two parts: `summary` has the fields in lists, `details` the arrays. It is built
 * from the tables, or stored in `product_documents` (`store.ts`). `read.ts` reads it.
 *
 * A stored document is valid for the product's `change_version` while its `names_version` is the
 * organization's plus a digest of the SQL that builds documents. Every read compares both, so
 * writes need not invalidate documents. A release that shows another field builds older documents
 * again.
 *
 * The fragments are of product `p` of organization `o` and of document `d`.
 */

/** A full product as JSON text. */
export interface ProductJson {
  id: string;
  product: string;
}

/** Parses the JSON of a product with exact numbers, in turns. */
export async function parseProduct(product: string, pace: Pace): Promise<Entry> {
  return await inTurns(parsePieces(product), pace) as Entry;
}

/** The full product, from document `d`, which is stored or built. */
export const fullProduct = raw("'{' || d.summary || ',' || d.details || '}'");

/** The JSON of version `d`, or null for a deletion and a product over 4 MiB. */
export const versionJson = sql`case when d.summary <> '' then ${fullProduct} end`;

/** The size of document `d` in bytes, which PostgreSQL knows of a stored one without reading it. */
export const sizeOfDocument = raw(
  "(octet_length(d.summary) + octet_length(d.details))",
);

export const maxBytes = raw(String(MAX_PRODUCT_BYTES));

/** The entity tag of `x.product`: the same expression as that of the column `etag`. */
export const tagOfProduct = raw(String.raw`'"' || left(
  translate(encode(sha256(replace(x.product, '\', '\\')::bytea), 'base64'), '+/', '-_'),
  27
) || '"'`);

/** A number from a digest of SQL texts: 48 bits, so that it can be added to a version. */
export function digestOf(...statements: readonly Statement[]): number {
  const text = statements.flatMap(({ strings }) => strings).join("$");
  return parseInt(hash("sha256", text).slice(0, 12), 16);
}

/** The digest of the SQL function `shown_values`, which a test compares: no file is read for it. */
export const SHOWN_VALUES = 151_025_431_827_905;

/** What a document shows follows from these. Names of records and codes have triggers. */
const digest = digestOf(summaryJson, detailsJson, raw(String(SHOWN_VALUES)));

/** The `names_version` of a valid document. */
const validNames = sql`o.names_version + ${raw(String(digest))}`;

/** Joins the valid document `d`, or nulls. */
export const validDocument = joinByKey(
  "d",
  sql`select d.product_id, d.summary, d.details, d.etag
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = p.id
      and d.change_version = p.change_version and d.names_version = ${validNames}`,
);

/** The document, built from the tables, with the columns of a stored one. */
const builtDocument = builtWith(detailsJson);

/** The document of a product that the transaction has created, without arrays with a path of their own. */
const builtNewDocument = builtWith(newDetailsJson);

function builtWith(details: Statement): Statement {
  return sql`
    p.organization_id,
    p.id as product_id,
    p.change_version,
    p.updated_at,
    ${validNames} as names_version,
    ${summaryJson} as summary,
    ${details} as details
  `;
}

/** The full product, from the valid document `d` or the tables. */
export const currentProduct = sql`coalesce(
  ${fullProduct},
  (select ${fullProduct} from (select ${builtDocument}) d)
)`;

/**
 * The documents of the products whose id meets the condition, built from the tables. WHERE is the
 * last clause, so that callers can append conditions.
 */
export function buildDocuments(isId: Statement): Statement {
  return buildAs(builtDocument, isId);
}

/** The documents of products that the transaction has created without arrays with a path of their own. */
export function buildNewDocuments(isId: Statement): Statement {
  return buildAs(builtNewDocument, isId);
}

function buildAs(document: Statement, isId: Statement): Statement {
  return sql`
    select ${document}
    from products p
    join organizations o on o.id = ${organization}
    where p.organization_id = ${organization} and p.id ${isId}
  `;
}
