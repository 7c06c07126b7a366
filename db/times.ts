import { raw, type Statement } from "./connections/sql.ts";

export const DAY_MS = 86_400_000;

/** The days for which the records of deletions are kept. */
export const DELETION_DAYS = 37;

/** A column with a time, as text in RFC 3339: UTC, milliseconds. Null for an infinite time. */
export function rfc3339(column: string): Statement {
  return raw(
    `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  );
}

/**
 * The new value of a column `updated_at`: now, or a millisecond after the old value if
 * that is later. After `infinity` it is now. The sum is in UTC: a distributed database
 * refuses a sum that depends on the session's time zone.
 */
export function nextUpdate(column: string): Statement {
  return raw(
    `greatest(now(), (nullif(${column}, 'infinity') at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC')`,
  );
}
