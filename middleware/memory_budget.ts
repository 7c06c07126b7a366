import type { Caller } from "../db/connections/fair_share.ts";
import { type Place, Queue } from "../db/connections/queue.ts";
import type { Memory } from "../db/long_text.ts";
import { unavailable } from "../schema/errors.ts";

/** The holder of the memory of requests without credentials. */
const NOBODY: Caller = { organizationId: "", name: "" };

/**
 * The part of the memory that one organization may hold. It is smaller than that of
 * connections, because some of it is taken without waiting.
 */
const PART = 3 / 4;

/** The memory that a request holds until it disposes of the reservation. */
export interface Reservation extends Memory, Disposable {
  /** Takes more. Throws `SERVICE_UNAVAILABLE` beyond the caller's share. */
  add(bytes: number): void;
}

/** Memory that organizations share fairly. Requests reserve it before they use it. */
export class MemoryBudget {
  readonly #queue: Queue;
  readonly #name: string;

  /** `name` is what the memory is for, for messages. */
  constructor(bytes: number, name: string) {
    this.#queue = new Queue(bytes, name, PART);
    this.#name = name;
  }

  /** The memory of a request, which waits for it until `deadline`. It holds nothing yet. */
  open(caller: Caller = NOBODY, deadline: number): Reservation {
    const queue = this.#queue;
    const name = this.#name;
    let place: Place = queue.place(caller, "short");
    return {
      take: (bytes) =>
        queue.load.waiting === 0 && bytes <= queue.free && place.tryGrow(bytes),
      add(bytes) {
        if (!place.tryGrow(bytes)) {
          throw unavailable(`There is too little ${name} for this request`);
        }
      },
      async hold(bytes) {
        place.shrink(bytes);
        if (place.amount === bytes) return;
        place.shrink(0);
        place = await queue.enter(caller, "short", deadline, bytes);
      },
      [Symbol.dispose]: () => place.shrink(0),
    };
  }
}
