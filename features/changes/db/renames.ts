import { type Activity, repeat, type Repeated } from "../../../db/background.ts";
import { sql } from "../../../db/connections/sql.ts";
import type { Database, Queries } from "../../../db/database.ts";

/*
 * Propagates renames. A changed record, such as a publisher's name, changes each product that shows
 * it, and the feed must list these products. A trigger records the rename in the table `renames`.
 * Its products follow after COMMIT, when all that showed the old record are visible. They follow in
 * chunks, so that no writer waits for long, and organizations take turns. A chunk is committed
 * together with its last product, so that another process can continue if this one ends.
 */

/** The products of a chunk. Their writers wait for it, for some 50 ms. */
const CHUNK_PRODUCTS = 1_000;

/**
 * The interval of the search for renames by SQL and by other processes. They should be found within
 * seconds.
 */
const PROPAGATION_MS = 1_000;

/** The time limit of a chunk. */
const CHUNK_LIMIT_MS = 60_000;

/** Whether renames wait. One statement, outside a transaction: an idle service runs nothing else. */
export async function hasRenames(database: Database): Promise<boolean> {
  const [row] = await chunkQueries(database).lookUp(
    sql<{ is_there: boolean }>`select exists (select 1 from renames) as is_there`,
  );
  return row!.is_there;
}

/**
 * The organization of a chunk, null after the last one, and the number of its renames that
 * progressed.
 */
interface Chunk {
  organization: string | null;
  records: number;
}

/**
 * Propagates the waiting renames, of one organization after the other. Other processes may do the
 * same.
 */
export async function propagateRenames(database: Database): Promise<void> {
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

/** Propagates renames every `PROPAGATION_MS`, and when it is woken. */
export function keepPropagating(
  database: Database,
  activity: Activity,
  onError: (error: unknown) => void,
): Repeated {
  async function work(): Promise<void> {
    if (await hasRenames(database)) await propagateRenames(database);
  }
  return repeat(work, { everyMs: PROPAGATION_MS, activity, onError });
}
