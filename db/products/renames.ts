import { sql } from "../connections/sql.ts";
import type { Database, Queries } from "../database.ts";

/*
 * A change of a record is a change of every product that shows it, also for those who
 * follow the feed. A trigger notes the record in the table `renames`. Its products follow
 * after COMMIT, when all that showed the old record can be seen. They follow in chunks, so
 * that no writer waits for long. Organizations have one chunk after the other. A chunk is
 * committed together with its last product, from which another process goes on if this one
 * ends.
 */

/** The products of a chunk. Their writers wait for it, for some 50 ms. */
const CHUNK_PRODUCTS = 1_000;

/** A change of a record that few products show is to be found within a second. */
const SPREAD_MS = 250;

/** The time limit of a chunk. */
const CHUNK_LIMIT_MS = 60_000;

/** Whether renames wait. One statement, outside a transaction: an idle service runs nothing else. */
export async function hasRenames(database: Database): Promise<boolean> {
  const [row] = await chunkQueries(database).lookUp(
    sql<{ is_there: boolean }>`select exists (select from renames) as is_there`,
  );
  return row!.is_there;
}

/** The organization of a chunk, null after the last one, and its renames that moved on. */
interface Chunk {
  organization: string | null;
  records: number;
}

/** Spreads the renames that wait now, of one organization after the other. Other processes may do the same. */
export async function spreadRenames(database: Database): Promise<void> {
  let after: string | null = null;
  let hasMoved = false;
  for (;;) {
    const [[chunk]]: [Chunk[]] = await chunkQueries(database).write(sql<Chunk>`
      select organization, records from spread_renames(${after}, ${CHUNK_PRODUCTS})
    `);
    hasMoved ||= chunk!.records > 0;
    after = chunk!.organization;
    if (after) continue;
    // All organizations had their turn. There is another round, unless this one moved nothing.
    if (!hasMoved) return;
    hasMoved = false;
  }
}

function chunkQueries(database: Database): Queries {
  return database.for({ deadline: performance.now() + CHUNK_LIMIT_MS });
}

/** Spreads renames every `SPREAD_MS`. Returns the function that ends this. */
export function keepSpreading(
  database: Database,
  onError: (error: unknown) => void,
): () => void {
  let isWorking = false;
  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    try {
      if (await hasRenames(database)) await spreadRenames(database);
    } catch (error) {
      onError(error);
    }
    isWorking = false;
  }
  work();
  const timer = setInterval(work, SPREAD_MS);
  return () => clearInterval(timer);
}
