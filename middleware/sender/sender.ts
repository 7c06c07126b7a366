import { pause } from "../../db/connections/deadline.ts";
import { type Caller, Tally } from "../../db/connections/fair_share.ts";
import type { Database, Queries } from "../../db/database.ts";
import { type Message, takeMessages } from "../../db/webhooks/deliveries.ts";
import { follow } from "../../db/webhooks/feed.ts";
import {
  type Disabled,
  type Outcome,
  storeOutcomes,
} from "../../db/webhooks/outcomes.ts";
import {
  findWork,
  findWorkOf,
  type WebhookWork,
} from "../../db/webhooks/work.ts";
import type { WebhookConfig } from "../../schema/config.ts";
import { unavailable } from "../../schema/errors.ts";
import { hostOf } from "../../schema/targets.ts";
import { attempt } from "./attempt.ts";

/*
 * The sender of webhooks: it follows the feed of changes beside the service.
 *
 *     feed of changes              webhooks.cursor
 *          |                             |
 *          | follow: the next entries    | moves with them
 *          v                             v
 *     webhook_deliveries: "waiting" <------------------+
 *          |                                           |
 *          | takeMessages: those due, each under       |
 *          |   a lease of its own, in a transaction    | failed: again after a pause
 *          v                                           |
 *     attempt: sign, resolve, check, connect, POST --> receiver
 *          |                                           |
 *          | storeOutcomes: what the answers make of   |
 *          v   the messages and of the webhook         |
 *     "succeeded", "failed", or ------------------------
 *
 * Nothing of it is kept in memory but the attempts that run. Whoever is killed leaves
 * messages whose leases end, and any process may send any message.
 */

/** The interval at which the database is asked for work, without and with an enabled webhook. */
const POLL_MS = { idle: 10_000, busy: 1_000 };

/** The least time between two of these questions: writes often come together. */
const GATHER_MS = 250;

/**
 * The longest pause between two messages while the process serves requests, which come
 * first. It lets 10,000 messages a minute through.
 */
const MAX_YIELD_MS = 6;

/** How often a pause looks at the requests, at least. */
const YIELD_TICK_MS = 100;

/** Webhooks that one question finds. */
const MAX_FOUND = 128;

/** Attempts at once. */
const MAX_IN_FLIGHT = { process: 64, organization: 16 };

/** The time limit of a sender's statements. */
const DATABASE_MS = 10_000;

/** Writes a line of the log. */
type Log = (level: "warn", fields: Record<string, unknown>) => void;

/** A disabled webhook, as far as the log shows it. */
type Logged = Pick<Disabled, "id" | "url" | "reason">;

const ENABLE = 'PUT /webhooks/{id} {"enabled":true}';

/** What to do with a webhook that its organization has not disabled. */
const ADVICE = {
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
  { log, requests }: {
    log: Log;
    /** The number of requests that the process serves at the moment. */
    requests: () => number;
  },
): Sender {
  /** The id of this process. */
  const sender = crypto.randomUUID();
  /** Attempts. */
  const inFlight = new Tally();
  /** Wakes the run of a webhook, by its id. */
  const runs = new Map<string, () => void>();
  let state: "new" | "started" | "stopping" = "new";
  let hasWebhooks = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let polledAt = -Infinity;
  let pollsAt = Infinity;
  let isPolling = false;
  /** Taken messages that no pause has followed so far. */
  const taken = { count: 0, at: 0 };
  /** Whether the log says that the database does not answer. */
  let isDelayed = false;

  const queries = (organizationId?: string): Queries =>
    database.for({
      deadline: performance.now() + DATABASE_MS,
      caller: organizationId ? { organizationId, name: "webhooks" } : undefined,
    });

  /** Asks for work in this time, unless it asks earlier anyway. */
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
      const statement = findWork(sender, MAX_FOUND, config.waitingMax);
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

  /** How long requests come before the next messages, as things are, in milliseconds. */
  function yieldMs(): number {
    const now = performance.now();
    const each = Math.min(MAX_YIELD_MS, Math.max(1, requests() ** 2) / 12);
    taken.count = Math.max(0, taken.count - (now - taken.at) / each);
    taken.at = now;
    return state === "started" ? taken.count * each : 0;
  }

  /** Sends the messages of a webhook while there are some that may be sent. */
  async function run(caller: Caller): Promise<void> {
    const { organizationId, name: id } = caller;
    /** Taken messages, until the time at which their attempts must begin. */
    const ready: { message: Message; beginBy: number }[] = [];
    const unsent: string[] = [];
    const outcomes: Outcome[] = [];
    let webhook: WebhookWork | undefined;
    let running = 0;
    let isOver = false;
    let woken = Promise.withResolvers<void>();
    runs.set(id, () => woken.resolve());

    function giveBack(): void {
      unsent.push(...ready.splice(0).map(({ message }) => message.id));
    }

    async function take(): Promise<void> {
      for (let ms = yieldMs(); ms > 0; ms = yieldMs()) {
        await pause(Math.min(ms, YIELD_TICK_MS));
      }
      if (state !== "started") return;
      // Another run waits until this one knows what it takes.
      taken.count++;
      webhook = await findWorkOf(queries(organizationId), id, sender);
      const followed = await follow(
        queries(organizationId),
        webhook,
        config.waitingMax,
      );
      // An attempt must end within the lease of its message.
      const beginBy = performance.now() + config.timeoutMs;
      const messages = await takeMessages(
        queries(organizationId),
        webhook,
        followed,
        sender,
        config,
      );
      ready.push(...messages.map((message) => ({ message, beginBy })));
      taken.count += messages.length - 1;
    }

    /** Begins as many attempts as may run. */
    function begin(): void {
      const isLate = ready.some(({ beginBy }) => performance.now() > beginBy);
      if (state === "stopping" || isLate || webhook!.disabled_reason) {
        giveBack();
      }
      while (ready.length > 0 && freeFor(caller) > 0) {
        inFlight.add(caller, 1);
        running++;
        attempt(webhook!, ready.shift()!.message, config).then((outcome) => {
          inFlight.add(caller, -1);
          running--;
          outcomes.push(outcome);
          // After a failure, one message is sent at a time.
          if (outcome.error !== null) giveBack();
          begin();
          woken.resolve();
        });
      }
    }

    try {
      do {
        woken = Promise.withResolvers();
        if (outcomes.length + unsent.length > 0) {
          const { disabled } = await storeOutcomes(
            queries(organizationId),
            id,
            { outcomes: outcomes.splice(0), unsent: unsent.splice(0) },
            config,
          );
          if (disabled) logDisabled(organizationId, disabled);
        }
        if (!isOver) await take();
        begin();
        // If others leave no room, the next question finds the messages again.
        isOver = running + outcomes.length === 0;
        if (isOver) giveBack();
        else if (running > 0) await woken.promise;
      } while (running + outcomes.length + unsent.length > 0);
    } finally {
      runs.delete(id);
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
    const free = MAX_IN_FLIGHT.process - inFlight.total;
    const share = Math.min(
      MAX_IN_FLIGHT.organization,
      (free + ofOrganization) / 4,
    );
    const ofWebhook = (MAX_IN_FLIGHT.organization - ofOrganization + own) / 2;
    const most = Math.min(
      Math.max(1, share) - ofOrganization,
      Math.max(1, ofWebhook) - own,
    );
    return Math.max(0, Math.min(free, Math.floor(most)));
  }

  function logDisabled(
    organizationId: string,
    { id, url, reason }: Logged,
  ): void {
    log("warn", {
      message: "A webhook is disabled",
      webhook_id: id,
      organization_id: organizationId,
      host: hostOf(new URL(url)),
      reason,
      ...reason !== "by_hand" && { advice: ADVICE[reason] },
    });
  }

  return {
    config,
    start() {
      if (state !== "new" || !config.enabled) return;
      state = "started";
      pollIn(0);
    },
    wake() {
      if (!hasWebhooks) return;
      pollIn(Math.max(0, polledAt + GATHER_MS - performance.now()));
    },
    notice() {
      hasWebhooks = true;
      this.wake();
    },
    reserve(organizationId) {
      const caller = { organizationId, name: "request" };
      if (
        inFlight.total >= MAX_IN_FLIGHT.process ||
        inFlight.ofOrganization(caller) >= MAX_IN_FLIGHT.organization
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
