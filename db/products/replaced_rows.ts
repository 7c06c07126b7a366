import { invalid, unknownEntry } from "../../schema/errors.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import type { Check } from "./check.ts";
import { updateRows } from "./row.ts";
import {
  changeProduct,
  type Precondition,
  preconditionChecks,
} from "./write.ts";

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
  database: Queries,
  id: string,
  { named, writes }: Replacement,
  precondition?: Precondition,
): Promise<string> {
  const change = { id, body: {}, isNew: false };
  return await changeProduct(database, change, {
    checks: [...preconditionChecks(id, precondition), ...existing(id, named)],
    writes: [updateRows([change]), ...writes],
  });
}

/** The check that the product has these rows. */
function existing(productId: string, named: readonly NamedRow[]): Check[] {
  if (named.length === 0) return [];
  const tables = [...Map.groupBy(named, ({ table }) => table)];
  const selects = tables.map(([table, rows], i) => {
    const ids = rows.map(({ id }) => id).join();
    return sql`${raw(i === 0 ? "" : "union all")}
      select ${table} as name, x.id
      from ${raw(table)} x
      where x.organization_id = ${organization} and x.product_id = ${productId}
        and x.id = any(string_to_array(${ids}, ',')::uuid[])
    `;
  });
  return [{
    statement: sql`${selects}`,
    verify(result) {
      const stored = new Set(
        (result as { name: string; id: string }[])
          .map(({ name, id }) => `${name} ${id}`),
      );
      const unknown = named.filter(({ table, id }) =>
        !stored.has(`${table} ${id}`)
      );
      if (unknown.length === 0) return;
      throw invalid(
        "The body",
        unknown.map(({ pointer }) => unknownEntry(pointer)),
      );
    },
  }];
}
