import { raw, type Result, sql, type Statement, unprepared } from "./sql.ts";

/**
 * The tables with as many changes as autovacuum waits for, by its default settings, and
 * PostgreSQL's own tables too: each ANALYZE changes `pg_statistic`. Before its first
 * ANALYZE, a table has -1 rows. A table is vacuumed with its TOAST table.
 */
const changedTables = sql<{ name: string }>`
  select s.relid::regclass::text as name
  from pg_stat_all_tables s
  join pg_class c on c.oid = s.relid
  cross join greatest(c.reltuples, 0) as rows
  where s.schemaname <> 'pg_toast' and (
    s.n_dead_tup > 50 + 0.2 * rows
    or s.n_ins_since_vacuum > 1000 + 0.2 * rows
    or s.n_mod_since_analyze > 50 + 0.1 * rows
  )
`;

/** A row if the write-ahead log since the last checkpoint is long. */
const overdueCheckpoint = sql`
  select from pg_control_checkpoint()
  where pg_current_wal_lsn() - redo_lsn >= pg_size_bytes('64MB')
`;

/**
 * Does for the embedded database what autovacuum and the checkpointer do on a server:
 * reclaims the space of old rows, renews the planner's statistics, and lets PostgreSQL
 * reuse its write-ahead log. Otherwise every update would enlarge the files, and the
 * start after a crash would replay the whole log. Requests wait for one table at most.
 * `run` must run each statement outside a transaction.
 */
export async function maintain(
  run: <S extends Statement>(statement: S) => Promise<Result<S>>,
): Promise<void> {
  for (const { name } of await run(changedTables)) {
    await run(unprepared(sql`vacuum (analyze) ${raw(name)}`));
  }
  const overdue = await run(overdueCheckpoint);
  if (overdue.length > 0) await run(unprepared(sql`checkpoint`));
}
