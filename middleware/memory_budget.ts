import { unavailable } from "../schema/errors.ts";

/** The holder of memory. Requests without credentials share one. */
interface Holder {
  organization_id?: string;
  api_key?: string;
}

/** The memory that a request holds until it disposes of the reservation. */
export interface Reservation extends Disposable {
  /** Reserves more. Throws `SERVICE_UNAVAILABLE` beyond the holder's share. */
  add(bytes: number): void;
}

/**
 * Memory that organizations share. An organization may hold at most half as much
 * memory as is free, and a key at most as much as it leaves to its organization. So
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

  /** Reserves memory. Throws `SERVICE_UNAVAILABLE` beyond the holder's share. */
  reserve(
    { organization_id: organization = "", api_key = "" }: Holder,
    bytes = 0,
  ): Reservation {
    const key = `${organization} ${api_key}`;
    let own = 0;
    const add = (bytes: number) => {
      const heldByAll = this.#heldBy(organization);
      const left = (this.#bytes - this.#used) / 2 - heldByAll - bytes;
      if (heldByAll > own && left < this.#heldBy(key)) {
        throw unavailable(this.#refusal);
      }
      own += bytes;
      this.#change([organization, key], bytes);
    };
    add(bytes);
    return {
      add,
      [Symbol.dispose]: () => {
        this.#change([organization, key], -own);
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
