import type { Match } from "../../schema/batch.ts";
import {
  isOneOf,
  json,
  organization,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";

/** An existing product, with the fields that an upsert can match. */
export interface Found extends Record<Match, string | null> {
  id: string;
}

/** The field and value that an upsert matches. */
export interface Key {
  match: Match;
  value: string;
}

/** Serializes upserts with the same key until COMMIT. The locks are sorted to prevent deadlocks. */
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
 * Locks the products with these ids and keys in the order of their ids, and
 * returns their values after the lock. It is not prepared: a plan cached while the
 * table was small would scan it when it is large.
 */
export function lockMatches(
  ids: readonly string[],
  keys: readonly Key[],
): Statement<Found> {
  const values = (match: Match) =>
    json(keys.filter((key) => key.match === match).map(({ value }) => value));
  const oneOfValues = (match: Match) =>
    sql`any(array(select jsonb_array_elements_text(${values(match)})))`;
  return unprepared(sql`
    select p.id, p.isbn13, p.isbn10, p.product_code
    from products p
    where p.organization_id = ${organization} and (
      p.id ${isOneOf(ids)}
      or p.isbn13 = ${oneOfValues("isbn13")}
      or p.isbn10 = ${oneOfValues("isbn10")}
      or p.product_code = ${oneOfValues("product_code")}
    )
    order by p.id
    for no key update
  `);
}
