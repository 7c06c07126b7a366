import {
  isAnyOf,
  json,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import type { Arrived } from "./arrived.ts";
import { isBoundTo } from "./find.ts";
import { keyOfGist, type StoredGists } from "./items.ts";
import type { Planned } from "./plan.ts";
import type { ProductRow } from "./product_rows.ts";
import { ownRecord } from "./received.ts";

/*
 * The gists that are stored beside products, in the column `reading`: what reading the record
 * of the product has found out, or that of a sender.
 */

/**
 * What reading these records of a message has found out, where that is stored. It is not
 * prepared: a plan cached while the tables were small would scan them when they are large.
 */
export async function findGists(
  database: Queries,
  arrived: readonly Arrived[],
): Promise<StoredGists> {
  const references = arrived.flatMap(({ reference }) => reference ?? []);
  if (references.length === 0) return new Map();
  const { sender } = arrived[0]!.sent;
  const rows = await database.scan(unprepared(sql<{ last: string | null; own: string | null }>`
    select n.reading as last, x.reading as own
    from onix_records n
    ${ownRecord(sql`n.product_id`, sender)}
    where n.organization_id = ${organization} and ${isBoundTo(sql`n.product_id`, references)}
  `));
  const gists = rows.flatMap(({ last, own }) => [last, own]).filter((gist) => gist !== null);
  return new Map(gists.map((gist) => [keyOfGist(gist), gist]));
}

/**
 * Stores the gists of records that were read although their products have them already: from
 * now on they are not read. A sender's own record has its gist beside it.
 */
export function noteGists(unchanged: readonly Planned[]): Statement[] {
  const rows = unchanged.flatMap(({ item: { storedGist, isKnown, arrived }, id, found }) =>
    isKnown || storedGist === null ? [] : [{
      product_id: id,
      reading: storedGist,
      sender_name: arrived.sent.sender,
      has_own: found!.has_own,
    }]
  );
  const { own = [], last = [] } = Object.groupBy(rows, (row) => row.has_own ? "own" : "last");
  return [
    ...noteIn("onix_records", last, []),
    ...noteIn("onix_senders", own, sql`and t.sender_name = r.sender_name`),
  ];
}

function noteIn(
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
