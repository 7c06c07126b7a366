import {
  type Config,
  type Environment,
  findUnknownVariables,
  readConfig,
} from "../../schema/config.ts";
import { VERSION } from "../../schema/version.ts";
import { FolderInUse } from "../connections/embedded.ts";
import { command, flag } from "../command_line/arguments.ts";
import { openDatabase } from "../database.ts";
import { examine } from "./checks.ts";
import { type Finding, type Findings, fine, wrong } from "./finding.ts";
import { checkKeySet } from "./key_set.ts";
import { compareReplica, UNREACHABLE } from "./replica.ts";

/** `deno task doctor`, the only command that runs without a database. */
export const DOCTOR = command({
  usage: "doctor [--json]",
  does:
    "Checks configuration, key set, database, role, migrations, counters, statistics, keys, webhooks, recipients and replica, and prints how to fix problems. Exits with 1 if something is wrong",
  args: { json: flag },
  run: ({ json }, { environment, variables }) => doctor(environment, { json, variables }),
});

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
    const config = readConfig(environment, variables);
    findings[subject] = checkConfiguration(config, variables);
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

/** Names the database, without user and password, and the variables that nothing reads. */
function checkConfiguration({ database }: Config, variables: readonly string[]): Finding {
  const at = URL.parse(database.url ?? "");
  const place = at ? at.host + at.pathname : `embedded in ${database.dataDir}`;
  const unknown = findUnknownVariables(variables);
  return {
    ok: true,
    finding: [`The database is ${place}`, ...unknown].join(". "),
    advice: unknown.length > 0 ? "Correct the name: the service does not read it" : undefined,
  };
}

/** A running service is no fault, but no other process can read its folder. */
const IN_USE: Finding = {
  ok: true,
  finding: "DATA_DIR is in use by another process: the database is not examined",
  advice: "Stop that process to have it examined",
};

function findingLines(
  { subject, ok, finding, advice }: Finding & { subject: string },
): string {
  const mark = !ok ? "WRONG" : advice ? "note " : "ok   ";
  const indented = `\n${" ".repeat(22)}`;
  const line = `${mark}  ${subject.padEnd(14)} ${finding.replaceAll("\n", indented)}`;
  return advice ? `${line}${indented}-> ${advice}` : line;
}
