import type { Pool } from "./pool.ts";
import type { Caller } from "./queue.ts";
import { raw, sql, type Statement, unprepared } from "./sql.ts";

/**
 * The tables with as many changes as autovacuum waits for, by its default settings, and
 * PostgreSQL's own tables too: each ANALYZE changes `pg_statistic`. A table is vacuumed
 * with its TOAST table.
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

/** A row if 64 MiB of the write-ahead log or more follow the last checkpoint. */
const overdueCheckpoint = sql`
  select from pg_control_checkpoint()
  where pg_current_wal_lsn() - redo_lsn >= 67108864
`;

/**
 * Does for the embedded database what autovacuum and the checkpointer do on a server:
 * reclaims the space of old rows, renews the planner's statistics, and lets PostgreSQL
 * reuse its write-ahead log. Otherwise every write would enlarge the files, and the log
 * is replayed after a crash. Requests wait for one table at most.
 */
export async function maintain(pool: Pool, caller: Caller): Promise<void> {
  const operation = {
    name: "maintenance",
    kind: "long",
    caller,
    deadline: Infinity,
  } as const;
  const run = <S extends Statement>(statement: S) =>
    pool.operate(operation, ({ connection }) => connection.read(statement));

  for (const { name } of await run(changedTables)) {
    await run(unprepared(sql`vacuum (analyze) ${raw(name)}`));
  }
  const due = await run(overdueCheckpoint);
  if (due.length > 0) await run(unprepared(sql`checkpoint`));
}
