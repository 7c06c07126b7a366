import { type Caller, type Permit, Queue } from "../db/connections/queue.ts";
import type { Memory } from "../db/database.ts";
import { SHORT_BYTES } from "../db/long_text.ts";

/** The holder of the memory of requests without credentials. */
const NOBODY: Caller = { organizationId: "", name: "" };

/** The part of the memory that one organization may hold. */
const PART = 3 / 4;

/** What a byte of a text takes while it becomes a response: the driver, the text and the response have copies. */
const COPIES = 3;

/** Memory that organizations share fairly. Requests reserve it before they use it. */
export class MemoryBudget {
  readonly #queue: Queue;

  /** `name` is what the memory is for, for messages. */
  constructor(bytes: number, name: string) {
    this.#queue = new Queue(bytes, name, PART);
  }

  /**
   * The memory of a request, which holds nothing yet, and waits for more until `deadline`.
   * `copies` is what a byte of a text takes.
   */
  open(
    caller: Caller = NOBODY,
    deadline: number,
    copies = COPIES,
  ): Reservation {
    return new Reservation(this.#queue, caller, deadline, copies);
  }
}

/** The memory that a request holds until it disposes of the reservation. */
export class Reservation implements Memory, Disposable {
  bytes = SHORT_BYTES;
  /** In milliseconds of `performance.now()`. */
  deadline: number;
  readonly #queue: Queue;
  readonly #caller: Caller;
  readonly #copies: number;
  #permit: Permit | undefined;

  constructor(queue: Queue, caller: Caller, deadline: number, copies: number) {
    this.#queue = queue;
    this.#caller = caller;
    this.deadline = deadline;
    this.#copies = copies;
  }

  async reserve(bytes: number): Promise<void> {
    await this.hold(bytes * this.#copies);
    this.bytes = bytes;
  }

  /**
   * Holds this number of bytes in all. Gives back what it has before it waits for more, so
   * that requests do not wait for each other. Throws `SERVICE_UNAVAILABLE` at the deadline.
   */
  async hold(bytes: number): Promise<void> {
    if (this.#permit && bytes <= this.#permit.amount) return this.shrink(bytes);
    this[Symbol.dispose]();
    this.#permit = await this.#queue.enter(
      this.#caller,
      "short",
      this.deadline,
      bytes,
    );
  }

  /** Gives back what exceeds this number of bytes. */
  shrink(bytes: number): void {
    this.#permit?.shrink(bytes);
  }

  [Symbol.dispose](): void {
    this.#permit?.[Symbol.dispose]();
    this.#permit = undefined;
  }
}
