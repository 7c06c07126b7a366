import { Activity, Signal } from "../../../db/background.ts";
import { pause } from "../../../db/connections/deadline.ts";
import type { Caller } from "../../../db/connections/queue.ts";
import type { Database, Queries } from "../../../db/database.ts";
import { type Claim, claimMessages } from "../db/claim.ts";
import type { Message } from "../db/deliveries.ts";
import type { Attempt } from "../db/outcomes.ts";
import type { Webhook } from "../db/state.ts";
import { findWork } from "../db/work.ts";
import type { WebhookConfig } from "../../../schema/config.ts";
import { attempt } from "./attempt.ts";
import { logDisabled, type WarningLog } from "./disabled.ts";
import { NameResolver } from "./name_resolver.ts";
import { Throttle } from "./throttle.ts";
import { EVENTS } from "../../../middleware/events.ts";

/*
 * Sends the messages of webhooks, in the background of the service. `features/webhooks/db/claim.ts`
 * explains the terms, and names the file of each step.
 *
 *     findWork: finds webhooks with something to send
 *          |
 *          v
 *     claimMessages, in a transaction that locks the webhook: <------+
 *          1. stores the outcomes of attempts: "succeeded",          |
 *             "failed", or "waiting" for the next one                |
 *          2. claims the waiting messages that are due               |
 *          3. claims the next ones of the feed, and moves the cursor |
 *          |                                                         |
 *          v                                                         |
 *     attempt: signs, resolves, checks, connects, POSTs -------------+
 *
 * Only running attempts are in memory. Each claimed message has a lease of its own, which expires
 * if the process is killed. Any process may send any message.
 */

/** The interval between two searches for work, without and with an enabled webhook. */
const POLL_MS = { withoutWebhooks: 10_000, withWebhooks: 1_000 };

/** The waits that gather events: writes before a search, responses before a claim. */
const GATHER_MS = { writes: 250, responses: 5 };

const MAX_FOUND = 128;

const DATABASE_MS = 10_000;

declare module "../../../middleware/context.ts" {
  interface Services {
    /** Sends the messages of webhooks. */
    sender: Sender;
  }
}

/** Sends the messages of webhooks in the background. */
export interface Sender {
  readonly config: WebhookConfig;
  readonly names: NameResolver;
  /** The throttle of this process, which includes attempts for requests. */
  readonly throttle: Throttle;
  /** Begins, once the database is ready. */
  start(): void;
  productsChanged(): void;
  webhooksChanged(): void;
  /** Sends a message of the organization. Never throws. */
  attempt(
    organizationId: string,
    webhook: Webhook,
    message: Message,
  ): Promise<Attempt>;
  /** Begins no attempt, and waits for those that run until `deadline`, in milliseconds of `performance.now()`. */
  stop(deadline: number): Promise<void>;
}

/** Opens the sender of this process. */
export function openSender(
  database: Database,
  config: WebhookConfig,
  { log, activity = new Activity(), requests, names = new NameResolver() }: {
    log: WarningLog;
    activity?: Activity | undefined;
    requests: () => number;
    names?: NameResolver | undefined;
  },
): Sender {
  const throttle = new Throttle(requests);
  const nextPoll = new Signal();
  /** The webhooks whose messages are being sent, by id, with the signal to look for more. */
  const followed = new Map<string, Signal>();
  let state: "new" | "started" | "stopping" = "new";
  let hasWebhooks = true;
  let hasWaiting = false;
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

  async function poll(): Promise<void> {
    while (state === "started") {
      await followReady().catch(logFailure);
      await pause(GATHER_MS.writes);
      const interval = hasWebhooks ? POLL_MS.withWebhooks : POLL_MS.withoutWebhooks;
      const rest = interval - GATHER_MS.writes;
      // Waiting messages are sent at their times, also by an idle service.
      await (hasWaiting ? nextPoll.wait(rest) : activity.wait(nextPoll, rest));
    }
  }

  async function followReady(): Promise<void> {
    const limits = { limit: MAX_FOUND, waitingMax: config.waitingMax };
    const { enabled, is_waiting, ready } = await findWork(queries(), limits);
    hasWebhooks = enabled > 0;
    hasWaiting = is_waiting;
    isDelayed = false;
    for (const { organization_id: organizationId, id } of ready) {
      const woken = followed.get(id);
      if (woken) woken.set();
      else follow({ organizationId, name: id }).catch(logFailure);
    }
  }

  function logFailure(error: unknown): void {
    const { name, code } = error as { name?: string; code?: string };
    // A webhook may be deleted at any time.
    if (isDelayed || code === "NOT_FOUND") return;
    isDelayed = true;
    log("warn", {
      message: EVENTS.webhooksDelayed,
      cause: { name, code },
    });
  }

  /** Sends the messages of a webhook while there are some that may be sent. */
  async function follow(caller: Caller): Promise<void> {
    const attempts: Attempt[] = [];
    const woken = new Signal();
    let inFlight = 0;
    let hasMore: boolean;
    followed.set(caller.name, woken);
    try {
      do {
        // If there is no room, the next search finds the messages again.
        const claim = await nextClaim(caller, attempts);
        hasMore = claim?.hasMore ?? false;
        for (const message of claim?.messages ?? []) {
          inFlight++;
          send(caller.organizationId, claim!.webhook, message).then((made) => {
            throttle.end(caller);
            inFlight--;
            attempts.push(made);
            woken.set();
          });
        }
        if (inFlight > 0 && !hasMore) await woken.wait();
        await pause(GATHER_MS.responses);
      } while (hasMore || inFlight + attempts.length > 0);
    } finally {
      followed.delete(caller.name);
    }
  }

  /** Claims messages of a webhook once others and requests leave room, if there is something to send or to store. */
  async function nextClaim(
    caller: Caller,
    attempts: Attempt[],
  ): Promise<Claim | undefined> {
    const { organizationId, name: id } = caller;
    using turn = await throttle.turn(caller);
    const room = state === "started" ? turn.room : 0;
    if (room + attempts.length === 0) return;
    const brought = { attempts: attempts.splice(0), room };
    const claim = await claimMessages(
      queries(organizationId),
      id,
      brought,
      config,
    );
    if (claim.isDisabled) logDisabled(log, organizationId, claim.webhook);
    turn.begin(claim.messages.length);
    return claim;
  }

  return {
    config,
    names,
    throttle,
    attempt: send,
    start() {
      if (state !== "new" || !config.enabled) return;
      state = "started";
      poll();
    },
    productsChanged() {
      if (hasWebhooks) nextPoll.set();
    },
    webhooksChanged() {
      hasWebhooks = true;
      nextPoll.set();
    },
    async stop(deadline) {
      state = "stopping";
      nextPoll.set();
      while (followed.size > 0 && performance.now() < deadline) await pause(10);
    },
  };
}
