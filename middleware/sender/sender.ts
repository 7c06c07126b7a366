import { pause } from "../../db/connections/deadline.ts";
import { type Caller, Tally } from "../../db/connections/queue.ts";
import type { Database, Queries } from "../../db/database.ts";
import type { Message } from "../../db/webhooks/deliveries.ts";
import type { Attempt } from "../../db/webhooks/outcomes.ts";
import { takeTurn, type Turn } from "../../db/webhooks/turn.ts";
import type { Webhook } from "../../db/webhooks/webhook.ts";
import { findWork } from "../../db/webhooks/work.ts";
import type { WebhookConfig } from "../../schema/config.ts";
import { unavailable } from "../../schema/errors.ts";
import { hostOf } from "../../schema/targets.ts";
import type { DisabledReason } from "../../schema/webhooks.ts";
import { attempt } from "./attempt.ts";
import { NameResolver } from "./names.ts";

/*
 * The sender of webhooks: it follows the feed of changes beside the service.
 *
 *     findWork: which webhooks have something to send?
 *          |
 *          v
 *     takeTurn, in a transaction that locks the webhook: <-----------+
 *          1. stores the outcomes of attempts: "succeeded",          |
 *             "failed", or "waiting" for the next one                |
 *          2. takes the waiting messages that are due                |
 *          3. takes the next ones of the feed, and moves the cursor  |
 *          |                                                         |
 *          v                                                         |
 *     attempt: signs, resolves, checks, connects, POSTs -------------+
 *
 * Nothing is kept in memory but the attempts that run. Each taken message has a lease of
 * its own, which ends if the process is killed. Any process may send any message.
 */

/** The interval at which the database is polled for work, without and with an enabled webhook. */
const POLL_MS = { idle: 10_000, busy: 1_000 };

/** The waits that gather what comes together: writes before a poll, responses before a turn. */
const GATHER_MS = { writes: 250, responses: 5 };

/**
 * The longest pause after a message while the process serves requests, which come first.
 * It lets 10,000 messages a minute through.
 */
const MAX_YIELD_MS = 6;

/** Turns at once. Each holds room for as many attempts as it may begin. */
const MAX_TURNS = 4;

/** Webhooks that one poll finds. */
const MAX_FOUND = 128;

/** Attempts at once. */
const ATTEMPTS_AT_ONCE = { process: 64, organization: 16 };

/** The time limit of a sender's statements. */
const DATABASE_MS = 10_000;

/** Writes a warning to the log. */
type Log = (level: "warn", fields: Record<string, unknown>) => void;

/** A disabled webhook, as far as the log shows it. */
interface Logged {
  id: string;
  url: string;
  disabled_reason: DisabledReason | null;
}

const ENABLE = 'PUT /webhooks/{id} {"enabled":true}';

/** What to do with a webhook that its organization has not disabled. */
const ADVICE: Partial<Record<DisabledReason, string>> = {
  gone: `Once its receiver is back, enable it: ${ENABLE}`,
  failing: `Once its receiver works, enable it: ${ENABLE}`,
  copied:
    `The database is a copy: enable it if the copy may call it: ${ENABLE}`,
};

/** Sends the messages of webhooks, beside the service. */
export interface Sender {
  readonly config: WebhookConfig;
  /** Begins, once the database is ready. */
  start(): void;
  /** Products may have changed. */
  wake(): void;
  /** A webhook may have changed. */
  notice(): void;
  readonly names: NameResolver;
  /** Sends a message of the organization. Never throws. */
  attempt(
    organizationId: string,
    webhook: Webhook,
    message: Message,
  ): Promise<Attempt>;
  /** Reserves one attempt of the organization. Throws `SERVICE_UNAVAILABLE` if too many run. */
  reserve(organizationId: string): Disposable;
  /** Logs that a webhook was disabled. */
  logDisabled(organizationId: string, disabled: Logged): void;
  /** Begins no attempt, and waits for those that run until `deadline`, in milliseconds of `performance.now()`. */
  stop(deadline: number): Promise<void>;
}

/** Opens the sender of this process. */
export function openSender(
  database: Database,
  config: WebhookConfig,
  { log, requests, names = new NameResolver() }: {
    log: Log;
    /** The number of requests that the process serves at the moment. */
    requests: () => number;
    names?: NameResolver;
  },
): Sender {
  /** Attempts, and the room that turns hold. */
  const inFlight = new Tally();
  let turns = 0;
  /** What waits for the end of a turn. */
  const waiting: (() => void)[] = [];
  /** When the next turn may begin, in milliseconds of `performance.now()`. */
  let turnAt = 0;
  /** Wakes the run of a webhook, by its id. */
  const runs = new Map<string, () => void>();
  let state: "new" | "started" | "stopping" = "new";
  let hasWebhooks = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let polledAt = -Infinity;
  let pollsAt = Infinity;
  let isPolling = false;
  /** Whether the log says that the database does not answer. */
  let isDelayed = false;

  const queries = (organizationId?: string): Queries =>
    database.for({
      deadline: performance.now() + DATABASE_MS,
      caller: organizationId ? { organizationId, name: "webhooks" } : undefined,
    });

  const send: Sender["attempt"] = (organizationId, webhook, message) =>
    attempt(
      webhook,
      message,
      config,
      (url, deadline) => names.resolve(organizationId, url, deadline),
    );

  /** Polls after this time, unless an earlier poll is due. */
  function pollIn(ms: number): void {
    const at = performance.now() + ms;
    if (state !== "started" || isPolling || pollsAt <= at) return;
    pollsAt = at;
    clearTimeout(timer);
    timer = setTimeout(poll, ms);
    Deno.unrefTimer(timer);
  }

  async function poll(): Promise<void> {
    isPolling = true;
    pollsAt = Infinity;
    polledAt = performance.now();
    try {
      const statement = findWork(MAX_FOUND, config.waitingMax);
      const [work] = await queries().lookUp(statement);
      hasWebhooks = work!.enabled > 0;
      isDelayed = false;
      for (const { organization_id: organizationId, id } of work!.ready) {
        const wakeRun = runs.get(id);
        if (wakeRun) wakeRun();
        else run({ organizationId, name: id }).catch(logFailure);
      }
    } catch (error) {
      logFailure(error);
    }
    isPolling = false;
    pollIn(hasWebhooks ? POLL_MS.busy : POLL_MS.idle);
  }

  function logFailure(error: unknown): void {
    const { name, code } = error as { name?: string; code?: string };
    // A webhook may be deleted at any time.
    if (isDelayed || code === "NOT_FOUND") return;
    isDelayed = true;
    log("warn", {
      message: "Webhooks are delayed: trying again",
      cause: { name, code },
    });
  }

  /** Sends the messages of a webhook while there are some that may be sent. */
  async function run(caller: Caller): Promise<void> {
    const attempts: Attempt[] = [];
    let running = 0;
    let woken = Promise.withResolvers<void>();
    runs.set(caller.name, () => woken.resolve());
    try {
      do {
        woken = Promise.withResolvers();
        // If others leave no room, the next poll finds the messages again.
        const turn = await nextTurn(caller, attempts);
        for (const message of turn?.messages ?? []) {
          running++;
          send(caller.organizationId, turn!.webhook, message).then((made) => {
            inFlight.add(caller, -1);
            running--;
            attempts.push(made);
            woken.resolve();
          });
        }
        if (running > 0) await woken.promise;
        await pause(GATHER_MS.responses);
      } while (running + attempts.length > 0);
    } finally {
      runs.delete(caller.name);
    }
  }

  /** Takes a turn of a webhook once others and requests leave room, if there is something to send or to store. */
  async function nextTurn(
    caller: Caller,
    attempts: Attempt[],
  ): Promise<Turn | undefined> {
    const { organizationId, name: id } = caller;
    if (turns < MAX_TURNS) turns++;
    else await new Promise<void>((begin) => waiting.push(begin));
    await pause(turnAt - performance.now());
    const room = state === "started" ? freeFor(caller) : 0;
    inFlight.add(caller, room);
    let taken = 0;
    try {
      if (room + attempts.length === 0) return;
      const brought = { attempts: attempts.splice(0), room };
      const turn = await takeTurn(queries(organizationId), id, brought, config);
      if (turn.isDisabled) logDisabled(organizationId, turn.webhook);
      taken = turn.messages.length;
      return turn;
    } finally {
      inFlight.add(caller, taken - room);
      const yieldMs = Math.min(MAX_YIELD_MS, Math.max(1, requests() ** 2) / 12);
      turnAt = Math.max(turnAt, performance.now()) + taken * yieldMs;
      const begin = waiting.shift();
      if (begin) begin();
      else turns--;
    }
  }

  /**
   * How many attempts a webhook may begin. An organization may hold a quarter of what
   * others leave, and a webhook half of what the organization's others leave, so that
   * silent receivers never hold all.
   */
  function freeFor(caller: Caller): number {
    const own = inFlight.ofCaller(caller);
    const ofOrganization = inFlight.ofOrganization(caller);
    const free = ATTEMPTS_AT_ONCE.process - inFlight.total;
    const share = Math.min(
      ATTEMPTS_AT_ONCE.organization,
      (free + ofOrganization) / 4,
    );
    const ofWebhook = (ATTEMPTS_AT_ONCE.organization - ofOrganization + own) /
      2;
    const most = Math.min(
      Math.max(1, share) - ofOrganization,
      Math.max(1, ofWebhook) - own,
    );
    return Math.max(0, Math.min(free, Math.floor(most)));
  }

  function logDisabled(
    organizationId: string,
    { id, url, disabled_reason: reason }: Logged,
  ): void {
    log("warn", {
      message: "A webhook is disabled",
      webhook_id: id,
      organization_id: organizationId,
      host: hostOf(new URL(url)),
      reason,
      advice: ADVICE[reason!],
    });
  }

  return {
    config,
    names,
    attempt: send,
    start() {
      if (state !== "new" || !config.enabled) return;
      state = "started";
      pollIn(0);
    },
    wake() {
      if (!hasWebhooks) return;
      pollIn(Math.max(0, polledAt + GATHER_MS.writes - performance.now()));
    },
    notice() {
      hasWebhooks = true;
      this.wake();
    },
    reserve(organizationId) {
      const caller = { organizationId, name: "request" };
      if (
        inFlight.total >= ATTEMPTS_AT_ONCE.process ||
        inFlight.ofOrganization(caller) >= ATTEMPTS_AT_ONCE.organization
      ) {
        throw unavailable("Too many messages are being sent at the moment");
      }
      inFlight.add(caller, 1);
      return { [Symbol.dispose]: () => inFlight.add(caller, -1) };
    },
    logDisabled,
    async stop(deadline) {
      state = "stopping";
      clearTimeout(timer);
      while (runs.size > 0 && performance.now() < deadline) await pause(10);
    },
  };
}
