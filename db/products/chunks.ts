import { sql, type Statement } from "../connections/sql.ts";
import type { Database } from "../database.ts";

/*
 * Work that is too much for one transaction is done in chunks, so that no writer waits for
 * long. A chunk is committed together with its place, from which another process goes on if
 * this one ends.
 *
 * - A change of a record is a change of every product that shows it, also for those who
 *   follow the feed. A trigger changes up to 10,000 products with a name. More of them, and
 *   those that show something else of the record, wait in the table `renames`.
 * - After an upgrade, `search_backlog` says which products `product_search` lacks.
 */

/** The products of a chunk. Their writers wait for it, for some 50 ms. */
const PRODUCTS_AT_ONCE = 2_500;

/** The interval at which work is looked for. */
const INTERVAL_MS = 1_000;

/** The time limit of a chunk. */
const LIMIT_MS = 60_000;

/** The time between two reports of progress. */
const REPORT_MS = 10_000;

/** The number of products in the chunk, or null if there was nothing to do. */
type Chunk = Statement<{ products: number | null }>;

const SPREAD: Chunk =
  sql`select spread_rename(${PRODUCTS_AT_ONCE}::int) as products`;

const FILL: Chunk =
  sql`select fill_search(${PRODUCTS_AT_ONCE}::int) as products`;

/** Whether chunks wait. One statement, outside a transaction: an idle service runs nothing else. */
export async function hasWork(database: Database): Promise<boolean> {
  const deadline = performance.now() + LIMIT_MS;
  const [row] = await database.for({ deadline }).lookUp(
    sql<{ has_work: boolean }>`
      select exists (select from renames) or exists (select from search_backlog) as has_work
    `,
  );
  return row!.has_work;
}

/** Spreads the renames that wait now. Other processes may do the same. */
export async function spreadRenames(database: Database): Promise<void> {
  for await (const _ of chunks(database, SPREAD));
}

/** Indexes the products that wait for it. Reports their number every `REPORT_MS`, and at the end. */
export async function fillSearch(
  database: Database,
  report: (products: number) => void,
): Promise<void> {
  let done = 0;
  let reportedAt = performance.now();
  for await (const products of chunks(database, FILL)) {
    done += products;
    if (performance.now() - reportedAt < REPORT_MS) continue;
    report(done);
    reportedAt = performance.now();
  }
  if (done > 0) report(done);
}

async function* chunks(
  database: Database,
  chunk: Chunk,
): AsyncGenerator<number> {
  for (;;) {
    const deadline = performance.now() + LIMIT_MS;
    const [[row]] = await database.for({ deadline }).write(chunk);
    if (row!.products === null) return;
    yield row!.products;
  }
}

/** Does the work that waits, every `INTERVAL_MS`. Returns the function that ends this. */
export function keepUp(
  database: Database,
  { report, onError }: {
    report: (products: number) => void;
    onError: (error: unknown) => void;
  },
): () => void {
  let isWorking = false;
  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    try {
      if (await hasWork(database)) {
        await fillSearch(database, report);
        await spreadRenames(database);
      }
    } catch (error) {
      onError(error);
    }
    isWorking = false;
  }
  work();
  const timer = setInterval(work, INTERVAL_MS);
  return () => clearInterval(timer);
}
