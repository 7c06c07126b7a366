import { type Config, readConfig } from "../../schema/config.ts";
import { read } from "./arguments.ts";
import { examine, type Finding } from "./checks.ts";
import { openDatabase, type Operations } from "../database.ts";
import { checkReplica } from "./replica_check.ts";

const PATIENCE_MS = 600_000;

/** A replica need not be there, and nothing that it is asked takes long. */
const REPLICA_PATIENCE_MS = 15_000;

/** The one command that also runs where there is nothing to run a command on. */
export const DOCTOR = {
  usage: "doctor [--json]",
  does:
    "Says whether configuration, database, migrations, extensions, counters, keys and replica are in order, and what to do where not",

  /** Gives what it prints, and whether all is in order. Throws `UsageError`. */
  async run(
    environment: (name: string) => string | undefined,
    args: string[],
  ): Promise<{ report: string; ok: boolean }> {
    const { values } = read(this, args, { json: { type: "boolean" } });
    const findings = await diagnose(environment);
    return {
      report: values.json
        ? JSON.stringify(findings, null, 2)
        : findings.map(line).join("\n"),
      ok: findings.every(({ ok }) => ok),
    };
  },
};

async function diagnose(
  environment: (name: string) => string | undefined,
): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    return [wrong("configuration", error)];
  }
  const configuration = {
    subject: "configuration",
    ok: true,
    finding: `The database is ${placeOf(config)}`,
  };
  try {
    const database = await openDatabase(config.database);
    const operations = database.until(performance.now() + PATIENCE_MS);
    try {
      const findings = await examine(operations, config);
      if (findings[0]!.ok) {
        findings.push(await examineReplica(operations, config));
      }
      return [configuration, ...findings];
    } finally {
      await database.close();
    }
  } catch (error) {
    return [configuration, wrong("database", error)];
  }
}

const REACH_REPLICA =
  "Check DATABASE_REPLICA_URL, and that it lets this machine in; until then the primary answers";

async function examineReplica(
  primary: Operations,
  { replica: settings }: Config,
): Promise<Finding> {
  const subject = "replica";
  if (!settings) {
    return { subject, ok: true, finding: "None is configured" };
  }
  const replica = await openDatabase(settings);
  try {
    const operations = replica.until(performance.now() + REPLICA_PATIENCE_MS);
    return { subject, ...await checkReplica(primary, operations) };
  } catch (error) {
    return { ...wrong(subject, error), advice: REACH_REPLICA };
  } finally {
    await replica.close();
  }
}

function wrong(subject: string, error: unknown): Finding {
  return { subject, ok: false, finding: (error as Error).message };
}

/** Without user and password. */
function placeOf({ database: { url, dataDir } }: Config): string {
  if (!url) return `the embedded one in ${dataDir}`;
  const { host, pathname } = new URL(url);
  return `${host || "this machine"}${pathname}`;
}

function line({ subject, ok, finding, advice }: Finding): string {
  const said = `${ok ? "ok   " : "WRONG"}  ${subject.padEnd(14)} ${finding}`;
  return advice ? `${said}\n       ${" ".repeat(14)} -> ${advice}` : said;
}
