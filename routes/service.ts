import { connectionAdvice } from "../db/connections/advice.ts";
import { openDatabase } from "../db/database.ts";
import { checkMigrated, install, installDemo } from "../db/install.ts";
import { openReplica } from "../db/replica.ts";
import { toApiError } from "../middleware/error_mapping.ts";
import type { Log } from "../middleware/log.ts";
import { openTelemetry } from "../middleware/telemetry.ts";
import { createTokenVerifier } from "../middleware/token.ts";
import type { Config } from "../schema/config.ts";
import { createHandler } from "./mod.ts";

/** Deno Deploy and most supervisors kill a process that takes five seconds to end. */
const DRAIN_MS = 4_000;

/** The last lines of the log have this long to be written. */
const FLUSH_MS = 500;

/** Under `deno task` a Ctrl-C arrives twice: from the terminal, and from `deno task`. */
const ECHO_MS = 500;

/** A request waits for the database this much longer than a statement may take. */
const MARGIN_MS = 1_000;

/** The time in which a body has to arrive. */
const BODY_ARRIVAL_MS = 10_000;

/** Slow connections take tens of seconds for what the kernel has buffered. */
const ANSWER_PATIENCE_MS = 30_000;

const HOUR_MS = 3_600_000;

/** The service of a process, from its start to its end. */
export interface Service {
  fetch(request: Request): Promise<Response>;
  /**
   * Refuses new requests, lets those under way finish, and closes the server and
   * the database. The process ends within five seconds whatever hangs, and at
   * once when it is called again.
   */
  stop(close?: () => Promise<void>): Promise<void>;
  /** The key of the demo organization, if this start has made it. */
  demoKey: string | undefined;
}

/** What the service needs of its process. */
export interface Process {
  log: Log;
  /** Waits until the log is written. Gives false when that takes longer than `ms`. */
  flush(ms: number): Promise<boolean>;
  /** Ends the process because of an error that waiting does not mend. */
  giveUp(error: Error): Promise<never>;
}

/**
 * Opens the database and brings it up to date. While it cannot be reached,
 * requests are refused.
 */
export async function openService(
  config: Config,
  { log, flush, giveUp }: Process,
): Promise<Service> {
  const telemetry = openTelemetry();
  const database = await openDatabase(config.database);
  telemetry.measure("primary", database);
  const replica = config.replica &&
    await openReplica(config.replica, sayReplica);
  if (replica) telemetry.measure("replica", replica);
  const untilPrepared = () => database.until(performance.now() + HOUR_MS);
  let state: "starting" | "ready" | "stopping" = "starting";
  let stoppedAt = 0;
  const isReady = () => state === "ready";
  const inFlight = new Set<Promise<Response>>();

  const handle = createHandler({
    database,
    replica,
    verifyToken: config.token && createTokenVerifier(config.token),
    log,
    telemetry,
    apiPrefix: config.apiPrefix,
    corsOrigins: config.corsOrigins,
    docs: config.docs,
    maxBodyBytes: config.maxBodyBytes,
    bodyArrivalMs: BODY_ARRIVAL_MS,
    answerPatienceMs: ANSWER_PATIENCE_MS,
    deadlineMs: config.database.statementTimeoutMs + MARGIN_MS,
    isReady,
  });

  function sayReplica(isAway: boolean, reason?: unknown): void {
    if (!isAway) return log("warn", { message: "The replica is back" });
    log("warn", {
      message: "The replica is away: the primary answers in its place",
      cause: causeOf(reason),
    });
  }

  async function prepare(): Promise<void> {
    try {
      if (config.migrateOnStart) await install(untilPrepared());
      else await checkMigrated(untilPrepared());
      if (state === "starting") state = "ready";
    } catch (error) {
      if (state === "stopping") return;
      // The embedded database has no other process to wait for.
      const isWorthwhile = config.database.url &&
        toApiError(error).code === "SERVICE_UNAVAILABLE";
      if (!isWorthwhile) throw withAdvice(error as Error);
      log("warn", {
        message: "The database is not ready yet: trying again",
        cause: causeOf(error),
      });
      Deno.unrefTimer(setTimeout(() => prepare().catch(giveUp), 1_000));
    }
  }

  await prepare();
  return {
    demoKey: config.database.url
      ? undefined
      : await installDemo(untilPrepared()),
    fetch(request) {
      const response = handle(request);
      inFlight.add(response);
      return response.finally(() => inFlight.delete(response));
    },
    async stop(close) {
      if (state === "stopping") {
        if (performance.now() - stoppedAt > ECHO_MS) Deno.exit(1);
        return;
      }
      state = "stopping";
      stoppedAt = performance.now();
      log("info", { message: "The service is stopping" });
      const lastResort = setTimeout(async () => {
        log("warn", { message: "The service stops with work unfinished" });
        await flush(FLUSH_MS);
        Deno.exit(0);
      }, DRAIN_MS);
      Deno.unrefTimer(lastResort);
      // Closing the server first would cut off the bodies that still arrive.
      await Promise.allSettled(inFlight);
      await close?.();
      await Promise.all([database.close(0.5), replica?.close(0.5)]);
      log("info", { message: "The service has stopped" });
      // No `Deno.exit` otherwise: under `deno serve` the last answers may be under way.
      if (!await flush(FLUSH_MS)) Deno.exit(0);
    },
  };
}

/** The error, with what to do about it. */
function withAdvice(error: Error): Error {
  const advice = connectionAdvice(error);
  return advice
    ? new Error(`${error.message}: ${advice}`, { cause: error })
    : error;
}

/** Why there is no connection. The message may be logged: it quotes no request. */
function causeOf(error: unknown) {
  const { code, message } = error as Error & { code?: string };
  return { code, message };
}
