import { type Config, readConfig } from "../../schema/config.ts";
import { openDatabase } from "../database.ts";
import { read } from "./arguments.ts";
import { examine, type Finding, ok, wrong } from "./checks.ts";
import { checkReplica } from "./replica_check.ts";

/** The only command that also runs without a database. */
export const DOCTOR = {
  usage: "doctor [--json]",
  does:
    "Checks configuration, database, role, migrations, counters, keys and replica, and says how to fix problems",

  /** Returns the report, and whether all checks passed. Throws `UsageError`. */
  async run(environment: Parameters<typeof readConfig>[0], args: string[]) {
    const { values } = read(this, args, { json: { type: "boolean" } });
    const findings = Object.entries(await diagnose(environment))
      .map(([subject, finding]) => ({ subject, ...finding }));
    return {
      report: values.json
        ? JSON.stringify(findings, null, 2)
        : findings.map(line).join("\n"),
      ok: findings.every(({ ok }) => ok),
    };
  },
};

async function diagnose(environment: Parameters<typeof readConfig>[0]) {
  const findings: Record<string, Finding> = {};
  let subject = "configuration";
  try {
    const config = readConfig(environment);
    findings[subject] = ok(`The database is ${placeOf(config)}`);
    subject = "database";
    const database = await openDatabase(config.database);
    await using _ = { [Symbol.asyncDispose]: () => database.close() };
    const operations = database.until(performance.now() + 600_000);
    Object.assign(findings, await examine(operations, config));
    if (findings[subject]!.ok) {
      findings.replica = await checkReplica(operations, config);
    }
  } catch (error) {
    findings[subject] = wrong((error as Error).message);
  }
  return findings;
}

/** The address of the database, without user and password. */
function placeOf({ database: { url, dataDir } }: Config): string {
  if (!url) return `embedded in ${dataDir}`;
  const { host, pathname } = new URL(url);
  return host + pathname;
}

function line(
  { subject, ok, finding, advice }: Finding & { subject: string },
): string {
  const said = `${ok ? "ok   " : "WRONG"}  ${subject.padEnd(14)} ${finding}`;
  return advice ? `${said}\n       ${" ".repeat(14)} -> ${advice}` : said;
}
