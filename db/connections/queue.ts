import { ApiError } from "../../schema/errors.ts";
import { before } from "./deadline.ts";

/** How many connections are in use, and how many operations wait for one. */
export interface Load {
  used: number;
  waiting: number;
}

/** Requests that may wait for a kind of connection; beyond them a client is told at once to come back. */
export const MAX_WAITING = 1000;

/**
 * Gives each of `places` to one operation at a time; the others wait in the
 * order they came. An open place is given before one that must connect first:
 * so the connections that a quiet service keeps are few and warm, and one that
 * cannot connect is not the first to be free, again and again, while others
 * could serve.
 */
export class Admission<Place extends { readonly isOpen: boolean }> {
  readonly #free: Place[];
  readonly #places: number;
  readonly #queue = new Set<(place: Place) => void>();

  constructor(places: readonly Place[]) {
    this.#free = [...places];
    this.#places = places.length;
  }

  /** The places that nobody has. */
  get free(): readonly Place[] {
    return this.#free;
  }

  get load(): Load {
    return {
      used: this.#places - this.#free.length,
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
    const open = this.#free.findLastIndex(({ isOpen }) => isOpen);
    const [place] = this.#free.splice(open, 1);
    if (place) return place;
    if (this.#queue.size >= MAX_WAITING) {
      throw tooMany();
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
      this.#free.push(place);
    } else {
      this.#queue.delete(next);
      next(place);
    }
  }
}

function tooLate(): ApiError {
  return unavailable("The database had no time for this request");
}

/** The failure of what may not even wait. */
export function tooMany(): ApiError {
  return unavailable("Too many requests wait for the database");
}

/** A failure that a client may try again after a second. */
export function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", message, {
    cause,
    headers: { "retry-after": "1" },
  });
}

/** Whether the failure is one that `unavailable` makes. What was asked for may have happened all the same. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.code === "SERVICE_UNAVAILABLE";
}
