/** An organization, and the id of its API key or the subject of its token. */
export interface Caller {
  organizationId: string;
  name: string;
}

/** The amount of an organization, and its parts by the names of its callers. */
interface Account {
  amount: number;
  readonly parts: Map<string, number>;
}

/** Amounts of callers, with their sums by organization and in all. */
export class Tally {
  /** By organization. An amount of 0 is absent. */
  readonly #accounts = new Map<string, Account>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  ofOrganization({ organizationId }: Pick<Caller, "organizationId">): number {
    return this.#accounts.get(organizationId)?.amount ?? 0;
  }

  ofCaller({ organizationId, name }: Caller): number {
    return this.#accounts.get(organizationId)?.parts.get(name) ?? 0;
  }

  add({ organizationId, name }: Caller, amount: number): void {
    let account = this.#accounts.get(organizationId);
    if (!account) {
      account = { amount: 0, parts: new Map() };
      this.#accounts.set(organizationId, account);
    }
    const part = (account.parts.get(name) ?? 0) + amount;
    if (part === 0) account.parts.delete(name);
    else account.parts.set(name, part);
    account.amount += amount;
    this.#total += amount;
    if (account.parts.size === 0) this.#accounts.delete(organizationId);
  }
}

/**
 * A supply that organizations and their callers share, such as connections or bytes. An
 * organization may hold a part of what the other organizations leave, and a caller the
 * same part of what the other callers of its organization leave of that. So the next
 * caller finds some of it, and a caller alone may hold most of it. An organization that
 * holds nothing may take any amount, even more than there is: a supply must serve a single
 * request of any size.
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

  /** Whether the caller may take this amount. */
  allows(caller: Caller, amount: number): boolean {
    const byOrganization = this.#held.ofOrganization(caller);
    if (byOrganization === 0) return true;
    const byCaller = this.#held.ofCaller(caller);
    const ofOrganization = this.#part * (this.free + byOrganization);
    const ofCaller = this.#part * (ofOrganization - byOrganization + byCaller);
    return byCaller + amount <= ofCaller;
  }

  /**
   * Whether a caller of the organization that holds nothing may take 1. If it may not, no
   * caller of the organization may.
   */
  allowsNewcomer(organizationId: string): boolean {
    const held = this.#held.ofOrganization({ organizationId });
    const ofOrganization = this.#part * (this.free + held);
    return held === 0 || this.#part * (ofOrganization - held) >= 1;
  }

  /** Takes an amount, or gives it back if it is negative. */
  take(caller: Caller, amount: number): void {
    this.#held.add(caller, amount);
  }
}
