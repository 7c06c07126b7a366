import {
  isAnyOf,
  json,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../../../db/connections/sql.ts";
import type { Queries } from "../../../../db/database.ts";
import type { IncomingRecord } from "./incoming_record.ts";
import { isReferredToBy } from "./find.ts";
import { type CachedAnalyses, keyOfCached } from "./analysed_record.ts";
import type { Planned } from "./plan.ts";
import type { ProductRow } from "./product_rows.ts";
import { ownRecord } from "../out/received.ts";

/*
 * The cached analyses of records. They are in the column `reading` next to the record of a product,
 * and next to the last record of each other sender.
 */

/**
 * Finds the cached analyses of these records of a message. The statement is not prepared: a plan
 * cached while the tables were small would scan them when they are large.
 */
export async function findCachedAnalyses(
  database: Queries,
  records: readonly IncomingRecord[],
): Promise<CachedAnalyses> {
  const references = records.flatMap(({ reference }) => reference ?? []);
  if (references.length === 0) return new Map();
  const { sender } = records[0]!.sent;
  const rows = await database.scan(unprepared(sql<{ last: string | null; own: string | null }>`
    select n.reading as last, x.reading as own
    from onix_records n
    ${ownRecord(sql`n.product_id`, sender)}
    where n.organization_id = ${organization} and ${isReferredToBy(sql`n.product_id`, references)}
  `));
  const cached = rows.flatMap(({ last, own }) => [last, own]).filter((analysis) =>
    analysis !== null
  );
  return new Map(cached.map((analysis) => [keyOfCached(analysis), analysis]));
}

/**
 * Caches the analyses of records that were read although their products have them already. From
 * now on they are not read. If the sender has a record of its own, the analysis goes there.
 */
export function cacheAnalyses(unchanged: readonly Planned[]): Statement[] {
  const rows = unchanged.flatMap((
    { analysed: { cachedAnalysis, isCached, incomingRecord }, id, found },
  ) =>
    isCached || cachedAnalysis === null ? [] : [{
      product_id: id,
      reading: cachedAnalysis,
      sender_name: incomingRecord.sent.sender,
      has_own: found!.has_own,
    }]
  );
  const { own = [], last = [] } = Object.groupBy(rows, (row) => row.has_own ? "own" : "last");
  return [
    ...cacheIn("onix_records", last, []),
    ...cacheIn("onix_senders", own, sql`and t.sender_name = r.sender_name`),
  ];
}

function cacheIn(
  table: string,
  rows: readonly ProductRow[],
  condition: Statement | [],
): Statement[] {
  if (rows.length === 0) return [];
  return [sql`
    update ${raw(table)} t
    set reading = r.reading
    from jsonb_to_recordset(${json(rows)}) r (product_id uuid, reading text, sender_name text)
    where t.organization_id = ${organization}
      and t.product_id ${isAnyOf(rows.map(({ product_id }) => product_id))}
      and t.product_id = r.product_id ${condition}
  `];
}
