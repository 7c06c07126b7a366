import type { Config } from "../../schema/config.ts";
import type { Operations } from "../database.ts";
import { checkChanges } from "./changes_check.ts";
import { checkCodeLists, checkCounters, checkKeys } from "./content_checks.ts";
import {
  checkDatabase,
  checkDistribution,
  checkExtensions,
  checkMigrations,
  checkTimeouts,
} from "./server_checks.ts";

/** What was looked at, whether it is in order, and what to do where it is not. */
export interface Finding {
  subject: string;
  ok: boolean;
  finding: string;
  advice?: string;
}

type Check = (
  database: Operations,
  config: Config,
) => Promise<Omit<Finding, "subject">>;

/** In their order: where one of `FIRST` is not in order, those after it cannot be. */
const CHECKS: Record<string, Check> = {
  database: checkDatabase,
  "time-outs": checkTimeouts,
  extensions: checkExtensions,
  migrations: checkMigrations,
  "code lists": checkCodeLists,
  counters: checkCounters,
  changes: checkChanges,
  keys: checkKeys,
  distribution: checkDistribution,
};

const FIRST = ["database", "extensions", "migrations"];

const REACH =
  "Check DATABASE_URL, and that PostgreSQL runs and lets this machine in";

const POOLED = "Set DATABASE_PREPARE=false: this is PgBouncer";

/** Looks at everything in the database that the service depends on. */
export async function examine(
  database: Operations,
  config: Config,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [subject, check] of Object.entries(CHECKS)) {
    const finding = await check(database, config).catch((error) => ({
      ok: false,
      finding: error.message,
      ...subject === "database" && { advice: adviceOn(error) },
    }));
    findings.push({ subject, ...finding });
    if (!finding.ok && FIRST.includes(subject)) break;
  }
  return findings;
}

function adviceOn({ message }: Error): string {
  return message.startsWith("unsupported startup parameter") ? POOLED : REACH;
}
