import { organization, sql, type Statement } from "../connections/sql.ts";
import { arrays } from "./nested_json.ts";
import { core } from "./scalars_json.ts";

/*
 * The answer to a product is stored as text beside it: `summary` is what lists
 * show, `details` are the nested arrays. A stored answer is right while the
 * product has its `updated_at` and the organization its `names_version`. Every
 * statement that reads one compares both, so no write has to remove an old one.
 */

/** A full product as JSON text. */
export interface Answer {
  product: string;
}

/**
 * Joins the stored answer `d` to product `p` of organization `o`, if it is right.
 * The limit has it looked up by its key: as long as statistics know few answers,
 * the planner would read all of the organization's for a page.
 */
export const rightDocument = sql`
  left join lateral (
    select d.product_id, d.summary, d.details
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = p.id
      and d.updated_at = p.updated_at and d.names_version = o.names_version
    limit 1
  ) d on true
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

const whole = sql`'{' || b.summary || ',' || b.details || '}'`;

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

/** The answer, stored or built. No row where there is no product. */
export function currentProduct(id: string): Statement<Answer> {
  return sql<Answer>`
    select coalesce(
      '{' || d.summary || ',' || d.details || '}',
      (select ${whole} from (select ${built}) b)
    ) as product
    from products p
    join organizations o on o.id = ${organization}
    ${rightDocument}
    where p.organization_id = ${organization} and p.id = ${id}
  `;
}

/** The answer, built from the tables. No row where there is no product. */
export function builtProduct(id: string): Statement<Answer> {
  return sql<Answer>`
    select ${whole} as product
    from (
      select ${built}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization} and p.id = ${id}
    ) b
  `;
}

/**
 * Builds the answer, stores it and gives it: the last statement of a write. An
 * answer beyond the largest size breaks `product_documents_size`. `remembering`
 * is another statement `name as (insert … from built)`.
 */
export function storeProduct(
  id: string,
  remembering: Statement = sql``,
): Statement<Answer> {
  return sql<Answer>`
    with built as materialized (
      select ${built}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization} and p.id = ${id}
    ),
    stored as (
      insert into product_documents (${columns})
      ${stored}
      ${replacing}
    )
    ${remembering}
    select ${whole} as product
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
        and p.id = any(string_to_array(${ids.join()}, ',')::uuid[])
    )
    insert into product_documents (${columns})
    ${stored} and octet_length(b.summary) + octet_length(b.details) <= 4194304
    order by b.id
    ${replacing}
  `;
}
