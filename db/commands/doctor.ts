import { readConfig } from "../../schema/config.ts";
import { pause } from "../connections/deadline.ts";
import { sql } from "../connections/sql.ts";
import {
  type DatabaseSettings,
  openDatabase,
  type Queries,
} from "../database.ts";
import { flag, parseArguments } from "./arguments.ts";
import { examine, type Finding, ok, wrong } from "./checks.ts";

const UNREACHABLE =
  "Check DATABASE_REPLICA_URL, and that the replica accepts connections from this machine; until then the primary serves all reads";

const MISTAKEN =
  "Set DATABASE_REPLICA_URL to a streaming replica of DATABASE_URL, or unset it";

type Environment = Parameters<typeof readConfig>[0];

/** The only command that does not require a database. */
export const DOCTOR = {
  usage: "doctor [--json]",
  does:
    "Checks configuration, database, role, migrations, counters, keys and replica, and says how to fix problems",

  /** Returns the report, and whether all checks passed. */
  async run(environment: Environment, args: string[]) {
    const { json } = parseArguments(this.usage, args, { json: flag });
    const findings = Object.entries(await diagnose(environment))
      .map(([subject, finding]) => ({ subject, ...finding }));
    const report = json
      ? JSON.stringify(findings, null, 2)
      : findings.map(lineOf).join("\n");
    return { report, ok: findings.every(({ ok }) => ok) };
  },
};

async function diagnose(environment: Environment) {
  const findings: Record<string, Finding> = {};
  let subject = "configuration";
  try {
    const config = readConfig(environment);
    const { url = "", dataDir } = config.database;
    // Without user and password.
    const at = URL.parse(url);
    const place = at ? at.host + at.pathname : `embedded in ${dataDir}`;
    findings[subject] = ok(`The database is ${place}`);
    subject = "database";
    await using database = await openDatabase(config.database);
    const primary = database.for({ deadline: performance.now() + 600_000 });
    Object.assign(findings, await examine(primary, config));
    if (!findings[subject]!.ok) return findings;
    findings.replica = config.replica
      ? await compare(primary, config.replica)
        .catch(({ message }) => wrong(message, UNREACHABLE))
      : ok("None is configured");
  } catch (error) {
    findings[subject] = wrong((error as Error).message);
  }
  return findings;
}

/** Whether the replica follows the primary, and how far behind it is. */
async function compare(
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
    if (other) return wrong(other, MISTAKEN);
    if (behind <= 0) return ok(`Caught up with the primary within ${ms} ms`);
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

function lineOf(
  { subject, ok, finding, advice }: Finding & { subject: string },
): string {
  const said = `${ok ? "ok   " : "WRONG"}  ${subject.padEnd(14)} ${finding}`;
  return advice ? `${said}\n       ${" ".repeat(14)} -> ${advice}` : said;
}
