import { Queue } from "../db/connections/queue.ts";

/** The life of an entry. It lets a revoked key stop working within 5 seconds. */
const FRESH_MS = 4_000;

const MAX_CACHED = 10_000;

/** The look-ups at once of names that are not in the cache. */
const MAX_UNKNOWN = 4;

/**
 * Caches the results of look-ups by public names, such as the id of an API key. An entry is used
 * for a few seconds and then looked up again. It stays in memory while there is room, so that
 * look-ups of known names never queue with those of unknown ones. Names without a result are not
 * cached: a new key works at once.
 */
export class CredentialCache<T> {
  /** In the order of their look-ups. */
  readonly #entries = new Map<string, { value: T; until: number }>();
  readonly #running = new Map<string, Promise<T | undefined>>();
  readonly #unknown = new Queue(MAX_UNKNOWN, "check of credentials");

  /** Returns the result of the last seconds, if there is one. */
  fresh(name: string): T | undefined {
    const entry = this.#entries.get(name);
    return entry && performance.now() < entry.until ? entry.value : undefined;
  }

  /**
   * Looks up a name. Concurrent callers share a look-up. Look-ups of unknown names wait for each
   * other, so that invented credentials do not keep known ones from the database. Throws the
   * errors of `look` and of `Queue.enter`.
   */
  find(
    name: string,
    deadline: number,
    look: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const running = this.#running.get(name) ??
      this.#find(name, deadline, look)
        .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  async #find(
    name: string,
    deadline: number,
    look: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const caller = { organizationId: name, name: "" };
    using _permit = this.#entries.has(name)
      ? undefined
      : await this.#unknown.enter(caller, "short", deadline);
    const until = performance.now() + FRESH_MS;
    const value = await look();
    this.#entries.delete(name);
    if (value === undefined) return;
    this.#entries.set(name, { value, until });
    if (this.#entries.size > MAX_CACHED) {
      const [oldest] = this.#entries.keys();
      this.#entries.delete(oldest!);
    }
    return value;
  }
}
