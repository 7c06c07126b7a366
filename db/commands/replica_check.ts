import type { Operations } from "../database.ts";
import { sql } from "../connections/sql.ts";
import { pause } from "../connections/deadline.ts";

/** A replica that has not replayed within that what the primary had is not just busy. */
const CATCHES_UP_WITHIN_MS = 5_000;

const LOOK_AGAIN_MS = 100;

/** Whether the replica follows the primary, and how far behind it is. Throws where it cannot be reached. */
export async function checkReplica(primary: Operations, replica: Operations) {
  const [end] = await primary.lookUp(
    sql<{ system: string; position: string }>`
      select
        (select system_identifier::text from pg_control_system()) as system,
        pg_current_wal_flush_lsn()::text as position
    `,
  );
  const asked = performance.now();
  for (;;) {
    const { system, is_replica, is_paused, behind } = await progress(
      replica,
      end!.position,
    );
    const ms = Math.ceil(performance.now() - asked);
    if (!is_replica) return wrong("It is no replica: it takes writes", OTHER);
    if (system !== end!.system) {
      return wrong("It follows another server than DATABASE_URL", OTHER);
    }
    if (behind <= 0) {
      return {
        ok: true,
        finding: `It had all that the primary has within ${ms} ms`,
      };
    }
    const distance = `It is ${megabytes(behind)} behind the primary`;
    if (is_paused) return wrong(`${distance}: its replay is paused`, RESUME);
    if (ms > CATCHES_UP_WITHIN_MS) {
      return wrong(`${distance}, and did not catch up in ${ms} ms`, FOLLOW);
    }
    await pause(LOOK_AGAIN_MS);
  }
}

const OTHER =
  "Set DATABASE_REPLICA_URL to a streaming replica of DATABASE_URL, or not at all";

const RESUME = "select pg_wal_replay_resume() on the replica";

const FOLLOW =
  "See the replica's log, and pg_stat_replication on the primary; until then readers see what was";

function wrong(finding: string, advice: string) {
  return { ok: false, finding, advice };
}

async function progress(replica: Operations, position: string) {
  const [row] = await replica.lookUp(
    sql<
      {
        system: string;
        is_replica: boolean;
        is_paused: boolean;
        behind: number;
      }
    >`
      select
        (select system_identifier::text from pg_control_system()) as system,
        pg_is_in_recovery() as is_replica,
        pg_is_in_recovery() and pg_get_wal_replay_pause_state() <> 'not paused' as is_paused,
        pg_wal_lsn_diff(${position}::pg_lsn, pg_last_wal_replay_lsn())::float8 as behind
    `,
  );
  return row!;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e5) / 10} MB`;
}
