import { unavailable } from "../schema/errors.ts";

/** How long a looked-up value is believed: a key that is revoked stops working within 5 seconds. */
const FRESH_MS = 4_000;

const MAX_ENTRIES = 10_000;

/** How many unknown credentials are looked up at a time. */
const MAX_STRANGERS = 250;

/**
 * Remembers what was looked up, for a moment. What was not found is not
 * remembered: a key that was just made works at once.
 */
export class Cache<T> {
  readonly #entries = new Map<
    string,
    { value: Promise<T | undefined>; until: number }
  >();
  #strangers = 0;

  /**
   * The value of the key, from memory or by `find`; those who ask together share
   * one look-up. Throws `SERVICE_UNAVAILABLE` where too many are asked for that
   * were never found.
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
