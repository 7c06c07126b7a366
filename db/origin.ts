import { sql } from "./connections/sql.ts";
import type { Transaction } from "./connections/transaction.ts";
import type { Operations } from "./database.ts";

/*
 * Versions of changes are made of transaction ids, so they mean something in one
 * place alone: a dump that is restored, or a database made from a template, is
 * another place and must begin an origin of its own.
 */

const place = sql<{ is_origin: boolean }>`
  select o.place = catalogue_place() as is_origin
  from change_origins o
`;

/** Whether the database is where its versions come from. It must have been migrated. */
export async function isAtOrigin(database: Operations): Promise<boolean> {
  const [row] = await database.lookUp(place);
  return row!.is_origin;
}

/**
 * Begins a new origin where the database is not where its versions come from, with
 * all new versions above those that are there. Writers wait for it, readers do not.
 */
export async function settle(tx: Transaction): Promise<void> {
  const [[table]] = await tx.send(
    sql<{ name: string | null }>`select to_regclass('change_origins') as name`,
  );
  if (!table!.name) return;
  const [[row]] = await tx.send(place);
  if (row!.is_origin) return;
  await tx.send(
    // Every writer of products locks a row of them first, or the table as updates do.
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
