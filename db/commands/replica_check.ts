import type { Config } from "../../schema/config.ts";
import { sql } from "../connections/sql.ts";
import { pause } from "../connections/deadline.ts";
import { openDatabase, type Operations } from "../database.ts";
import { type Finding, ok, wrong } from "./checks.ts";

const OTHER =
  "Set DATABASE_REPLICA_URL to a streaming replica of DATABASE_URL, or unset it";

const UNREACHABLE =
  "Check DATABASE_REPLICA_URL, and that the replica accepts connections from this machine; until then the primary serves all reads";

interface Progress {
  system: string;
  is_replica: boolean;
  is_paused: boolean;
  behind: number;
}

/** Whether the replica follows the primary, and how far behind it is. */
export async function checkReplica(
  primary: Operations,
  { replica: settings }: Config,
): Promise<Finding> {
  if (!settings) return ok("None is configured");
  const replica = await openDatabase(settings);
  const operations = replica.until(performance.now() + 15_000);
  return await compare(primary, operations)
    .catch(({ message }: Error) => wrong(message, UNREACHABLE))
    .finally(() => replica.close());
}

async function compare(primary: Operations, replica: Operations) {
  const [end] = await primary.lookUp(
    sql<{ system: string; position: string }>`
      select system_identifier::text as system, pg_current_wal_flush_lsn()::text as position
      from pg_control_system()
    `,
  );
  const start = performance.now();
  for (;;) {
    const [row] = await replica.lookUp(sql<Progress>`
      select system_identifier::text as system, pg_is_in_recovery() as is_replica,
        pg_is_in_recovery() and pg_get_wal_replay_pause_state() <> 'not paused' as is_paused,
        pg_wal_lsn_diff(${
      end!.position
    }::pg_lsn, pg_last_wal_replay_lsn())::float8 as behind
      from pg_control_system()
    `);
    const { system, is_replica, is_paused, behind } = row!;
    const ms = Math.ceil(performance.now() - start);
    if (!is_replica) return wrong("Not a replica: it accepts writes", OTHER);
    if (system !== end!.system) {
      return wrong("Not a replica of DATABASE_URL", OTHER);
    }
    if (behind <= 0) return ok(`Caught up with the primary within ${ms} ms`);
    const lag = `${Math.ceil(behind / 1e5) / 10} MB behind the primary`;
    if (is_paused) {
      return wrong(
        `${lag}: replay is paused`,
        "select pg_wal_replay_resume() on the replica",
      );
    }
    if (ms > 5_000) {
      return wrong(
        `${lag}, not caught up after ${ms} ms`,
        "See the replica's log, and pg_stat_replication on the primary; until then its readers get old data",
      );
    }
    await pause(100);
  }
}
