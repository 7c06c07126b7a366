import { type Caller, FairShare } from "../db/connections/fair_share.ts";
import { unavailable } from "../schema/errors.ts";

/** The holder of the memory of requests without credentials. */
const NOBODY: Caller = { organizationId: "", name: "" };

/**
 * The part of the memory that one organization may hold. It is smaller than that of
 * connections, because whoever wants more is refused.
 */
const PART = 3 / 4;

/** The memory that a request holds until it disposes of the reservation. */
export interface Reservation extends Disposable {
  /** Reserves more. Throws `SERVICE_UNAVAILABLE` beyond the caller's share. */
  add(bytes: number): void;
}

/** Memory that organizations share fairly. Requests reserve it before they use it. */
export class MemoryBudget {
  readonly #memory: FairShare;
  readonly #refusal: string;

  /** `refusal` is the message of the error beyond a caller's share. */
  constructor(bytes: number, refusal: string) {
    this.#memory = new FairShare(bytes, PART);
    this.#refusal = refusal;
  }

  /** Reserves memory. Throws `SERVICE_UNAVAILABLE` beyond the caller's share. */
  reserve(caller: Caller = NOBODY, bytes = 0): Reservation {
    let own = 0;
    const add = (bytes: number) => {
      if (!this.#memory.allows(caller, bytes, own)) {
        throw unavailable(this.#refusal);
      }
      this.#memory.take(caller, bytes);
      own += bytes;
    };
    add(bytes);
    return {
      add,
      [Symbol.dispose]: () => {
        this.#memory.giveBack(caller, own);
        own = 0;
      },
    };
  }
}
