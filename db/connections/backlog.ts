const MAX_WAITING = 1_000;
const MAX_RUNNING = 2;

/** Optional background work. Few tasks run at a time, and new tasks are dropped while too many wait. */
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
