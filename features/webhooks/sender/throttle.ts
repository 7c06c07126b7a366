import { pause } from "../../../db/connections/deadline.ts";
import { type Caller, Queue, Tally } from "../../../db/connections/queue.ts";
import { unavailable } from "../../../schema/errors.ts";

const ATTEMPTS_AT_ONCE = { process: 64, organization: 16 };

/** The turns at once. Each reserves as many attempts as it may begin. */
const TURNS_AT_ONCE = 4;

/**
 * The longest pause after a message while the process serves requests, which come first.
 * It lets 10,000 messages a minute through.
 */
const MAX_YIELD_MS = 6;

/** The turn of a webhook to claim messages, and to begin their attempts. */
export interface Turn extends Disposable {
  /** The attempts that it may begin, which may be none. */
  readonly room: number;
  /** Begins so many of them. The room for the others is free when the turn ends. */
  begin(attempts: number): void;
}

/**
 * Limits the share of webhooks in this process: turns to claim messages, and attempts at once.
 * Organizations take turns, and requests have precedence. The name of a caller is the id of a
 * webhook.
 */
export class Throttle {
  readonly #requests: () => number;
  readonly #turns = new Queue(TURNS_AT_ONCE, "sender of webhooks");
  /** When the next turn may begin, in milliseconds of `performance.now()`. */
  #nextAt = 0;
  /** The attempts that run, and those for which there is room. */
  readonly #attempts = new Tally();

  /** `requests` is the number of those that the process serves. */
  constructor(requests: () => number) {
    this.#requests = requests;
  }

  /** Waits for the turn of a webhook. */
  async turn(webhook: Caller): Promise<Turn> {
    const permit = await this.#turns.enter(webhook, "short", Infinity);
    await pause(this.#nextAt - performance.now());
    const room = this.#roomFor(webhook);
    this.#attempts.add(webhook, room);
    let begun = 0;
    return {
      room,
      begin: (attempts) => void (begun = attempts),
      [Symbol.dispose]: () => {
        this.#attempts.add(webhook, begun - room);
        this.#nextAt = Math.max(this.#nextAt, performance.now()) +
          begun * this.#yieldMs();
        permit[Symbol.dispose]();
      },
    };
  }

  /** An attempt of a webhook has ended. */
  end(webhook: Caller): void {
    this.#attempts.add(webhook, -1);
  }

  /** Takes the attempt of a request. Throws `SERVICE_UNAVAILABLE` if too many run. */
  manual(organizationId: string): Disposable {
    const caller = { organizationId, name: "request" };
    const ofOrganization = this.#attempts.ofOrganization(caller);
    if (
      this.#attempts.total >= ATTEMPTS_AT_ONCE.process ||
      ofOrganization >= ATTEMPTS_AT_ONCE.organization
    ) {
      throw unavailable("Too many messages are being sent at the moment");
    }
    this.#attempts.add(caller, 1);
    return { [Symbol.dispose]: () => this.end(caller) };
  }

  /**
   * Returns the number of attempts that a webhook may begin. Its organization may have a quarter of
   * the attempts that other organizations do not use, and at most 16. The webhook may have half of
   * those that other webhooks of its organization do not use. So silent receivers never hold all.
   */
  #roomFor(webhook: Caller): number {
    const { process, organization } = ATTEMPTS_AT_ONCE;
    const own = this.#attempts.ofCaller(webhook);
    const ofOrganization = this.#attempts.ofOrganization(webhook);
    const free = process - this.#attempts.total;
    const share = Math.min(organization, (free + ofOrganization) / 4);
    const ofWebhook = (organization - ofOrganization + own) / 2;
    const most = Math.min(
      free,
      Math.max(1, share) - ofOrganization,
      Math.max(1, ofWebhook) - own,
    );
    return Math.max(0, Math.floor(most));
  }

  /**
   * Returns the pause after a message. It grows with the square of the requests in service, up to
   * nine: a single one hardly slows the sender down.
   */
  #yieldMs(): number {
    return Math.min(MAX_YIELD_MS, Math.max(1, this.#requests() ** 2) / 12);
  }
}
