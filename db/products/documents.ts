import {
  among,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { nestedJson } from "./nested_json.ts";
import { scalarsJson } from "./scalars_json.ts";

/*
 * The answer to a product is stored as text beside it: `summary` is what lists
 * show, `details` are the nested arrays. A stored answer is right while the
 * product has its `updated_at` and the organization its `names_version`. Every
 * statement that reads one compares both, so no write has to remove an old one.
 */

/** A full product as JSON text. */
export interface Answer {
  id: string;
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

/** The full answer, as it is stored in document `d`. */
export const fullAnswer = sql`'{' || d.summary || ',' || d.details || '}'`;

/** What is stored for product `p` of organization `o`. */
const built = sql`
  p.organization_id,
  p.id,
  p.updated_at,
  o.names_version,
  ${scalarsJson} as summary,
  ${nestedJson} as details
`;

const columns =
  sql`organization_id, product_id, updated_at, names_version, summary, details`;

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
    select ${fullAnswer} as product
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
        ${fullAnswer},
        (select ${whole} from (select ${built}) b)
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
    select b.id, ${whole} as product
    from (
      select ${built}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization} and p.id = ${id}
    ) b
  `;
}

/** The id of the product alone. */
export const minimalAnswer = sql`'{"id":"' || d.product_id || '"}'`;

/**
 * Builds the answers, stores them and gives them: the last statement of a write.
 * An answer beyond the largest size breaks `product_documents_size`. It is never
 * right (-1) in a distributed database, which has no triggers, nor where
 * `updated_at` is infinite and cannot move.
 */
export function answerProducts(
  ids: readonly string[],
  shown = fullAnswer,
): Statement<Answer> {
  return sql<Answer>`
    insert into product_documents as d (${columns})
    select
      b.organization_id,
      b.id,
      b.updated_at,
      coalesce(case when isfinite(b.updated_at) then b.names_version end, -1),
      b.summary,
      b.details
    from (
      select ${built}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization} and p.id ${among(ids)}
    ) b
    ${replacing}
    returning d.product_id as id, ${shown} as product
  `;
}

/**
 * Builds and stores the answers to these products, but for those beyond the
 * largest size. The rows are locked first, so that none is deleted and inserted
 * again in between: the answer to the old one would be right for the new one. It
 * waits for no lock, so that deletions never meet it in a deadlock.
 */
export function storeProducts(
  ids: readonly string[],
): readonly [Statement, Statement] {
  const those = sql`
    p.organization_id = ${organization} and p.id ${among(ids)}
  `;
  return [
    sql`select from products p where ${those} order by p.id for key share nowait`,
    sql`
      insert into product_documents (${columns})
      with built as materialized (
        select ${built}
        from products p
        join organizations o on o.id = ${organization}
        where ${those} and isfinite(p.updated_at) and o.names_version is not null
      )
      select b.organization_id, b.id, b.updated_at, b.names_version, b.summary, b.details
      from built b
      where octet_length(b.summary) + octet_length(b.details) <= 4194304
      order by b.id
      ${replacing}
    `,
  ];
}

/**
 * A page of stored answers. If some are missing, the page is read again with
 * built ones, which are stored in the background.
 */
export async function readPage<Row extends { lacking: string | null }>(
  database: Operations,
  pageOf: (summary: Statement) => Statement<Row>,
): Promise<Row> {
  const [page] = await database.scan(pageOf(sql`d.summary`));
  if (!page!.lacking) return page!;
  database.afterwards(...storeProducts(page!.lacking.split(",")));
  const [built] = await database.scan(
    pageOf(sql`coalesce(d.summary, ${scalarsJson})`),
  );
  return built!;
}
