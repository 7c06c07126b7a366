import { unavailable } from "../schema/errors.ts";

/** The life of an entry. It lets a revoked key stop working within 5 seconds. */
const FRESH_MS = 4_000;

/** An ended entry is kept this long. Until then, its credential counts as known. */
const KNOWN_MS = 60_000;

const MAX_CACHED = 10_000;

/** Concurrent look-ups of uncached credentials. */
const MAX_UNCACHED = 250;

/** A look-up of a credential, and its value as soon as it is known. */
interface CachedCredential<T> {
  value: Promise<T | undefined>;
  known?: T;
  until: number;
}

/**
 * Caches look-ups of credentials for seconds. Unknown credentials are not cached, so
 * that a new key works at once.
 */
export class CredentialCache<T> {
  /** In the order of their ends. */
  readonly #entries = new Map<string, CachedCredential<T>>();
  #uncached = 0;

  /**
   * Returns the value of the credential from the cache, or from `find`. Concurrent
   * callers share a look-up. Throws `SERVICE_UNAVAILABLE` during too many look-ups of
   * uncached credentials.
   */
  get(
    credential: string,
    find: () => Promise<T | undefined>,
  ): T | Promise<T | undefined> {
    const now = performance.now();
    const known = this.#entries.get(credential);
    if (known && now < known.until) return known.known ?? known.value;

    const uncached = known ? 0 : 1;
    if (this.#uncached + uncached > MAX_UNCACHED) {
      throw unavailable("Too many unknown credentials: try again");
    }
    this.#uncached += uncached;
    const entry: CachedCredential<T> = { value: find(), until: now + FRESH_MS };
    this.#entries.delete(credential);
    this.#entries.set(credential, entry);
    const forget = () => {
      if (this.#entries.get(credential) === entry) {
        this.#entries.delete(credential);
      }
    };
    entry.value.then((value) => {
      if (value === undefined) forget();
      else entry.known = value;
    }, forget).finally(() => this.#uncached -= uncached);
    this.#forgetOld(now);
    return entry.value;
  }

  #forgetOld(now: number): void {
    for (const [credential, { until }] of this.#entries) {
      const isRecent = now < until + KNOWN_MS;
      if (isRecent && this.#entries.size <= MAX_CACHED) break;
      this.#entries.delete(credential);
    }
  }
}
