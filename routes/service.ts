import { Activity } from "../db/background.ts";
import { openDatabase } from "../db/database.ts";
import { installDemo, issueDemoKey, type UnusedDemo } from "../db/demo.ts";
import { keepDeletingOldVersions } from "../features/history/db/retention.ts";
import { keepPropagating } from "../features/changes/db/renames.ts";
import { openReplica } from "../db/replica.ts";
import { openSender } from "../features/webhooks/sender/sender.ts";
import { createTokenVerifier } from "../middleware/jwt.ts";
import { causeOf, type Log } from "../middleware/log.ts";
import { openTelemetry } from "../middleware/telemetry.ts";
import type { Config } from "../schema/config.ts";
import { EVENTS } from "../middleware/events.ts";
import { createHandler } from "./handler.ts";
import { Lifecycle } from "./lifecycle.ts";
import { prepare } from "./preparation.ts";

/*
 * Puts the service together: database, replica, handler, sender of webhooks, background work, stop.
 */

/** The time limit for running requests. Deno Deploy and most supervisors kill after 5 s. */
const DRAIN_MS = 4_000;

/** The part of that time in which webhooks finish their messages. */
const SENDER_MS = 3_000;

/** The difference between the time limits of a request and of a statement. */
const MARGIN_MS = 1_000;

const BODY_TIMEOUT_MS = 10_000;

/** Slow connections take tens of seconds to send the kernel's buffer. */
const SEND_TIMEOUT_MS = 30_000;

const HOUR_MS = 3_600_000;

/** The service of a process: `preparation.ts` starts it, `lifecycle.ts` knows its state. */
export interface Service {
  fetch(request: Request): Promise<Response>;
  /**
   * Refuses new requests, lets running ones finish, and closes the server and the
   * database. Ends the process after five seconds at the latest, and at once when
   * called again.
   */
  stop(close?: () => Promise<void>): Promise<void>;
  /**
   * Shows a key of the demo organization in the embedded database (`issueDemoKey` of
   * `db/demo.ts`).
   */
  issueDemoKey(show: (key: string) => Promise<boolean>): Promise<UnusedDemo | undefined>;
}

/** The parts of the process that the service uses. */
export interface Process {
  log: Log;
  /** Waits until all output is written. Returns false after half a second. */
  flush(): Promise<boolean>;
  /** Ends the process because of an error that a retry cannot fix. */
  exitWith(error: Error): Promise<never>;
}

/** Opens the database and prepares it. Until it is ready, requests are answered with 503. */
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
  const lifecycle = new Lifecycle();
  const activity = new Activity();
  const sender = openSender(database, config.webhooks, {
    log,
    activity,
    requests: () => lifecycle.inFlight,
  });

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
    isReady: () => lifecycle.isReady,
  });

  function logReplica(isDown: boolean, reason?: unknown): void {
    if (!isDown) return log("warn", { message: EVENTS.replicaUp });
    log("warn", {
      message: EVENTS.replicaDown,
      cause: causeOf(reason),
    });
  }

  await prepare({
    config,
    lifecycle,
    log,
    setupQueries,
    begin: () => sender.start(),
    exitWith,
  });
  if (!config.database.url) await installDemo(setupQueries());
  const warn = (message: string) => (error: unknown) => {
    if (!lifecycle.isReady) return;
    log("warn", { message, cause: causeOf(error) });
  };
  const propagation = keepPropagating(
    database,
    activity,
    warn(EVENTS.spreadingFailed),
  );
  const deleting = keepDeletingOldVersions(
    database,
    config.historyDays,
    activity,
    warn(EVENTS.deletingFailed),
  );
  return {
    async issueDemoKey(show) {
      if (!config.database.url) return await issueDemoKey(setupQueries(), show);
    },
    async fetch(request) {
      if (!isHealthCheck(request)) activity.requestCame();
      return await lifecycle.track(async () => {
        const response = await handle(request);
        if (isWrite(request) && response.ok) {
          propagation.wake();
          sender.productsChanged();
        }
        return response;
      });
    },
    async stop(close) {
      if (!lifecycle.stop()) return;
      log("info", { message: EVENTS.stopping });
      const lastResort = setTimeout(async () => {
        log("warn", {
          message: EVENTS.unfinished,
        });
        await flush();
        Deno.exit(0);
      }, DRAIN_MS);
      Deno.unrefTimer(lastResort);
      propagation.stop();
      deleting.stop();
      // Closing the server first would cut off arriving bodies.
      const sent = sender.stop(performance.now() + SENDER_MS);
      await lifecycle.drain();
      await sent;
      await close?.();
      await Promise.all([database.close(0.5), replica?.close(0.5)]);
      log("info", { message: EVENTS.stopped });
      // `deno serve` may still be sending the last responses: it exits by itself.
      if (!await flush()) Deno.exit(0);
    },
  };
}

/** Monitoring does not keep an idle service busy. */
function isHealthCheck({ url }: Request): boolean {
  return new URL(url).pathname.startsWith("/health/");
}

function isWrite({ method }: Request): boolean {
  return method === "POST" || method === "PUT" || method === "DELETE";
}
