import { pause } from "../connections/deadline.ts";
import { sql } from "../connections/sql.ts";
import { type DatabaseSettings, openDatabase, type Queries } from "../database.ts";
import { type Finding, fine, wrong } from "./finding.ts";

export const UNREACHABLE =
  "Check DATABASE_REPLICA_URL, and that the replica accepts connections from this machine; until then the primary serves all reads";

const NOT_ITS_REPLICA =
  "Set DATABASE_REPLICA_URL to a streaming replica of DATABASE_URL, or unset it";

/** Whether the replica follows the primary, and how far behind it is. */
export async function compareReplica(
  primary: Queries,
  settings: DatabaseSettings,
): Promise<Finding> {
  await using database = await openDatabase(settings);
  const replica = database.for({ deadline: performance.now() + 15_000 });
  const [end] = await primary.lookUp(sql<{ system: string; position: string }>`
    select system_identifier::text as system, pg_current_wal_flush_lsn()::text as position
    from pg_control_system()
  `);
  const { system, position } = end!;
  const progress = sql<{ other?: string; is_paused: boolean; behind: number }>`
    select
      case
        when not pg_is_in_recovery() then 'Not a replica: it accepts writes'
        when system_identifier::text <> ${system} then 'Not a replica of DATABASE_URL'
      end as other,
      pg_is_in_recovery() and pg_get_wal_replay_pause_state() <> 'not paused' as is_paused,
      pg_wal_lsn_diff(${position}::pg_lsn, pg_last_wal_replay_lsn())::float8 as behind
    from pg_control_system()
  `;
  const start = performance.now();
  for (;; await pause(100)) {
    const [row] = await replica.lookUp(progress);
    const { other, is_paused, behind } = row!;
    const ms = Math.ceil(performance.now() - start);
    if (other) return wrong(other, NOT_ITS_REPLICA);
    if (behind <= 0) return fine(`Caught up with the primary within ${ms} ms`);
    const lag = `${Math.ceil(behind / 1e5) / 10} MB behind the primary`;
    const resume = "select pg_wal_replay_resume() on the replica";
    if (is_paused) return wrong(`${lag}: replay is paused`, resume);
    if (ms > 5_000) {
      return wrong(
        `${lag}, not caught up after ${ms} ms`,
        "See the replica's log, and pg_stat_replication on the primary; until then its readers get old data",
      );
    }
  }
}
