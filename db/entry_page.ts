import type { PageQuery } from "../schema/record_query.ts";
import { sql, type Statement } from "./connections/sql.ts";
import { jsonArray } from "./row_json.ts";

/** A page of a list as a JSON array, and the number of entries on all pages. */
export interface EntryPage {
  entries: string;
  total: number;
  /** Whether no entry matches, and these are the nearest. */
  isNearest?: boolean;
}

/**
 * Selects a page of these entries, and the number of all rows that were found: `found`
 * begins with FROM. A single statement keeps both consistent.
 */
export function selectEntries(
  entries: Statement,
  found: Statement,
): Statement<EntryPage> {
  return sql`
    select
      ${jsonArray(entries)}::text as entries,
      (select count(*) ${found})::float8 as total
  `;
}

/** Returns a page of a short list whose entries were all read. */
export function pageOf(
  entries: readonly object[],
  { page, limit }: PageQuery,
): EntryPage {
  const shown = entries.slice((page - 1) * limit, page * limit);
  return { entries: JSON.stringify(shown), total: entries.length };
}

/** The LIMIT and OFFSET of a page. */
export function limitOf({ page, limit }: PageQuery): Statement {
  return sql`limit ${limit} offset ${offsetOf({ page, limit })}`;
}

/** The number of entries before a page. */
export function offsetOf({ page, limit }: PageQuery): string {
  return String(BigInt(page - 1) * BigInt(limit));
}
