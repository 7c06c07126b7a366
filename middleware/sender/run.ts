import type { Queries } from "../../db/database.ts";
import {
  type Attempt,
  due,
  type Message,
  messageId,
  payload,
  takeWaiting,
} from "../../db/webhooks/deliveries.ts";
import { cursorAt, readAdvance, readEntries } from "../../db/webhooks/feed.ts";
import {
  giveBack,
  type Lease,
  type Leased,
  REST_AFTER,
  saveProgress,
} from "../../db/webhooks/leases.ts";
import type { Disabled } from "../../db/webhooks/webhooks.ts";
import { type Cursor, cursorText } from "../../schema/changes_query.ts";
import type { WebhookConfig } from "../../schema/config.ts";
import { ApiError } from "../../schema/errors.ts";
import { attempt, judge } from "./attempt.ts";

/** Entries of the feed in memory. */
const PAGE = 100;

/** Attempts at once, while the last one succeeded. */
const MAX_IN_FLIGHT = 8;

/** The interval at which a busy run looks for changes of others. */
const LOOK_MS = 1_000;

/** How long what became of messages may wait to be stored with the rest. */
const SAVE_MS = 500;

/** The least time between two messages `feed.advanced`. */
const BURST_MS = 1_000;

/** A cursor that the webhook gets once this and all places before are done. */
interface Place {
  cursor: Cursor;
  isDone: boolean;
}

/** A message that waits for its attempt. */
interface Ready {
  message: Message;
  /** Its place in the feed. Absent for one that was stored. */
  place?: Place | undefined;
}

/**
 * A webhook that this process sends, from its lease to its end. Of the messages in `ready`
 * the first is sent first, and each was current when it got there, so none overtakes a
 * newer one of its product.
 */
export class Run {
  readonly webhook: Leased;
  /** Set once the run has disabled its webhook. */
  disabled?: Disabled;
  readonly #queries: () => Queries;
  readonly #lease: Lease;
  readonly #config: WebhookConfig;
  #leaseEnd: number;
  #ready: Ready[] = [];
  #places: Place[] = [];
  #attempts: Attempt[] = [];
  /** Attempts stored since the last time that old ones were deleted. */
  #stored = 0;
  #inFlight = 0;
  #isBack = false;
  #isOver = false;
  /** Whether the feed may have entries that were not read. */
  #hasNews = true;
  #readAt = -Infinity;
  #savedAt = performance.now();
  #signal = Promise.withResolvers<void>();

  constructor(
    webhook: Leased,
    { queries, lease, config, leaseEnd }: {
      /** Queries for the webhook's organization. */
      queries: () => Queries;
      lease: Lease;
      config: WebhookConfig;
      /** In milliseconds of `performance.now()`. */
      leaseEnd: number;
    },
  ) {
    this.webhook = webhook;
    this.#queries = queries;
    this.#lease = lease;
    this.#config = config;
    this.#leaseEnd = leaseEnd;
  }

  /** How many attempts it may make at once. */
  get limit(): number {
    return this.webhook.failures > 0 ? 1 : MAX_IN_FLIGHT;
  }

  /** Whether it has a message to send now. An attempt must end within the lease. */
  get isReady(): boolean {
    return this.#ready.length > 0 && !this.#isOver && !this.#isPaused &&
      performance.now() + this.#config.timeoutMs < this.#leaseEnd;
  }

  get #isPaused(): boolean {
    return (this.webhook.resumes_at ?? 0) > Date.now() ||
      this.webhook.disabled_reason !== null;
  }

  /** Sends the next message, and settles once it is judged. */
  async sendNext(): Promise<void> {
    const { message, place } = this.#ready.shift()!;
    const { failures } = this.webhook;
    this.#inFlight++;
    const answer = await attempt(this.webhook, message, this.#config);
    this.#inFlight--;
    const judged = judge(
      message,
      answer,
      { state: this.webhook, failures },
      this.#config,
    );
    Object.assign(this.webhook, judged.state);
    this.#attempts.push(judged.attempt);
    this.#isBack ||= judged.isBack;
    if (place) place.isDone = true;
    if (answer.error === null && message.next_cursor) {
      this.#places.push({ cursor: message.next_cursor, isDone: true });
      this.#hasNews = true;
    }
    this.signal();
  }

  /** Wakes the run: an attempt has ended, or products have changed. */
  signal(): void {
    this.#signal.resolve();
  }

  notice(): void {
    this.#hasNews = true;
    this.signal();
  }

  /** Sends nothing more, and ends once the current attempts have. */
  end(): void {
    this.#isOver = true;
    this.signal();
  }

  /** Keeps messages ready until there is no more to do. `onReady` is called whenever there are some. */
  async work(onReady: () => void): Promise<void> {
    try {
      while (!this.#isOver) {
        this.#signal = Promise.withResolvers();
        if (this.#mustSave()) await this.#save();
        if (!this.#isPaused && !this.#isOver) await this.#fill();
        if (this.#isIdle()) break;
        onReady();
        await this.#next();
      }
      while (this.#inFlight > 0) {
        this.#signal = Promise.withResolvers();
        await this.#next();
      }
      if (this.#attempts.length > 0 || this.#reached()) await this.#save();
    } finally {
      await this.release();
    }
  }

  /** Gives the lease back. What is still being sent will be sent again. */
  async release(): Promise<void> {
    this.#isOver = true;
    const taken = this.#ready.splice(0).flatMap(({ place, message }) =>
      place ? [] : [message.id]
    );
    await this.#queries().write(
      ...giveBack(this.webhook.id, this.#lease, taken),
    );
  }

  async #next(): Promise<void> {
    const timer = setTimeout(
      () => this.#signal.resolve(),
      this.#attempts.length > 0 ? SAVE_MS : LOOK_MS,
    );
    await this.#signal.promise;
    clearTimeout(timer);
  }

  #isIdle(): boolean {
    return this.#inFlight === 0 && this.#attempts.length === 0 &&
      !this.#reached() &&
      (this.#isPaused ||
        this.#ready.length === 0 && !(this.#hasNews && this.#room > 0));
  }

  /** How many entries of the feed may be sent: each may have to wait for a retry. */
  get #room(): number {
    const { waiting, waits_for_cursor } = this.webhook;
    if (waits_for_cursor) return 0;
    return this.#config.waitingMax - waiting - this.#inFlight -
      this.#attempts.length;
  }

  #mustSave(): boolean {
    const now = performance.now();
    const hasProgress = this.#attempts.length > 0 || !!this.#reached();
    return hasProgress &&
        (now - this.#savedAt >= SAVE_MS || this.#attempts.length >= PAGE ||
          this.#inFlight === 0 && !this.isReady) ||
      this.#leaseEnd - now < this.#config.timeoutMs * 1.5;
  }

  /** The cursor up to which everything is done, if that is new. */
  #reached(): Cursor | undefined {
    return this.#places[this.#countDone() - 1]?.cursor;
  }

  #countDone(): number {
    const open = this.#places.findIndex(({ isDone }) => !isDone);
    return open < 0 ? this.#places.length : open;
  }

  async #save(): Promise<void> {
    const { webhook } = this;
    const attempts = this.#attempts;
    const to = this.#reached();
    const isBack = this.#isBack;
    this.#stored += attempts.length;
    const isPruned = this.#stored >= PAGE;
    if (isPruned) this.#stored = 0;
    this.#attempts = [];
    this.#places.splice(0, this.#countDone());
    this.#isBack = false;
    const start = this.#savedAt = performance.now();
    const saved = await saveProgress(
      this.#queries(),
      { ...webhook },
      {
        attempts,
        cursor: to && { from: webhook.cursor, to },
        isBack,
        isPruned,
      },
      this.#lease,
    );
    if (!saved) {
      const { id, url, description, disabled_reason: reason } = webhook;
      if (reason) this.disabled ??= { id, url, description, reason };
      this.#isOver = true;
      return;
    }
    this.#leaseEnd = start + this.#lease.seconds * 1_000;
    if (saved.revision === webhook.revision) {
      // Attempts have ended meanwhile: their state is newer than the stored one.
      const { waiting, due_in, waits_for_cursor, cursor } = saved;
      Object.assign(webhook, { waiting, due_in, waits_for_cursor, cursor });
      return;
    }
    // A caller has changed the webhook: the feed is read again from its cursor.
    Object.assign(webhook, saved);
    this.#ready = this.#ready.filter(({ place }) => !place);
    this.#places = [];
    this.#hasNews = true;
  }

  /** Gets the next messages: first those that wait, then the next entries of the feed. */
  async #fill(): Promise<void> {
    const { webhook } = this;
    const slots = this.limit - this.#inFlight;
    const isEarly = webhook.failures >= REST_AFTER;
    if (
      slots > 0 && webhook.due_in !== null && (isEarly || webhook.due_in <= 0)
    ) {
      // Unknown until progress is saved.
      webhook.due_in = null;
      const messages = await takeWaiting(this.#queries(), webhook.id, {
        limit: slots,
        seconds: this.#lease.seconds,
        isEarly,
      });
      this.#ready.unshift(...messages.map((message) => ({ message })));
    }
    if (performance.now() - this.#readAt >= LOOK_MS) this.#hasNews = true;
    if (this.#ready.length > 0 || !this.#hasNews || this.#room <= 0) return;
    try {
      await this.#read(Math.min(this.#room, PAGE));
    } catch (error) {
      if ((error as ApiError).code !== "CURSOR_EXPIRED") throw error;
      await this.#restart();
    }
  }

  async #read(limit: number): Promise<void> {
    const { webhook } = this;
    this.#readAt = performance.now();
    this.#hasNews = false;
    const from = this.#places.at(-1)?.cursor ?? webhook.cursor;
    if (webhook.events.includes("feed.advanced")) {
      return await this.#advance(from);
    }
    const { entries, cursor, more } = await readEntries(
      this.#queries(),
      from,
      limit,
    );
    this.#hasNews ||= more;
    for (const { version, id, isDeleted, data, updatedAt } of entries) {
      const type = isDeleted ? "product.deleted" : "product.changed";
      const place = {
        cursor: { ...from, version, id },
        isDone: !webhook.events.includes(type),
      };
      this.#places.push(place);
      if (place.isDone) continue;
      const message = due({
        id: messageId(webhook.id, version, id),
        type,
        body: payload(type, data, updatedAt),
        product_id: id,
        version,
      });
      this.#ready.push({ message, place });
    }
    this.#places.push({ cursor, isDone: true });
  }

  async #advance(from: Cursor): Promise<void> {
    const { id, last_success_at } = this.webhook;
    if (Date.now() - (last_success_at ?? 0) < BURST_MS) return;
    const { changes, cursor } = await readAdvance(this.#queries(), from);
    if (changes === 0) {
      this.#places.push({ cursor, isDone: true });
      return;
    }
    await this.#store(due({
      id: messageId(id, cursor.version, cursor.id),
      type: "feed.advanced",
      body: payload("feed.advanced", { after: cursorText(from), changes }),
      next_cursor: cursor,
    }));
  }

  /** Tells the receiver that it gets every product again. */
  async #restart(): Promise<void> {
    const { id, events, cursor } = this.webhook;
    const follows = events.some((event) => event !== "webhook.disabled");
    const start = await cursorAt(this.#queries(), follows ? "start" : "now");
    if (!follows) {
      this.#places.push({ cursor: start, isDone: true });
      return;
    }
    await this.#store(due({
      id: messageId(id, "restart", cursor.version, cursor.id, cursor.issuedAt),
      type: "feed.restarted",
      body: payload("feed.restarted", {}),
      next_cursor: start,
    }));
  }

  /** Stores a message before its first attempt, so that it keeps its id and body. */
  async #store(message: Attempt): Promise<void> {
    this.#attempts.push(message);
    await this.#save();
  }
}
