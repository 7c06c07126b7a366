import type { Caller } from "../db/connections/queue.ts";
import { unavailable } from "../schema/errors.ts";

/** The holder of the memory of requests without credentials. */
const NOBODY: Caller = { organizationId: "", name: "" };

/** The memory that a request holds until it disposes of the reservation. */
export interface Reservation extends Disposable {
  /** Reserves more. Throws `SERVICE_UNAVAILABLE` beyond the caller's share. */
  add(bytes: number): void;
}

/**
 * Memory that organizations share. An organization may hold at most half as much
 * memory as is free, and a caller at most as much as it leaves to its organization. So
 * some memory is always left for the others. The only reservation of an organization
 * may have any size.
 */
export class MemoryBudget {
  readonly #bytes: number;
  readonly #refusal: string;
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(bytes: number, refusal: string) {
    this.#bytes = bytes;
    this.#refusal = refusal;
  }

  /** Reserves memory. Throws `SERVICE_UNAVAILABLE` beyond the caller's share. */
  reserve(
    { organizationId: organization, name }: Caller = NOBODY,
    bytes = 0,
  ): Reservation {
    const caller = `${organization} ${name}`;
    let own = 0;
    const add = (bytes: number) => {
      const heldByAll = this.#heldBy(organization);
      const left = (this.#bytes - this.#used) / 2 - heldByAll - bytes;
      if (heldByAll > own && left < this.#heldBy(caller)) {
        throw unavailable(this.#refusal);
      }
      own += bytes;
      this.#change([organization, caller], bytes);
    };
    add(bytes);
    return {
      add,
      [Symbol.dispose]: () => {
        this.#change([organization, caller], -own);
        own = 0;
      },
    };
  }

  #heldBy(holder: string): number {
    return this.#held.get(holder) ?? 0;
  }

  #change(holders: string[], bytes: number): void {
    this.#used += bytes;
    for (const holder of holders) {
      const held = this.#heldBy(holder) + bytes;
      if (held > 0) this.#held.set(holder, held);
      else this.#held.delete(holder);
    }
  }
}
