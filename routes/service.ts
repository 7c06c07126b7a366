import { connectionAdvice } from "../db/connections/errors.ts";
import { openDatabase } from "../db/database.ts";
import {
  checkMigrated,
  hasOrganizations,
  install,
  installDemo,
  issueDemoKey,
} from "../db/migrate.ts";
import type { CopiedWebhook } from "../db/origin.ts";
import { keepDeletingOldVersions } from "../db/history/retention.ts";
import { keepSpreading } from "../db/products/renames.ts";
import { openReplica } from "../db/replica.ts";
import { logDisabled } from "../middleware/sender/disabled.ts";
import { openSender } from "../middleware/sender/sender.ts";
import { createTokenVerifier } from "../middleware/jwt.ts";
import type { Log } from "../middleware/log.ts";
import { toApiError } from "../middleware/respond.ts";
import { openTelemetry } from "../middleware/telemetry.ts";
import type { Config } from "../schema/config.ts";
import { createHandler } from "./mod.ts";

/** The time limit for running requests. Deno Deploy and most supervisors kill after 5 s. */
const DRAIN_MS = 4_000;

/** The part of that time for the messages of webhooks. */
const SENDER_MS = 3_000;

/** A second signal within this time is ignored: `deno task` repeats Ctrl-C. */
const DUPLICATE_SIGNAL_MS = 500;

/** The difference between the time limits of a request and of a statement. */
const MARGIN_MS = 1_000;

const BODY_TIMEOUT_MS = 10_000;

/** Slow connections take tens of seconds to send the kernel's buffer. */
const SEND_TIMEOUT_MS = 30_000;

const HOUR_MS = 3_600_000;

/** The service of a process, from its start to its end. */
export interface Service {
  fetch(request: Request): Promise<Response>;
  /**
   * Refuses new requests, lets running ones finish, and closes the server and the
   * database. Ends the process after five seconds at the latest, and at once when
   * called again.
   */
  stop(close?: () => Promise<void>): Promise<void>;
  /** Shows a key for the demo organization of the embedded database, unless it has one. */
  issueDemoKey(show: (key: string) => Promise<void>): Promise<void>;
}

/** The parts of the process that the service uses. */
export interface Process {
  log: Log;
  /** Waits until the log is written. Returns false after half a second. */
  flush(): Promise<boolean>;
  /** Ends the process because of an error that a retry cannot fix. */
  exitWith(error: Error): Promise<never>;
}

/**
 * Opens the database and migrates it. Requests are refused until the database is
 * ready.
 */
export async function openService(
  config: Config,
  { log, flush, exitWith }: Process,
): Promise<Service> {
  const telemetry = openTelemetry();
  const observe = (operation: string) => telemetry.start(`database ${operation}`);
  const database = await openDatabase(config.database, { observe });
  telemetry.measure("primary", database);
  const replica = config.replica &&
    await openReplica(config.replica, logReplica, { observe });
  if (replica) telemetry.measure("replica", replica);
  /** The queries of the preparation, which may take long. */
  const setupQueries = () => database.for({ deadline: performance.now() + HOUR_MS });
  const sender = openSender(database, config.webhooks, {
    log,
    requests: () => inFlight,
  });
  let state: "starting" | "ready" | "stopping" = "starting";
  let stoppedAt = 0;
  let inFlight = 0;
  const drained = Promise.withResolvers<void>();

  const handle = createHandler({
    database,
    replica,
    verifyToken: config.token && createTokenVerifier(config.token),
    log,
    telemetry,
    sender,
    apiPrefix: config.apiPrefix,
    corsOrigins: config.corsOrigins,
    docs: config.docs,
    maxBodyBytes: config.maxBodyBytes,
    maxOnixBytes: config.maxOnixBytes,
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    sendTimeoutMs: SEND_TIMEOUT_MS,
    deadlineMs: config.database.statementTimeoutMs + MARGIN_MS,
    isReady: () => state === "ready",
  });

  function logReplica(isDown: boolean, reason?: unknown): void {
    if (!isDown) return log("warn", { message: "The replica is up again" });
    log("warn", {
      message: "The replica is down: the primary serves all reads",
      cause: causeOf(reason),
    });
  }

  function logCopied(disabled: readonly CopiedWebhook[]): void {
    for (const { organization_id, ...webhook } of disabled) {
      logDisabled(log, organization_id, {
        ...webhook,
        disabled_reason: "copied",
      });
    }
  }

  /** Unlike the embedded database, a PostgreSQL begins without a demo organization. */
  async function adviseFirstKey(): Promise<void> {
    if (await hasOrganizations(setupQueries())) return;
    log("warn", {
      message: "The database has no organization: nobody can use the API yet",
      advice:
        'deno task organization create "NAME" prints its ID, deno task key create --organization ID --name NAME a key',
    });
  }

  async function prepare(): Promise<void> {
    try {
      if (config.migrateOnStart) logCopied(await install(setupQueries()));
      else await checkMigrated(setupQueries());
      if (state !== "starting") return;
      if (config.database.url) await adviseFirstKey();
      state = "ready";
      sender.start();
    } catch (error) {
      if (state === "stopping") return;
      // The embedded database is never temporarily unavailable.
      const isTemporary = config.database.url &&
        toApiError(error).code === "SERVICE_UNAVAILABLE";
      if (!isTemporary) throw withAdvice(error as Error);
      log("warn", {
        message: "The database is not ready: trying again",
        cause: causeOf(error),
        advice: connectionAdvice(error),
      });
      Deno.unrefTimer(setTimeout(() => prepare().catch(exitWith), 1_000));
    }
  }

  await prepare();
  if (!config.database.url) await installDemo(setupQueries());
  const warn = (message: string) => (error: unknown) => {
    if (state !== "ready") return;
    log("warn", { message: `${message}: trying again`, cause: causeOf(error) });
  };
  const stopSpreading = keepSpreading(
    database,
    warn("Spreading renames to products has failed"),
  );
  const stopDeleting = keepDeletingOldVersions(
    database,
    config.historyDays,
    warn("Deleting old versions of products has failed"),
  );
  return {
    async issueDemoKey(show) {
      if (!config.database.url) await issueDemoKey(setupQueries(), show);
    },
    async fetch(request) {
      inFlight++;
      const response = await handle(request);
      inFlight--;
      if (isWrite(request) && response.ok) sender.productsChanged();
      if (inFlight === 0 && state === "stopping") drained.resolve();
      return response;
    },
    async stop(close) {
      if (state === "stopping") {
        if (performance.now() - stoppedAt > DUPLICATE_SIGNAL_MS) Deno.exit(1);
        return;
      }
      state = "stopping";
      stoppedAt = performance.now();
      log("info", { message: "The service is stopping" });
      const lastResort = setTimeout(async () => {
        log("warn", {
          message: "The service is stopping with unfinished requests",
        });
        await flush();
        Deno.exit(0);
      }, DRAIN_MS);
      Deno.unrefTimer(lastResort);
      stopSpreading();
      stopDeleting();
      // Closing the server first would cut off arriving bodies.
      const sent = sender.stop(performance.now() + SENDER_MS);
      if (inFlight > 0) await drained.promise;
      await sent;
      await close?.();
      await Promise.all([database.close(0.5), replica?.close(0.5)]);
      log("info", { message: "The service has stopped" });
      // `deno serve` may still be sending the last responses: it exits by itself.
      if (!await flush()) Deno.exit(0);
    },
  };
}

function isWrite({ method }: Request): boolean {
  return method === "POST" || method === "PUT" || method === "DELETE";
}

/** The error, with advice for the operator. */
function withAdvice(error: Error): Error {
  const advice = connectionAdvice(error);
  return advice ? new Error(`${error.message}: ${advice}`, { cause: error }) : error;
}

/** The log fields of a connection error. Its message quotes no client data. */
function causeOf(error: unknown) {
  const { code, message } = error as Error & { code?: string };
  return { code, message };
}
