/** How much work may wait, and how much of it runs at a time. */
const MAX_WAITING = 1_000;
const MAX_RUNNING = 2;

/** Work that can be left undone: it runs a little at a time, and what comes when too much waits is dropped. */
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
