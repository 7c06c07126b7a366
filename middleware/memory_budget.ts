import { unavailable } from "../schema/errors.ts";

/**
 * The memory for bodies: a request costs a few times its body until it is
 * answered, and a process with too many of them would die of it.
 */
export class Room {
  readonly #bytes: number;
  #taken = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** What one request takes of it, and gives back when it is disposed of. */
  share(): Share {
    let taken = 0;
    return {
      take: (bytes) => {
        if (this.#taken + bytes > this.#bytes) {
          throw unavailable("Too much is being written at the moment");
        }
        this.#taken += bytes;
        taken += bytes;
      },
      [Symbol.dispose]: () => {
        this.#taken -= taken;
      },
    };
  }
}

/** The part of one request. */
export interface Share extends Disposable {
  /** Takes more. Throws `SERVICE_UNAVAILABLE` where there is none. */
  take(bytes: number): void;
}
