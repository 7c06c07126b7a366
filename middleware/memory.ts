import { type Caller, type Permit, Queue } from "../db/connections/queue.ts";
import type { Memory } from "../db/database.ts";
import { SHORT_BYTES } from "../db/sizes.ts";

/* Reserves memory for bodies, long texts and sheets, which organizations share fairly. */

/** The part of the memory that one organization may have. */
const MEMORY_PART = 3 / 4;

/** The memory per byte of a text that is passed on unchanged: the driver, the text and the response have copies. */
export const PASSED_ON = 3;

/** The memory per byte of a text that is parsed or composed: the text, its values, and the result. */
export const PARSED = 8;

/** The memory of a process for this purpose. Organizations share it fairly. */
export function memoryFor(purpose: string, mebibytes: number): Queue {
  return new Queue(mebibytes * 2 ** 20, `memory for ${purpose}`, MEMORY_PART);
}

/** The caller of a request without credentials. */
const NOBODY: Caller = { organizationId: "", name: "" };

/** The memory for the texts that a request reads. It is kept until the response is sent. */
export class TextMemory implements Memory, Disposable {
  bytes = SHORT_BYTES;
  readonly #queue: Queue;
  readonly #request: { caller?: Caller; deadline: number };
  readonly #perByte: number;
  #permit: Permit | undefined;

  /** `perByte` is the memory per byte of a text. */
  constructor(
    queue: Queue,
    request: { caller?: Caller; deadline: number },
    perByte = PASSED_ON,
  ) {
    this.#queue = queue;
    this.#request = request;
    this.#perByte = perByte;
  }

  async reserve(bytes: number): Promise<void> {
    await this.keep(bytes * this.#perByte);
    this.bytes = bytes;
  }

  /**
   * Sets the total amount. A request that needs more first gives its amount back and then waits:
   * two requests that kept theirs would wait for each other. Throws the errors of `Queue.enter`.
   */
  async keep(amount: number): Promise<void> {
    if (this.#permit && amount <= this.#permit.amount) {
      return this.#permit.shrink(amount);
    }
    this[Symbol.dispose]();
    const { caller = NOBODY, deadline } = this.#request;
    this.#permit = await this.#queue.enter(caller, "short", deadline, amount);
  }

  [Symbol.dispose](): void {
    this.#permit?.[Symbol.dispose]();
  }
}

/** The steps in which memory grows, in bytes. */
const STEP = 256 * 1024;

/** The time that a request waits for each step. */
const STEP_WAIT_MS = 60_000;

/**
 * Memory that grows as a text arrives, so that a request has only as much as it has sent. Two
 * requests that hold all of it may wait for each other: the first one fails after a minute, and the
 * other goes on.
 */
export class GrowingMemory implements Disposable {
  readonly #queue: Queue;
  readonly #caller: Caller;
  readonly #permits: Permit[] = [];

  constructor(queue: Queue, caller: Caller) {
    this.#queue = queue;
    this.#caller = caller;
  }

  /** Holds at least this amount in all. Throws the errors of `Queue.enter`. */
  async hold(amount: number): Promise<void> {
    while (this.#permits.length * STEP < amount) {
      const deadline = performance.now() + STEP_WAIT_MS;
      this.#permits.push(await this.#queue.enter(this.#caller, "short", deadline, STEP));
    }
  }

  [Symbol.dispose](): void {
    for (const permit of this.#permits) permit[Symbol.dispose]();
  }
}
