import type { Config } from "../../schema/config.ts";
import { pause } from "../connections/deadline.ts";
import { connectionAdvice } from "../connections/errors.ts";
import { raw, sql, type Statement } from "../connections/sql.ts";
import { noTimeLimits } from "../connections/transaction.ts";
import { ping, type Queries } from "../database.ts";
import { pendingMigrations } from "../migrate.ts";
import { isAtOrigin } from "../origin.ts";
import { DOCTOR_CHECKS, readSqlFile, statementsOf } from "../sql_files.ts";
import { type Finding, type Findings, fine, wrong } from "./finding.ts";
import { allOrganizations, miscounted, misindexed } from "./recount.ts";

/*
 * A check is a statement of `sql/doctor.sql`, with its name in the comment above it. It returns a
 * fault with advice, or a sentence that all is fine. A fact that SQL cannot find out comes from
 * `FACTS`: the statement reads it from the setting `doctor.fact`.
 */

/** Runs the checks of `sql/doctor.sql` in order. */
export async function examine(
  database: Queries,
  config: Config,
): Promise<Findings> {
  const findings: Findings = {};
  const { text } = await readSqlFile(DOCTOR_CHECKS);
  for (const statement of statementsOf(text)) {
    const subject = /^-- ([\w -]+)$/m.exec(statement)![1]!;
    const finding = await runCheck(database, config, subject, statement)
      .catch((error) => wrong(error.message, connectionAdvice(error)));
    findings[subject] = finding;
    // The later checks depend on these.
    if (!finding.ok && /^(database|extensions|migrations)$/.test(subject)) {
      break;
    }
  }
  return findings;
}

async function runCheck(
  database: Queries,
  config: Config,
  subject: string,
  statement: string,
): Promise<Finding> {
  const fact = await (FACTS[subject] ?? (() => ""))(database, config);
  if (typeof fact === "object") return fact;
  const [, [row]] = await database.transaction(async (tx) => {
    await tx.send(...noTimeLimits);
    return await tx.commit(
      sql`select set_config('doctor.fact', ${String(fact)}, true)`,
      raw(statement) as Statement<
        {
          wrong: string | null;
          noted?: string | null;
          advice: string;
          fine: string;
        }
      >,
    );
  });
  if (row!.wrong) return wrong(row!.wrong, row!.advice);
  return row!.noted ? { ok: true, finding: row!.noted, advice: row!.advice } : fine(row!.fine);
}

type Fact = string | number | boolean;

/** The value of `doctor.fact` for each check, or the finding of a check that does not apply. */
const FACTS: Record<
  string,
  (
    database: Queries,
    config: Config,
  ) => Finding | Fact | Promise<Finding | Fact>
> = {
  database: async (database) => {
    const start = performance.now();
    await database.lookUp(ping);
    return Math.ceil(performance.now() - start);
  },
  "time-outs": (_, { database }) => database.prepare,
  migrations: async (database) => {
    const { length, 0: first } = await pendingMigrations(database);
    return length > 0 ? `${length} are pending, the first is ${first}` : "";
  },
  counters: async (database) => {
    const found = await database.transaction(async (tx) => {
      const replies = await tx.send(...noTimeLimits, allOrganizations);
      const organizations = replies.at(-1) as { id: string }[];
      return await tx.commit(miscounted, ...organizations.map(({ id }) => misindexed(id)));
    });
    const ids = [...new Set(found.flat().map(({ organization_id }) => organization_id))];
    const more = ids.length > 3 ? `, and ${ids.length - 3} more` : "";
    return ids.slice(0, 3).join(", ") + more;
  },
  changes: async (database) =>
    await isAtOrigin(database) ? await findLongWriter(database) ?? "" : "copied",
  keys: (_, { token }) => token !== undefined,
  distribution: async (database, { replica }) => {
    const [citus] = await database.lookUp(
      sql<{ shards?: string }>`select to_regclass('pg_dist_shard') as shards`,
    );
    return citus!.shards ? replica !== undefined : fine("One node");
  },
};

/** The age from which a transaction is reported. The feed waits for shorter ones as for any write. */
const LONG_MS = 3_000;

/**
 * Finds a session of another role that has been writing for longer than `LONG_MS`, and returns its
 * process id. It watches the oldest one, for which the feed waits. The start of its transaction is
 * visible only to members of `pg_read_all_stats`.
 */
async function findLongWriter(database: Queries): Promise<number | undefined> {
  const start = performance.now();
  const [first] = await database.lookUp(hiddenWriter);
  let oldest = first;
  while (oldest && oldest.xid === first!.xid) {
    if (performance.now() - start > LONG_MS) return oldest.pid;
    await pause(100);
    [oldest] = await database.lookUp(hiddenWriter);
  }
}

/** Every role can see which session has the lock of a transaction's id. */
const hiddenWriter = sql<{ pid: number; xid: string }>`
  select l.pid, l.transactionid::text as xid
  from pg_locks l
  join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted
    and a.xact_start is null
  order by age(l.transactionid) desc
  limit 1
`;
