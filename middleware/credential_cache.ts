import { unavailable } from "../schema/errors.ts";

/** How long a looked-up value is trusted: a revoked key stops working within 5 seconds. */
const FRESH_MS = 4_000;

const MAX_ENTRIES = 10_000;

/** How many unknown credentials are looked up at a time. */
const MAX_STRANGERS = 250;

/**
 * Caches look-ups for a moment. A failed look-up is not cached, so that a new
 * key works at once.
 */
export class Cache<T> {
  readonly #entries = new Map<
    string,
    { value: Promise<T | undefined>; until: number }
  >();
  #strangers = 0;

  /**
   * The value of the key, from the cache or by `find`. Concurrent callers share
   * one look-up. Throws `SERVICE_UNAVAILABLE` if too many unknown keys are being
   * looked up.
   */
  async get(
    key: string,
    find: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const known = this.#entries.get(key);
    if (known && performance.now() < known.until) return await known.value;

    const strangers = known ? 0 : 1;
    if (this.#strangers + strangers > MAX_STRANGERS) {
      throw unavailable("Too many unknown credentials are being looked up");
    }
    this.#strangers += strangers;
    const entry = { value: find(), until: performance.now() + FRESH_MS };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const forget = () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    entry.value.then((value) => value === undefined && forget(), forget)
      .finally(() => this.#strangers -= strangers);
    if (this.#entries.size > MAX_ENTRIES) {
      const [oldest] = this.#entries.keys();
      this.#entries.delete(oldest!);
    }
    return await entry.value;
  }
}
