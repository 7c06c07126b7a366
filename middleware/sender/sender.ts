import { pause } from "../../db/connections/deadline.ts";
import type { Caller } from "../../db/connections/queue.ts";
import type { Database, Queries } from "../../db/database.ts";
import { type Claim, claimMessages } from "../../db/webhooks/claim.ts";
import type { Message } from "../../db/webhooks/deliveries.ts";
import type { Attempt } from "../../db/webhooks/outcomes.ts";
import type { Webhook } from "../../db/webhooks/state.ts";
import { findWork } from "../../db/webhooks/work.ts";
import type { WebhookConfig } from "../../schema/config.ts";
import { attempt } from "./attempt.ts";
import { logDisabled, type WarningLog } from "./disabled.ts";
import { NameResolver } from "./names.ts";
import { Throttle } from "./throttle.ts";

/*
 * The sender of webhooks: it follows the feed of changes beside the service. The words, and
 * the files of each step, are in `db/webhooks/claim.ts`.
 *
 *     findWork: which webhooks have something to send?
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
 * Nothing is kept in memory but the attempts that run. Each claimed message has a lease of
 * its own, which ends if the process is killed. Any process may send any message.
 */

/** The interval at which the database is polled for work, without and with an enabled webhook. */
const POLL_MS = { idle: 10_000, busy: 1_000 };

/** The waits that gather what comes together: writes before a poll, responses before a claim. */
const GATHER_MS = { writes: 250, responses: 5 };

const MAX_FOUND = 128;

const DATABASE_MS = 10_000;

/** Sends the messages of webhooks, beside the service. */
export interface Sender {
  readonly config: WebhookConfig;
  readonly names: NameResolver;
  /** Of the attempts of this process, those that requests ask for included. */
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
  { log, requests, names = new NameResolver() }: {
    log: WarningLog;
    requests: () => number;
    names?: NameResolver | undefined;
  },
): Sender {
  const throttle = new Throttle(requests);
  const nextPoll = new Signal();
  /** The webhooks whose messages are being sent, by id, and what makes each look for more. */
  const followed = new Map<string, Signal>();
  let state: "new" | "started" | "stopping" = "new";
  let hasWebhooks = true;
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
      const interval = hasWebhooks ? POLL_MS.busy : POLL_MS.idle;
      await nextPoll.wait(interval - GATHER_MS.writes);
    }
  }

  async function followReady(): Promise<void> {
    const statement = findWork(MAX_FOUND, config.waitingMax);
    const [found] = await queries().lookUp(statement);
    hasWebhooks = found!.enabled > 0;
    isDelayed = false;
    for (const { organization_id: organizationId, id } of found!.ready) {
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
      message: "Webhooks are delayed: trying again",
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
        // If others leave no room, the next poll finds the messages again.
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

/** Ends the wait for it, or the next one. */
class Signal {
  #isSet = false;
  #end = () => {};

  set(): void {
    this.#isSet = true;
    this.#end();
  }

  /** Waits until it is set, `ms` milliseconds at most. */
  async wait(ms?: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    if (this.#isSet) resolve();
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
    if (timer) Deno.unrefTimer(timer);
    await promise;
    clearTimeout(timer);
    this.#isSet = false;
  }
}
