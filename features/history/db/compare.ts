import { organization, sql } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { reserveFor } from "../../../db/long_text.ts";
import { sizeOfDocument } from "../../../db/products/documents/document.ts";
import { storeLatestVersion } from "../../../db/products/documents/external_changes.ts";
import { productNotFound } from "../../../db/products/errors/errors.ts";
import type { CompareQuery } from "../schema/history.ts";
import type { ShownChanges } from "./differences.ts";
import type { Pace } from "../../../schema/turns.ts";
import { ProductState, stateColumns, stateOf, type StateRow } from "./state.ts";
import { missingState, oldestVersion } from "./versions.ts";

/** The changes between two versions of a product. */
export interface Compared extends ShownChanges {
  from: string;
  to: string;
}

/**
 * Compares two versions of a product, or one with the present state. Throws `NOT_FOUND` where there
 * was no product, and `HISTORY_EXPIRED` where a version is not kept.
 */
export async function compareVersions(
  database: Queries,
  id: string,
  { from, to }: CompareQuery,
  pace: Pace,
): Promise<Compared> {
  await storeLatestVersion(database, id);
  const isCompared = sql`(
    d.change_version = ${from}::bigint
    or d.change_version = coalesce(${to ?? null}::bigint, (
      select max(n.change_version)
      from product_documents n
      where n.organization_id = ${organization} and n.product_id = ${id}
    ))
  )`;
  const [size] = await database.lookUp(sql<{ bytes: number }>`
    select coalesce(sum(${sizeOfDocument}), 0)::float8 as bytes
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = ${id} and ${isCompared}
  `);
  await reserveFor(database, size!.bytes);
  const rows = await database.lookUp(sql<StateRow & { version: string; event: string }>`
    select d.change_version::text as version, d.event, ${stateColumns}
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = ${id} and ${isCompared}
    order by d.change_version desc
  `);
  if (rows.length === 0 && to === undefined) throw productNotFound(id);
  const before = rows.find(({ version }) => BigInt(version) === BigInt(from));
  const after = to === undefined
    ? rows[0]
    : rows.find(({ version }) => BigInt(version) === BigInt(to));
  const states = [[from, before], [to ?? from, after]] as const;
  for (const [version, row] of states) {
    if (row && stateOf(row)) continue;
    const [oldest] = await database.lookUp(oldestVersion(id));
    throw missingState(id, { version }, row?.event, oldest);
  }
  const changes = await ProductState.changes(stateOf(before!), stateOf(after!), pace);
  return { from: before!.version, to: after!.version, ...changes };
}
