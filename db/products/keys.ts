import type { Match } from "../../schema/batch.ts";
import {
  isOneOfTexts,
  json,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";

/** A value by which requests find a product. */
export interface ProductKey<Match extends string = string> {
  /** What has the value, such as `isbn13`. */
  match: Match;
  value: string;
}

/**
 * Serializes the transactions that find or create products by the same key, until
 * COMMIT. The locks are sorted to prevent deadlocks.
 */
export function lockKeys(keys: readonly ProductKey[]): Statement {
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

/** The condition that product `p` has one of the keys. */
export function hasKey(keys: readonly ProductKey<Match>[]): Statement {
  const isAmong = (match: Match) => {
    const own = keys.filter((key) => key.match === match);
    return isOneOfTexts(own.map(({ value }) => value));
  };
  return sql`(
    p.isbn13 ${isAmong("isbn13")}
    or p.isbn10 ${isAmong("isbn10")}
    or p.product_code ${isAmong("product_code")}
  )`;
}
