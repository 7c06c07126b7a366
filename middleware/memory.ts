import { type Caller, type Permit, Queue } from "../db/connections/queue.ts";
import type { Memory } from "../db/database.ts";
import { SHORT_BYTES } from "../db/long_text.ts";

/** The part of the memory that one organization may have. */
const MEMORY_PART = 3 / 4;

/** What a byte takes that is passed on as it is: the driver, the text and the response have copies. */
export const PASSED_ON = 3;

/** What a byte takes that is parsed or composed: its text, its values, and what is made of them. */
export const PARSED = 8;

/** The memory of a process for this purpose. Organizations share it fairly. */
export function memoryFor(purpose: string, mebibytes: number): Queue {
  return new Queue(mebibytes * 2 ** 20, `memory for ${purpose}`, MEMORY_PART);
}

/** Who reads without credentials. */
const NOBODY: Caller = { organizationId: "", name: "" };

/** The memory for the texts that a request reads, which it has until its response is sent. */
export class TextMemory implements Memory, Disposable {
  bytes = SHORT_BYTES;
  readonly #queue: Queue;
  readonly #request: { caller?: Caller; deadline: number };
  readonly #perByte: number;
  #permit: Permit | undefined;

  /** `perByte` is what a byte of a text takes. */
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
   * Keeps this amount in all. A request that needs more gives back its amount before it
   * waits: two that held theirs would wait for each other. Throws the errors of `Queue.enter`.
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
