import type { Match } from "../../schema/batch.ts";
import {
  among,
  json,
  organization,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";

/** A product, with the fields that an upsert may find it by. */
export interface Found extends Record<Match, string | null> {
  id: string;
}

/** The field and the value that an upsert finds its product by. */
export interface Key {
  match: Match;
  value: string;
}

/** Makes upserts with the same key take turns until their transactions end, sorted so that none wait for each other. */
export function lockKeys(keys: readonly Key[]): Statement {
  return sql`
    select pg_advisory_xact_lock(l.lock)
    from (
      select distinct hashtextextended(
        ${organization}::uuid || ' ' || k.match || ' ' || k.value, 1
      ) as lock
      from jsonb_to_recordset(${json(keys)}) k (match text, value text)
      order by lock
    ) l
  `;
}

/**
 * Locks the products with these ids and keys, in the order of their ids, and
 * gives them as they are by then. Its plan is made for its own values: one that
 * is kept from a small table would read a large one whole.
 */
export function lockFound(
  ids: readonly string[],
  keys: readonly Key[],
): Statement<Found> {
  const values = (match: Match) =>
    json(keys.filter((key) => key.match === match).map(({ value }) => value));
  const valued = (match: Match) =>
    sql`any(array(select jsonb_array_elements_text(${values(match)})))`;
  return unprepared(sql<Found>`
    select p.id, p.isbn13, p.isbn10, p.product_code
    from products p
    where p.organization_id = ${organization} and (
      p.id ${among(ids)}
      or p.isbn13 = ${valued("isbn13")}
      or p.isbn10 = ${valued("isbn10")}
      or p.product_code = ${valued("product_code")}
    )
    order by p.id
    for no key update
  `);
}
