/** The API keys that were used in the current minute. */
export class KeyUses {
  readonly #keys = new Set<string>();
  #minute = 0;

  /** Adds a use of the key. Returns whether it is the first of the minute. */
  add(key: string): boolean {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.#minute) this.#keys.clear();
    this.#minute = minute;
    const isFirst = !this.#keys.has(key);
    this.#keys.add(key);
    return isFirst;
  }
}
