/** An organization, and the id of its API key or the subject of its token. */
export interface Caller {
  organizationId: string;
  name: string;
}

/** Amounts of callers, with their sums by organization and in all. */
export class Tally {
  /** By organization, and by organization and caller. An amount of 0 is absent. */
  readonly #amounts = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  ofOrganization({ organizationId }: Caller): number {
    return this.#amounts.get(organizationId) ?? 0;
  }

  ofCaller(caller: Caller): number {
    return this.#amounts.get(keyOf(caller)) ?? 0;
  }

  add(caller: Caller, amount: number): void {
    this.#total += amount;
    for (const key of [caller.organizationId, keyOf(caller)]) {
      const sum = (this.#amounts.get(key) ?? 0) + amount;
      if (sum === 0) this.#amounts.delete(key);
      else this.#amounts.set(key, sum);
    }
  }
}

/**
 * A supply that organizations and their callers share, such as connections or bytes. An
 * organization may hold a part of what the other organizations leave, and a caller the
 * same part of what the other callers of its organization leave of that. So whoever
 * comes next finds some of it, and who is alone may hold most of it. An organization
 * that holds nothing may take any amount, even more than there is: a supply must serve a
 * single request of any size.
 */
export class FairShare {
  readonly #supply: number;
  readonly #part: number;
  readonly #held = new Tally();

  /** `part` is less than 1. The smaller it is, the more is left for the next organization. */
  constructor(supply: number, part: number) {
    this.#supply = supply;
    this.#part = part;
  }

  get held(): number {
    return this.#held.total;
  }

  get free(): number {
    return this.#supply - this.#held.total;
  }

  /** Whether the caller may take this amount. Its request already holds `own`. */
  allows(caller: Caller, amount: number, own = 0): boolean {
    const byOrganization = this.#held.ofOrganization(caller);
    if (byOrganization === own) return true;
    const byCaller = this.#held.ofCaller(caller);
    const ofOrganization = this.#part * (this.free + byOrganization);
    const ofCaller = this.#part * (ofOrganization - byOrganization + byCaller);
    return byCaller + amount <= ofCaller;
  }

  take(caller: Caller, amount: number): void {
    this.#held.add(caller, amount);
  }

  giveBack(caller: Caller, amount: number): void {
    this.#held.add(caller, -amount);
  }
}

function keyOf({ organizationId, name }: Caller): string {
  return `${organizationId} ${name}`;
}
