import { type Caller, Tally } from "../../db/connections/queue.ts";
import { unavailable } from "../../schema/errors.ts";

const ATTEMPTS_AT_ONCE = { process: 64, organization: 16 };

/** The attempts that run, and those that may begin. The name of a caller is the id of a webhook. */
export class InFlight {
  readonly #attempts = new Tally();

  /**
   * Takes as many attempts as a webhook may begin, which may be none. An organization has
   * a quarter of what others leave, and a webhook half of what the organization's others
   * leave, so that silent receivers never hold all.
   */
  take(caller: Caller): number {
    const own = this.#attempts.ofCaller(caller);
    const ofOrganization = this.#attempts.ofOrganization(caller);
    const free = ATTEMPTS_AT_ONCE.process - this.#attempts.total;
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
    const taken = Math.max(0, Math.min(free, Math.floor(most)));
    this.#attempts.add(caller, taken);
    return taken;
  }

  /** Gives back attempts that have ended, or have not begun. */
  release(caller: Caller, attempts: number): void {
    this.#attempts.add(caller, -attempts);
  }

  /** Takes the attempt of a request. Throws `SERVICE_UNAVAILABLE` if too many run. */
  reserve(organizationId: string): Disposable {
    const caller = { organizationId, name: "request" };
    if (
      this.#attempts.total >= ATTEMPTS_AT_ONCE.process ||
      this.#attempts.ofOrganization(caller) >= ATTEMPTS_AT_ONCE.organization
    ) {
      throw unavailable("Too many messages are being sent at the moment");
    }
    this.#attempts.add(caller, 1);
    return { [Symbol.dispose]: () => this.release(caller, 1) };
  }
}
