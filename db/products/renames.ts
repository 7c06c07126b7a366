import { sql } from "../connections/sql.ts";
import type { Database } from "../database.ts";

/*
 * A change of a record is a change of every product that shows it, also for those who
 * follow the feed. A trigger changes up to 10,000 products with the record; more of them
 * wait in the table `renames`, and change in chunks, so that nobody waits for long.
 */

/** The products that change in one transaction: their writers wait for it, for some 50 ms. */
const CHUNK = 2_500;

/** The interval at which renames are looked for. */
const INTERVAL_MS = 5_000;

/** The time limit of a transaction. */
const LIMIT_MS = 60_000;

/** Spreads the renames that wait now. Other processes may do the same. */
export async function spreadRenames(database: Database): Promise<void> {
  for (;;) {
    const deadline = performance.now() + LIMIT_MS;
    const [[row]] = await database.for({ deadline }).write(
      sql<{ products: number | null }>`
        select spread_rename(${CHUNK}::int) as products
      `,
    );
    if (row!.products === null) return;
  }
}

/** Spreads renames now and then, one call at a time. Returns how to stop it. */
export function keepSpreading(
  database: Database,
  onError: (error: unknown) => void,
): () => void {
  let isSpreading = false;
  const timer = setInterval(async () => {
    if (isSpreading) return;
    isSpreading = true;
    await spreadRenames(database).catch(onError);
    isSpreading = false;
  }, INTERVAL_MS);
  return () => clearInterval(timer);
}
