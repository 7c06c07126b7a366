import {
  isOneOf,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { nestedJson, newNestedJson } from "./nested_json.ts";
import { scalarsJson } from "./scalars_json.ts";

/*
 * The table `product_documents` caches each product's JSON: `summary` holds the
 * fields in lists, `details` the nested arrays, `etag` the entity tag. A document is
 * valid while its `updated_at` equals the product's and its `names_version` the
 * organization's. Every read compares both, so writes need not delete stale documents.
 */

/** A full product as JSON text. */
export interface Answer {
  id: string;
  product: string;
}

/**
 * Joins the valid document `d`, or nulls, to product `p` of organization `o`. The
 * limit forces a look-up by primary key. While statistics show few documents, the
 * planner would otherwise scan all documents of the organization.
 */
export const validDocument = sql`
  left join lateral (
    select d.product_id, d.summary, d.details, d.etag
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = p.id
      and d.updated_at = p.updated_at and d.names_version = o.names_version
    limit 1
  ) d on true
`;

/** The full product, from document `d`. */
export const fullAnswer = sql`'{' || d.summary || ',' || d.details || '}'`;

/** The document of product `p` of organization `o`, built from the tables. */
export const builtDocument = builtWith(nestedJson);

/** The same for a product that the transaction has created. */
export const builtNewDocument = builtWith(newNestedJson);

function builtWith(nested: Statement): Statement {
  return sql`
    p.organization_id,
    p.id,
    p.updated_at,
    o.names_version,
    ${scalarsJson} as summary,
    ${nested} as details
  `;
}

/** The columns of a document, in the order of `builtDocument`. */
export const documentColumns =
  sql`organization_id, product_id, updated_at, names_version, summary, details`;

export const onConflict = sql`
  on conflict (organization_id, product_id) do update set
    updated_at = excluded.updated_at,
    names_version = excluded.names_version,
    summary = excluded.summary,
    details = excluded.details
`;

const builtProductJson = sql`'{' || b.summary || ',' || b.details || '}'`;

type StoredProduct =
  | { product: string; etag: string }
  | { product: null; etag: null };

/**
 * The product from its document, with its entity tag, or nulls without a valid
 * document. No row if the product does not exist.
 */
export function storedProduct(id: string): Statement<StoredProduct> {
  return sql`
    select ${fullAnswer} as product, d.etag
    from products p
    join organizations o on o.id = ${organization}
    ${validDocument}
    where p.organization_id = ${organization} and p.id = ${id}
  `;
}

/** The products, from their documents or the tables. Products that do not exist have no row. */
export function currentProducts(...ids: string[]): Statement<Answer> {
  return sql`
    select
      p.id,
      coalesce(
        ${fullAnswer},
        (select ${builtProductJson} from (select ${builtDocument}) b)
      ) as product
    from products p
    join organizations o on o.id = ${organization}
    ${validDocument}
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `;
}

/** The product, built from the tables. No row if it does not exist. */
export function builtProduct(id: string) {
  return sql<Answer & { is_storable: boolean }>`
    select b.id, ${builtProductJson} as product, b.names_version is not null as is_storable
    from (
      select ${builtDocument}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization} and p.id = ${id}
    ) b
  `;
}

/**
 * Builds the documents of these products, and stores the smallest, at most 4 MiB in all:
 * writes of the products wait for the transaction.
 *
 * The lock keeps a product from being deleted and inserted again meanwhile: the
 * document of the old row would be valid for the new one. NOWAIT prevents
 * deadlocks with deletions.
 */
export function storeProducts(ids: readonly string[]): Statement[] {
  const selected = sql`
    p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `;
  return [
    sql`select from products p where ${selected} order by p.id for key share nowait`,
    sql`
      insert into product_documents (${documentColumns})
      with built as materialized (
        select ${builtDocument}
        from products p
        join organizations o on o.id = ${organization}
        where ${selected} and o.names_version is not null
      )
      select b.organization_id, b.id, b.updated_at, b.names_version, b.summary, b.details
      from (
        select b.*, sum(b.size) over (order by b.size, b.id) as total_size
        from (
          select b.*, octet_length(b.summary) + octet_length(b.details) as size
          from built b
        ) b
      ) b
      where b.total_size <= 4194304
      order by b.id
      ${onConflict}
    `,
  ];
}
