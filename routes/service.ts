import { openDatabase } from "../db/database.ts";
import { checkMigrated, install, installDemo } from "../db/install.ts";
import { openReplica } from "../db/replica.ts";
import { toApiError } from "../middleware/error_mapping.ts";
import type { Log } from "../middleware/log.ts";
import { openTelemetry } from "../middleware/telemetry.ts";
import { createTokenVerifier } from "../middleware/token.ts";
import type { Config } from "../schema/config.ts";
import { createHandler } from "./mod.ts";

/** Deno Deploy gives a process five seconds to end. */
const DRAIN_MS = 4_000;

/** Under `deno task` a Ctrl-C comes twice: from the terminal, and from `deno task`. */
const ECHO_MS = 500;

/** A request waits for the database this much longer than a statement may take. */
const MARGIN_MS = 1_000;

/** A body has so long to arrive. */
const BODY_ARRIVAL_MS = 10_000;

/** Slow connections take tens of seconds for what the kernel has buffered. */
const ANSWER_PATIENCE_MS = 30_000;

const HOUR_MS = 3_600_000;

/** The service of a process, from its start to its end. */
export interface Service {
  fetch(request: Request): Promise<Response>;
  /**
   * Refuses new requests and lets those under way finish, then closes the
   * server and the database, and so ends the process; asked again, at once.
   */
  stop(close?: () => Promise<void>): Promise<void>;
  /** The key of the demo organization, where this start has made it. */
  demoKey: string | undefined;
}

/** What the process lends its service. */
export interface Process {
  log: Log;
  /** Writes the lines of the log that still wait. */
  flush(): void;
  /** Ends the process for what waiting does not mend. */
  giveUp(error: Error): never;
}

/**
 * Opens the database and brings it up to date. Where it is away, requests are
 * refused until it comes.
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
      // Of an embedded one there is nobody else to wait for.
      const isWorthwhile = config.database.url &&
        toApiError(error).code === "SERVICE_UNAVAILABLE";
      if (!isWorthwhile) throw error;
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
      const lastResort = setTimeout(() => {
        flush();
        Deno.exit(0);
      }, DRAIN_MS);
      Deno.unrefTimer(lastResort);
      // Before the server closes: that would cut off the bodies still arriving.
      await Promise.allSettled(inFlight);
      await close?.();
      await Promise.all([database.close(0.5), replica?.close(0.5)]);
      // No `Deno.exit`: under `deno serve` the last answers may not be out yet.
      flush();
    },
  };
}

/** Why there is no connection: no request has a part in that, so the message quotes nobody. */
function causeOf(error: unknown) {
  const { code, message } = error as Error & { code?: string };
  return { code, message };
}
