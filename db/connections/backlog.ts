const MAX_WAITING = 1_000;
const MAX_RUNNING = 2;

/** A bounded queue of optional background tasks. A full queue drops new tasks. */
export class Backlog {
  readonly #waiting: (() => Promise<unknown>)[] = [];
  #running = 0;

  add(work: () => Promise<unknown>): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(work);
    if (this.#running < MAX_RUNNING) this.#run();
  }

  async #run(): Promise<void> {
    this.#running++;
    let work;
    while ((work = this.#waiting.shift())) await work().catch(() => {});
    this.#running--;
  }
}
