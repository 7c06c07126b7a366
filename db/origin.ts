import { sql } from "./connections/sql.ts";
import type { Transaction } from "./connections/transaction.ts";
import type { Operations } from "./database.ts";

/*
 * Change versions contain transaction ids, so they are only valid in the database that
 * assigned them: their origin. A restored dump, or a database created from a template,
 * must start a new origin.
 */

const originState = sql<{ is_origin: boolean }>`
  select o.place = catalogue_place() as is_origin
  from change_origins o
`;

/** Whether the database assigned its change versions. The schema must exist. */
export async function isAtOrigin(database: Operations): Promise<boolean> {
  const [row] = await database.lookUp(originState);
  return row!.is_origin;
}

/**
 * Starts a new origin in a copied database. New versions are higher than all existing
 * ones. Blocks writers, but no readers.
 */
export async function startOriginIfCopied(tx: Transaction): Promise<void> {
  const [[table]] = await tx.send(
    sql<{ name: string | null }>`select to_regclass('change_origins') as name`,
  );
  if (!table!.name) return;
  const [[row]] = await tx.send(originState);
  if (row!.is_origin) return;
  await tx.send(
    // Waits for every writer: each first locks rows of `products`, or the table.
    sql`lock table products in exclusive mode`,
    sql`
      select begin_origin(greatest(
        (select max(p.change_version) from products p),
        (select max(x.change_version) from product_deletions x),
        0
      ))
    `,
  );
}
