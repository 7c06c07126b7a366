import {
  type Config,
  type Environment,
  findUnknownVariables,
  readConfig,
} from "../../schema/config.ts";
import { VERSION } from "../../schema/version.ts";
import { pause } from "../connections/deadline.ts";
import { FolderInUse } from "../connections/embedded.ts";
import { connectionAdvice } from "../connections/errors.ts";
import { raw, sql, type Statement } from "../connections/sql.ts";
import { noTimeLimits } from "../connections/transaction.ts";
import { type DatabaseSettings, openDatabase, ping, type Queries } from "../database.ts";
import { pendingMigrations } from "../migrate.ts";
import { isAtOrigin } from "../origin.ts";
import { allOrganizations, miscounted, misindexed } from "./recount.ts";
import { DOCTOR_CHECKS, readSqlFile, statementsOf } from "../sql_files.ts";
import { command, flag } from "../command_line/arguments.ts";

/*
 * Runs the checks of `deno task doctor`. A check is a statement of `sql/doctor.sql`, with its name
 * in the comment above it. It returns a fault with advice, or a sentence that all is fine. A fact
 * that SQL cannot find out comes from `FACTS`: the statement reads it from the setting
 * `doctor.fact`. Configuration, key set and replica are checked in this file.
 */

/** `deno task doctor`, the only command that runs without a database. */
export const DOCTOR = command({
  usage: "doctor [--json]",
  does:
    "Checks configuration, key set, database, role, migrations, counters, statistics, keys, webhooks, recipients and replica, and prints how to fix problems. Exits with 1 if something is wrong",
  args: { json: flag },
  run: ({ json }, { environment, variables }) => doctor(environment, { json, variables }),
});

/** The result of a check, with advice if something is wrong, or should be corrected by customers. */
interface Finding {
  ok: boolean;
  finding: string;
  advice?: string | undefined;
}

/** The findings by the names of the checks, in order. */
type Findings = Record<string, Finding>;

interface DoctorOptions {
  json?: boolean;
  /** The names of the variables that are set. */
  variables?: readonly string[];
}

/** The findings as text or as JSON, and whether all checks passed. */
export async function doctor(
  environment: Environment,
  { json = false, variables = [] }: DoctorOptions = {},
) {
  const findings = Object.entries(await diagnose(environment, variables))
    .map(([subject, finding]) => ({ subject, ...finding }));
  const text = json ? JSON.stringify(findings, null, 2) : findings.map(findingLines).join("\n");
  return { text, ok: findings.every(({ ok }) => ok) };
}

async function diagnose(environment: Environment, variables: readonly string[]): Promise<Findings> {
  const version = fine(`${VERSION}, on Deno ${Deno.version.deno}`);
  const findings: Findings = { version };
  let subject = "configuration";
  try {
    const config = readConfig(environment);
    const { url = "", dataDir } = config.database;
    // Without user and password.
    const at = URL.parse(url);
    const place = at ? at.host + at.pathname : `embedded in ${dataDir}`;
    const unknown = findUnknownVariables(variables);
    findings[subject] = {
      ok: true,
      finding: [`The database is ${place}`, ...unknown].join(". "),
      advice: unknown.length > 0 ? "Correct the name: the service does not read it" : undefined,
    };
    findings["key set"] = config.token && "jwksUrl" in config.token
      ? await checkKeySet(config.token.jwksUrl)
      : fine("None is configured");
    subject = "database";
    await using database = await openDatabase(config.database);
    const primary = database.for({ deadline: performance.now() + 600_000 });
    Object.assign(findings, await examine(primary, config));
    if (!findings[subject]!.ok) return findings;
    findings.replica = config.replica
      ? await compareReplica(primary, config.replica)
        .catch(({ message }) => wrong(message, UNREACHABLE))
      : fine("None is configured");
  } catch (error) {
    findings[subject] = error instanceof FolderInUse ? IN_USE : wrong((error as Error).message);
  }
  return findings;
}

/** A running service is no fault, but no other process can read its folder. */
const IN_USE: Finding = {
  ok: true,
  finding: "DATA_DIR is in use by another process: the database is not examined",
  advice: "Stop that process to have it examined",
};

const KEY_SET_MS = 3_000;

/** Whether the URL has a JWK Set (RFC 7517, 5) with keys that can verify tokens. */
async function checkKeySet(url: URL): Promise<Finding> {
  const advice =
    "Check JWT_JWKS_URL, and that this machine can reach it; until then Bearer tokens get 503";
  try {
    const response = await fetch(url, {
      redirect: "manual",
      signal: AbortSignal.timeout(KEY_SET_MS),
    });
    const text = await response.text();
    if (response.status !== 200) {
      return wrong(`The URL responded with ${response.status}`, advice);
    }
    const keys = keysIn(text);
    if (!keys) return wrong("The response is not a JWK Set", advice);
    const usable = keys.filter(({ kty }) => /^(?:RSA|EC|OKP)$/.test(`${kty}`));
    return usable.length > 0
      ? fine(`Keys that can verify tokens: ${usable.length}`)
      : wrong("The set has no key that can verify tokens", advice);
  } catch (error) {
    return wrong(`It cannot be fetched: ${(error as Error).message}`, advice);
  }
}

function keysIn(text: string): { kty?: unknown }[] | undefined {
  try {
    const { keys } = JSON.parse(text);
    const isKey = (key: unknown) => typeof key === "object" && key !== null;
    return Array.isArray(keys) && keys.every(isKey) ? keys : undefined;
  } catch {
    return undefined;
  }
}

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

const UNREACHABLE =
  "Check DATABASE_REPLICA_URL, and that the replica accepts connections from this machine; until then the primary serves all reads";

const NOT_ITS_REPLICA =
  "Set DATABASE_REPLICA_URL to a streaming replica of DATABASE_URL, or unset it";

/** Whether the replica follows the primary, and how far behind it is. */
async function compareReplica(
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

function fine(finding: string): Finding {
  return { ok: true, finding };
}

function wrong(finding: string, advice?: string): Finding {
  return { ok: false, finding, advice };
}

function findingLines(
  { subject, ok, finding, advice }: Finding & { subject: string },
): string {
  const mark = !ok ? "WRONG" : advice ? "note " : "ok   ";
  const indented = `\n${" ".repeat(22)}`;
  const line = `${mark}  ${subject.padEnd(14)} ${finding.replaceAll("\n", indented)}`;
  return advice ? `${line}${indented}-> ${advice}` : line;
}
