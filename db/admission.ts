import { ApiError } from "../schema/error.ts";
import { before } from "./deadline.ts";

/** How many connections are in use, and how many operations wait for one. */
export interface Load {
  used: number;
  waiting: number;
}

/** Operations that may wait; beyond them a client is told at once to come back. */
export const MAX_WAITING = 1000;

/**
 * Gives each of `places` to at most so many operations at a time; the others
 * wait in the order they came. An open place is given before one that must
 * connect first: so the connections that a quiet service keeps are few and warm,
 * and one that cannot connect is not the first to be free, again and again,
 * while others could serve. Of those the least busy one is given.
 */
export class Admission<Place extends { readonly isOpen: boolean }> {
  /** How many operations have a place. */
  readonly #loads: Map<Place, number>;
  readonly #sharers: number;
  readonly #queue = new Set<(place: Place) => void>();

  constructor(places: readonly Place[], sharers = 1) {
    this.#loads = new Map(places.map((place) => [place, 0]));
    this.#sharers = sharers;
  }

  /** How many operations can have a place at a time. */
  get capacity(): number {
    return this.#loads.size * this.#sharers;
  }

  /** The places that nobody has. */
  get free(): Place[] {
    return Array.from(this.#loads)
      .flatMap(([place, load]) => load === 0 ? [place] : []);
  }

  get load(): Load {
    return {
      used: this.#loads.size - this.free.length,
      waiting: this.#queue.size,
    };
  }

  /**
   * Waits for a place until `deadline` (milliseconds of `performance.now()`).
   * The caller must `leave` it when its operation is over. Throws
   * `SERVICE_UNAVAILABLE` when too many wait, or the deadline passes.
   */
  async enter(deadline: number): Promise<Place> {
    if (performance.now() >= deadline) throw tooLate();
    const place = this.#best();
    if (place) {
      this.#move(place, 1);
      return place;
    }
    if (this.#queue.size >= MAX_WAITING) {
      throw unavailable("Too many requests wait for the database");
    }
    const { promise, resolve } = Promise.withResolvers<Place>();
    this.#queue.add(resolve);
    return await before(deadline, promise, () => {
      this.#queue.delete(resolve);
      return tooLate();
    });
  }

  /** Hands the place to the one that has waited longest. */
  leave(place: Place): void {
    const [next] = this.#queue;
    if (!next) {
      this.#move(place, -1);
    } else {
      this.#queue.delete(next);
      next(place);
    }
  }

  #best(): Place | undefined {
    let best: Place | undefined;
    let least = Infinity;
    for (const [place, load] of this.#loads) {
      if (load === this.#sharers) continue;
      const cost = place.isOpen ? load : load + this.#sharers;
      if (cost < least) [best, least] = [place, cost];
    }
    return best;
  }

  #move(place: Place, by: number): void {
    this.#loads.set(place, this.#loads.get(place)! + by);
  }
}

function tooLate(): ApiError {
  return unavailable("The database had no time for this request");
}

/** A failure that a client may try again after a second. */
export function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", message, {
    cause,
    headers: { "retry-after": "1" },
  });
}
