import postgres from "postgres";

/** What PostgreSQL has written since it started. */
interface Written {
  /** Bytes of write-ahead log, of the whole cluster. */
  wal: number;
  /** Updates of the table `products`, and those that wrote no index of it (HOT). */
  updates: number;
  hotUpdates: number;
}

/** What one run has written. */
export interface Writes {
  /** Bytes of write-ahead log. */
  wal: number;
  /** The share of HOT updates of products. Undefined without updates. */
  hotShare: number | undefined;
}

/** Begins to count what PostgreSQL writes. The returned function ends it. */
export async function countWrites(url: string): Promise<() => Promise<Writes>> {
  const before = await written(url);
  return async () => {
    const after = await written(url);
    const updates = after.updates - before.updates;
    return {
      wal: after.wal - before.wal,
      hotShare: updates > 0
        ? (after.hotUpdates - before.hotUpdates) / updates
        : undefined,
    };
  };
}

/** Sessions report their updates with a delay of seconds, so some count in the next run. */
async function written(url: string): Promise<Written> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  try {
    const [row] = await sql<[Written]>`
      select
        (pg_current_wal_lsn() - '0/0')::float8 as wal,
        coalesce(sum(n_tup_upd), 0)::float8 as updates,
        coalesce(sum(n_tup_hot_upd), 0)::float8 as "hotUpdates"
      from pg_stat_user_tables
      where relname = 'products'
    `;
    return row;
  } finally {
    await sql.end();
  }
}
