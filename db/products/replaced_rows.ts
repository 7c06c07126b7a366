import { invalid, unknownReference } from "../../schema/errors.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Operations } from "../database.ts";
import { type Answer, answerProducts, currentProducts } from "./documents.ts";
import { notFound } from "./read.ts";
import { lockProducts, updateRows } from "./row.ts";
import { explain, lookingUp } from "./violations.ts";
import type { Precondition } from "./statements.ts";

/** A stored row that the entry at `pointer` names by its `id`. */
export interface NamedRow {
  table: string;
  id: string;
  pointer: string;
}

/** A replacement of rows of a product: the stored rows that it names, and its statements. */
export interface Replacement {
  named: readonly NamedRow[];
  writes: readonly Statement[];
}

/**
 * Replaces rows of the product, updates its `updated_at` and returns the full
 * product. Throws `NOT_FOUND`, or `VALIDATION_ERROR` with every `id` that is not a
 * row of this product.
 */
export async function replaceRows(
  database: Operations,
  id: string,
  { named, writes }: Replacement,
  precondition?: Precondition,
): Promise<string> {
  const change = { id, body: {}, isNew: false };
  try {
    const results = await database.transaction(async (tx) => {
      const isChecked = precondition !== undefined || named.length > 0;
      if (isChecked) await lockAndCheck(tx, id, named, precondition);
      return await tx.commit(
        ...isChecked ? [] : [lockProducts(id)],
        updateRows([change]),
        ...writes,
        answerProducts([id]),
      );
    });
    const [updated] = results.at(-1) as Answer[];
    if (!updated) throw notFound(id);
    return updated.product;
  } catch (error) {
    throw await explain(lookingUp(database), error, change);
  }
}

/** Locks and checks the product in one round trip, before the writes. */
async function lockAndCheck(
  tx: Transaction,
  id: string,
  named: readonly NamedRow[],
  precondition?: Precondition,
): Promise<void> {
  const tables = [...Map.groupBy(named, ({ table }) => table)];
  const [locked, ...results] = await tx.send(
    lockProducts(id),
    ...precondition ? [currentProducts(id)] : [],
    ...tables.map(([table, rows]) => storedIds(table, id, rows)),
  );
  if (locked.length === 0) throw notFound(id);
  if (precondition) {
    const [current] = results.shift() as Answer[];
    precondition(current?.product);
  }
  const unknown = tables.flatMap(([, rows], i) => {
    const stored = new Set(
      (results[i] as { id: string }[]).map(({ id }) => id),
    );
    return rows.filter(({ id }) => !stored.has(id));
  });
  if (unknown.length === 0) return;
  throw invalid(
    "The body",
    unknown.map(({ pointer }) => unknownReference(pointer)),
  );
}

/** The ids of these rows that the product has in the table. */
function storedIds(
  table: string,
  productId: string,
  rows: readonly NamedRow[],
): Statement<{ id: string }> {
  const ids = rows.map(({ id }) => id).join();
  return sql<{ id: string }>`
    select x.id
    from ${raw(table)} x
    where x.organization_id = ${organization} and x.product_id = ${productId}
      and x.id = any(string_to_array(${ids}, ',')::uuid[])
  `;
}
