import { createHash } from "node:crypto";
import { unavailable } from "../schema/errors.ts";

/** The life of an entry. It lets a revoked key stop working within 5 seconds. */
const FRESH_MS = 4_000;

const MAX_ENTRIES = 10_000;

/** Concurrent look-ups of uncached credentials. */
const MAX_UNCACHED = 250;

/**
 * Caches look-ups of credentials for seconds, by their hashes. Unknown credentials are
 * not cached, so that a new key works at once.
 */
export class Cache<T> {
  readonly #entries = new Map<
    string,
    { value: Promise<T | undefined>; until: number }
  >();
  #uncached = 0;

  /**
   * Returns the value of the credential from the cache, or from `find`. Concurrent
   * callers share a look-up. Throws `SERVICE_UNAVAILABLE` during too many look-ups of
   * uncached credentials.
   */
  async get(
    credential: string,
    find: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const key = createHash("sha256").update(credential).digest("hex");
    const known = this.#entries.get(key);
    if (known && performance.now() < known.until) return await known.value;

    const uncached = known ? 0 : 1;
    if (this.#uncached + uncached > MAX_UNCACHED) {
      throw unavailable("Too many unknown credentials: try again");
    }
    this.#uncached += uncached;
    const entry = { value: find(), until: performance.now() + FRESH_MS };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const forget = () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    entry.value.then((value) => value === undefined && forget(), forget)
      .finally(() => this.#uncached -= uncached);
    if (this.#entries.size > MAX_ENTRIES) {
      const [oldest] = this.#entries.keys();
      this.#entries.delete(oldest!);
    }
    return await entry.value;
  }
}
