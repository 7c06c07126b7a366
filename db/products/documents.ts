import {
  among,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { arrays } from "./nested_json.ts";
import { core } from "./scalars_json.ts";

/*
 * The answer to a product is stored as text beside it: `summary` is what lists
 * show, `details` are the nested arrays. A stored answer is right while the
 * product has its `updated_at` and the organization its `names_version`. Every
 * statement that reads one compares both, so no write has to remove an old one.
 */

/** A product as JSON text. */
export interface Answer {
  id: string;
  product: string;
}

/** Joins the stored answer `d` to product `p` of organization `o`, if it is right. */
export const rightDocument = sql`
  left join product_documents d on d.organization_id = ${organization} and d.product_id = p.id
    and d.updated_at = p.updated_at and d.names_version = o.names_version
`;

/** What is stored for product `p` of organization `o`. */
const built = sql`
  p.id,
  p.updated_at,
  o.names_version,
  ${core} as summary,
  trim(both '{}' from ${arrays}::text) as details
`;

const columns =
  sql`organization_id, product_id, updated_at, names_version, summary, details`;

/** `names_version` is null in a distributed database, which has no triggers to keep stored answers right. */
const stored = sql`
  select ${organization}::uuid, b.id, b.updated_at, b.names_version, b.summary, b.details
  from built b
  where b.names_version is not null
`;

const replacing = sql`
  on conflict (organization_id, product_id) do update set
    updated_at = excluded.updated_at,
    names_version = excluded.names_version,
    summary = excluded.summary,
    details = excluded.details
`;

/** The full product. */
export const fullAnswer = sql`'{' || b.summary || ',' || b.details || '}'`;

/** The stored answer, or null where none is right. No row where there is no product. */
export function storedProduct(
  id: string,
): Statement<{ product: string | null }> {
  return sql<{ product: string | null }>`
    select '{' || d.summary || ',' || d.details || '}' as product
    from products p
    join organizations o on o.id = ${organization}
    ${rightDocument}
    where p.organization_id = ${organization} and p.id = ${id}
  `;
}

/** The answers, stored or built. No row where there is no product. */
export function currentProducts(...ids: string[]): Statement<Answer> {
  return sql<Answer>`
    select
      p.id,
      coalesce(
        '{' || d.summary || ',' || d.details || '}',
        (select ${fullAnswer} from (select ${built}) b)
      ) as product
    from products p
    join organizations o on o.id = ${organization}
    ${rightDocument}
    where p.organization_id = ${organization} and p.id ${among(ids)}
  `;
}

/** The answer, built from the tables. No row where there is no product. */
export function builtProduct(id: string): Statement<Answer> {
  return sql<Answer>`
    select b.id, ${fullAnswer} as product
    from (
      select ${built}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization} and p.id = ${id}
    ) b
  `;
}

/** Its id alone. */
export const minimalAnswer = sql`'{"id":"' || b.id || '"}'`;

/**
 * Builds the answers, stores them and gives them, or what `shown` makes of them:
 * the last statement of a write. An answer beyond the largest size breaks
 * `product_documents_size`. `remembering` is another statement
 * `name as (insert … from built)`.
 */
export function answerProducts(
  ids: readonly string[],
  { shown = fullAnswer, remembering = sql`` } = {},
): Statement<Answer> {
  return sql<Answer>`
    with built as materialized (
      select ${built}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization} and p.id ${among(ids)}
    ),
    stored as (
      insert into product_documents (${columns})
      ${stored}
      order by b.id
      ${replacing}
    )
    ${remembering}
    select b.id, ${shown} as product
    from built b
  `;
}

/** Builds and stores the answers to these products, but for those beyond the largest size. */
export function storeProducts(ids: readonly string[]): Statement {
  return sql`
    with built as materialized (
      select ${built}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization}
        and p.id ${among(ids)}
    )
    insert into product_documents (${columns})
    ${stored} and octet_length(b.summary) + octet_length(b.details) <= 4194304
    order by b.id
    ${replacing}
  `;
}
