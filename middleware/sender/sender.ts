import { pause } from "../../db/connections/deadline.ts";
import { type Caller, Tally } from "../../db/connections/fair_share.ts";
import { Turns } from "../../db/connections/turns.ts";
import type { Database, Queries } from "../../db/database.ts";
import { findWork, type Lease, takeLease } from "../../db/webhooks/leases.ts";
import type { Disabled } from "../../db/webhooks/webhooks.ts";
import type { WebhookConfig } from "../../schema/config.ts";
import { unavailable } from "../../schema/errors.ts";
import { hostOf } from "../../schema/targets.ts";
import { Run } from "./run.ts";

/** The interval at which the database is asked for work, without and with an enabled webhook. */
const POLL_MS = { idle: 10_000, busy: 1_000 };

/** The least time between two of these questions: writes often come together. */
const GATHER_MS = 250;

/** The longest pause between two messages while the process serves requests, which come first. */
const MAX_YIELD_MS = 20;

/** Runs at once: each has a page of the feed in memory. */
const MAX_RUNS = 128;

/** Attempts at once. */
const MAX_IN_FLIGHT = { process: 64, organization: 16 };

/** The time limit of a sender's statements. */
const DATABASE_MS = 10_000;

/** Writes a line of the log. */
type Log = (level: "warn", fields: Record<string, unknown>) => void;

/** Sends the messages of webhooks, beside the service. */
export interface Sender {
  readonly config: WebhookConfig;
  /** Begins, once the database is ready. */
  start(): void;
  /** Products may have changed. */
  wake(): void;
  /** A webhook may have changed. */
  notice(): void;
  /** Reserves one attempt of the organization. Throws `SERVICE_UNAVAILABLE` if too many run. */
  reserve(organizationId: string): Disposable;
  /** Logs that a webhook was disabled. */
  logDisabled(organizationId: string, disabled: Disabled): void;
  /** Ends the current attempts until `deadline`, in milliseconds of `performance.now()`, and gives the leases back. */
  stop(deadline: number): Promise<void>;
}

/** Opens the sender of this process. */
export function openSender(
  database: Database,
  config: WebhookConfig,
  { log, requests }: {
    log: Log;
    /** The number of requests that the process serves at the moment. */
    requests: () => number;
  },
): Sender {
  const lease: Lease = {
    holder: crypto.randomUUID(),
    seconds: config.timeoutMs * 2 / 1_000,
  };
  /** By organization and webhook. Each in turn sends one message. */
  const runs = new Turns<Turns<Run>>();
  const inFlight = new Tally();
  let isStarted = false;
  let isStopping = false;
  let hasWebhooks = true;
  let polledAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pollsAt = Infinity;
  let isPolling = false;
  /** Whether the log says that the database does not answer. */
  let isDelayed = false;
  let isPumping = false;

  const queries = (organizationId?: string): Queries =>
    database.for({
      deadline: performance.now() + DATABASE_MS,
      caller: organizationId ? { organizationId, name: "webhooks" } : undefined,
    });

  /** Asks for work in this time, unless it asks earlier anyway. */
  function pollIn(ms: number): void {
    const at = performance.now() + ms;
    if (!isStarted || isStopping || isPolling || pollsAt <= at) return;
    pollsAt = at;
    clearTimeout(timer);
    timer = setTimeout(poll, ms);
    Deno.unrefTimer(timer);
  }

  async function poll(): Promise<void> {
    isPolling = true;
    pollsAt = Infinity;
    polledAt = performance.now();
    for (const run of activeRuns()) run.notice();
    try {
      const free = MAX_RUNS - [...activeRuns()].length;
      const [work] = await queries().lookUp(findWork(free, config.waitingMax));
      hasWebhooks = work!.enabled > 0;
      isDelayed = false;
      for (const { organization_id, id } of work!.ready) {
        run(organization_id, id).catch(logFailure);
      }
    } catch (error) {
      logFailure(error);
    }
    isPolling = false;
    pollIn(hasWebhooks ? POLL_MS.busy : POLL_MS.idle);
  }

  function logFailure(error: unknown): void {
    if (isDelayed) return;
    isDelayed = true;
    const { name, code } = error as { name?: string; code?: string };
    log("warn", {
      message: "Webhooks are delayed: trying again",
      cause: { name, code },
    });
  }

  /** Runs a webhook from its lease to its end. */
  async function run(organizationId: string, id: string): Promise<void> {
    const leaseEnd = performance.now() + lease.seconds * 1_000;
    const webhook = await takeLease(queries(organizationId), id, lease);
    if (!webhook) return;
    const run = new Run(webhook, {
      queries: () => queries(organizationId),
      lease,
      config,
      leaseEnd,
    });
    const ofOrganization = runs.get(organizationId) ??
      runs.add(organizationId, new Turns());
    ofOrganization.add(id, run);
    try {
      if (!isStopping) await run.work(pump);
      else await run.release();
    } finally {
      ofOrganization.delete(id);
      if (ofOrganization.size === 0) runs.delete(organizationId);
      if (run.disabled) logDisabled(organizationId, run.disabled);
    }
  }

  /** Sends what is ready, one message after the other. */
  function pump(): void {
    if (isPumping) return;
    isPumping = true;
    setTimeout(sendOne, Math.min(MAX_YIELD_MS, requests() ** 2));
  }

  function sendOne(): void {
    const next = isStopping ? undefined : takeTurn();
    isPumping = false;
    if (!next) return;
    const { run, caller } = next;
    inFlight.add(caller, 1);
    run.sendNext().catch(logFailure).finally(() => {
      inFlight.add(caller, -1);
      pump();
    });
    pump();
  }

  /** The next run that may send a message. It and its organization go to the end. */
  function takeTurn(): { run: Run; caller: Caller } | undefined {
    for (const [organizationId, ofOrganization] of runs) {
      if (!mayOrganization(organizationId)) continue;
      for (const [name, run] of ofOrganization) {
        const caller = { organizationId, name };
        if (!run.isReady || !mayWebhook(caller, run.limit)) continue;
        ofOrganization.moveToEnd(name);
        runs.moveToEnd(organizationId);
        return { run, caller };
      }
    }
  }

  /** An organization may hold a quarter of what others leave, so that silent receivers never hold all. */
  function mayOrganization(organizationId: string): boolean {
    const own = inFlight.ofOrganization({ organizationId });
    const left = MAX_IN_FLIGHT.process - (inFlight.total - own);
    const share = Math.min(MAX_IN_FLIGHT.organization, left / 4);
    return inFlight.total < MAX_IN_FLIGHT.process &&
      own + 1 <= Math.max(1, share);
  }

  /** A webhook may hold half of what the organization's others leave. */
  function mayWebhook(caller: Caller, limit: number): boolean {
    const own = inFlight.ofCaller(caller);
    const others = inFlight.ofOrganization(caller) - own;
    const share = (MAX_IN_FLIGHT.organization - others) / 2;
    return own + 1 <= Math.max(1, Math.min(limit, share));
  }

  function logDisabled(
    organizationId: string,
    { id, url, reason }: Disabled,
  ): void {
    log("warn", {
      message: "A webhook is disabled",
      webhook_id: id,
      organization_id: organizationId,
      host: hostOf(new URL(url)),
      reason,
    });
  }

  function* activeRuns(): Generator<Run> {
    for (const [, ofOrganization] of runs) {
      for (const [, run] of ofOrganization) yield run;
    }
  }

  return {
    config,
    start() {
      if (isStarted || !config.enabled) return;
      isStarted = true;
      pollIn(0);
    },
    wake() {
      if (!hasWebhooks) return;
      const wait = polledAt + GATHER_MS - performance.now();
      pollIn(Math.max(0, wait));
    },
    notice() {
      hasWebhooks = true;
      this.wake();
    },
    reserve(organizationId) {
      const caller = { organizationId, name: "request" };
      const { total } = inFlight;
      const own = inFlight.ofOrganization(caller);
      if (
        total >= MAX_IN_FLIGHT.process || own >= MAX_IN_FLIGHT.organization
      ) {
        throw unavailable("Too many messages are being sent at the moment");
      }
      inFlight.add(caller, 1);
      return { [Symbol.dispose]: () => inFlight.add(caller, -1) };
    },
    logDisabled,
    async stop(deadline) {
      isStopping = true;
      clearTimeout(timer);
      for (const run of activeRuns()) run.end();
      while (runs.size > 0 && performance.now() < deadline) await pause(10);
      await Promise.all(
        Array.from(activeRuns(), (run) => run.release().catch(logFailure)),
      );
    },
  };
}
