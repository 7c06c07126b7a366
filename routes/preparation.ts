import { connectionAdvice } from "../db/connections/errors.ts";
import type { Queries } from "../db/database.ts";
import { hasOrganizations } from "../db/demo.ts";
import { checkMigrated, install } from "../db/migrate.ts";
import type { CopiedWebhook } from "../db/origin.ts";
import { logDisabled } from "../features/webhooks/sender/disabled.ts";
import { EVENTS } from "../middleware/events.ts";
import { toApiError } from "../middleware/failure.ts";
import { causeOf, type Log } from "../middleware/log.ts";
import type { Config } from "../schema/config.ts";
import type { Lifecycle } from "./lifecycle.ts";

/* The start of the service: migrations, first advice, retries. */

/** The time between two attempts, in milliseconds. */
const RETRY_MS = 1_000;

/** What a preparation needs of the service. */
export interface Preparation {
  config: Config;
  lifecycle: Lifecycle;
  log: Log;
  /** Returns queries that may take long. */
  setupQueries: () => Queries;
  /** Called once, when the database is ready. */
  begin: () => void;
  exitWith: (error: Error) => Promise<never>;
}

/**
 * Prepares the database before the first request: migrates it, or checks that it is migrated. If a
 * PostgreSQL is temporarily unavailable, it logs that, returns, and tries again every second.
 * Throws an error that a retry cannot fix.
 */
export async function prepare(preparation: Preparation): Promise<void> {
  const { config, lifecycle, log, setupQueries, begin, exitWith } = preparation;
  try {
    if (config.migrateOnStart) logCopied(log, await install(setupQueries()));
    else await checkMigrated(setupQueries());
    if (!lifecycle.isStarting) return;
    if (config.database.url) await adviseFirstKey(log, setupQueries());
    if (lifecycle.start()) begin();
  } catch (error) {
    if (lifecycle.isStopping) return;
    // The embedded database is never temporarily unavailable.
    const isTemporary = config.database.url &&
      toApiError(error).code === "SERVICE_UNAVAILABLE";
    if (!isTemporary) throw withAdvice(error as Error);
    log("warn", {
      message: EVENTS.notReady,
      cause: causeOf(error),
      advice: connectionAdvice(error),
    });
    Deno.unrefTimer(setTimeout(() => prepare(preparation).catch(exitWith), RETRY_MS));
  }
}

function logCopied(log: Log, disabled: readonly CopiedWebhook[]): void {
  for (const { organization_id, ...webhook } of disabled) {
    logDisabled(log, organization_id, { ...webhook, disabled_reason: "copied" });
  }
}

/** Unlike the embedded database, a PostgreSQL begins without a demo organization. */
async function adviseFirstKey(log: Log, queries: Queries): Promise<void> {
  if (await hasOrganizations(queries)) return;
  log("warn", {
    message: EVENTS.noOrganization,
    advice:
      'deno task organization create "NAME" prints its ID, deno task key create --organization ID --name NAME a key',
  });
}

/** The error, with advice for the operator. */
function withAdvice(error: Error): Error {
  const advice = connectionAdvice(error);
  return advice ? new Error(`${error.message}: ${advice}`, { cause: error }) : error;
}
