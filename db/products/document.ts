import type { Entry } from "../../schema/bodies.ts";
import { parseExact } from "../../schema/numbers.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import { detailsJson, newDetailsJson, summaryJson } from "./product_json.ts";

/*
 * A product as JSON text, in SQL. Its document has two parts: `summary` holds the fields in
 * lists, `details` the arrays. It is built from the tables, or stored in `product_documents`
 * (`store.ts`). `read.ts` reads it.
 *
 * The stored document with the product's `change_version` is valid while its `names_version`
 * is the organization's. Every read compares both, so writes need not invalidate documents.
 *
 * The fragments are of product `p` of organization `o` and of document `d`.
 */

/** A full product as JSON text. */
export interface ProductJson {
  id: string;
  product: string;
}

/** Parses the JSON of a product, if there is any, with exact numbers. */
export function parseProduct(product: string): Entry;
export function parseProduct(product: string | null | undefined): Entry | undefined;
export function parseProduct(product: string | null | undefined) {
  return product ? parseExact(product) as Entry : undefined;
}

/** The full product, from document `d`, which is stored or built. */
export const fullProduct = raw("'{' || d.summary || ',' || d.details || '}'");

/** The size of document `d` in bytes, which PostgreSQL knows of a stored one without reading it. */
export const sizeOfDocument = raw(
  "(octet_length(d.summary) + octet_length(d.details))",
);

/** The maximum size of the JSON of a product, which `product_documents` requires. */
export const MAX_PRODUCT_BYTES = 4 * 2 ** 20;

export const maxBytes = raw(String(MAX_PRODUCT_BYTES));

/** The entity tag of `x.product`: the same expression as that of the column `etag`. */
export const tagOfProduct = raw(String.raw`'"' || left(
  translate(encode(sha256(replace(x.product, '\', '\\')::bytea), 'base64'), '+/', '-_'),
  27
) || '"'`);

/**
 * Joins the valid document `d`, or nulls. The limit forces a look-up by primary key. While
 * statistics show few documents, the planner would otherwise scan all documents of the
 * organization.
 */
export const validDocument = sql`
  left join lateral (
    select d.product_id, d.summary, d.details, d.etag
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = p.id
      and d.change_version = p.change_version and d.names_version = o.names_version
    limit 1
  ) d on true
`;

/** The document, built from the tables, with the columns of a stored one. */
const builtDocument = builtWith(detailsJson);

/** The same for a product that the transaction has created without arrays with a path of their own. */
const builtNewDocument = builtWith(newDetailsJson);

function builtWith(details: Statement): Statement {
  return sql`
    p.organization_id,
    p.id as product_id,
    p.change_version,
    p.updated_at,
    o.names_version,
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

/** The same for products that the transaction has created without arrays with a path of their own. */
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
