import { tooManyRequests, unavailable } from "../../schema/errors.ts";
import { withDeadline } from "./deadline.ts";

/*
 * Shares a limited supply among operations. `Queue` serves connections, memory, parsing and name
 * look-ups.
 */

/** An organization, and the id of its API key or the subject of its token. */
export interface Caller {
  organizationId: string;
  name: string;
}

/** Long operations, such as lists and writes, leave a third of the supply to short ones. */
export type Kind = "short" | "long";

/** The amount in use, and the number of waiting operations. */
export interface Load {
  used: number;
  waiting: number;
}

/** The share of a running operation in the supply. Its disposal lets waiting operations run. */
export interface Permit extends Disposable {
  readonly amount: number;
  /** Gives back what exceeds this amount. */
  shrink(amount: number): void;
}

/** The limits of waiting operations: in all, of an organization and of a caller. */
export const MAX_WAITING = { all: 10_000, organization: 1_000, caller: 500 };

/**
 * The part of the supply that one organization may have. It is large, because an
 * organization that wants more waits until others have had some.
 */
const PART = 7 / 8;

interface Amounts {
  ofAll: number;
  readonly ofCallers: Map<string, number>;
}

/** Amounts of callers, with their sums by organization and in all. */
export class Tally {
  total = 0;
  /** By organization. An amount of 0 is absent. */
  readonly #amounts = new Map<string, Amounts>();

  ofOrganization({ organizationId }: Caller): number {
    return this.#amounts.get(organizationId)?.ofAll ?? 0;
  }

  ofCaller({ organizationId, name }: Caller): number {
    return this.#amounts.get(organizationId)?.ofCallers.get(name) ?? 0;
  }

  add({ organizationId, name }: Caller, amount: number): void {
    this.total += amount;
    const amounts = this.#amounts.get(organizationId) ??
      { ofAll: 0, ofCallers: new Map<string, number>() };
    amounts.ofAll += amount;
    const ofCaller = (amounts.ofCallers.get(name) ?? 0) + amount;
    if (ofCaller === 0) amounts.ofCallers.delete(name);
    else amounts.ofCallers.set(name, ofCaller);
    if (amounts.ofCallers.size === 0) this.#amounts.delete(organizationId);
    else this.#amounts.set(organizationId, amounts);
  }
}

interface Supply {
  size: number;
  used: Tally;
}

interface WaitingOperation {
  caller: Caller;
  amount: number;
  admit(permit: Permit): void;
}

/** Waiting operations by organization and by the name of the caller, the next ones first. */
type Waiting = Map<string, Map<string, WaitingOperation[]>>;

/**
 * Shares a limited supply, such as connections or bytes, among operations. Those for which there is
 * not enough wait. Organizations take turns, and so do the callers of an organization. The
 * operations of a caller run in their order.
 *
 * With `part` below 1, something always remains for a newcomer:
 *
 *     an organization has at most   part * (size - what other organizations use)
 *     a caller has at most          part * (that - what its organization's others use)
 *
 * An organization that has nothing may take any free amount.
 */
export class Queue {
  readonly #name: string;
  readonly #part: number;
  readonly #used = new Tally();
  readonly #supplies: Record<Kind, Supply[]>;
  readonly #waits = new Tally();
  readonly #waiting: Record<Kind, Waiting> = {
    short: new Map(),
    long: new Map(),
  };
  /** The next operation is of the first kind, if one of it may run. */
  readonly #kinds: Kind[] = ["short", "long"];

  /** `name`: the supply, for messages. */
  constructor(size: number, name: string, part = PART) {
    this.#name = name;
    this.#part = part;
    const all = { size, used: this.#used };
    const most = Math.max(1, size - Math.ceil(size / 3));
    const long = { size: most, used: new Tally() };
    this.#supplies = { short: [all], long: [all, long] };
  }

  get load(): Load {
    return { used: this.#used.total, waiting: this.#waits.total };
  }

  /**
   * Waits for an amount until `deadline`, in milliseconds of `performance.now()`. Throws
   * `SERVICE_UNAVAILABLE` at the deadline. While too many operations wait, it throws at
   * once: `TOO_MANY_REQUESTS` if they are those of the caller or its organization, and
   * otherwise `SERVICE_UNAVAILABLE`.
   */
  async enter(
    caller: Caller,
    kind: Kind,
    deadline: number,
    amount = 1,
  ): Promise<Permit> {
    if (performance.now() >= deadline) throw this.#tooLate();
    if (this.#mayRun(caller, kind, amount)) {
      return this.#permit(caller, kind, amount);
    }
    this.#checkWaiting(caller);
    const { promise, resolve: admit } = Promise.withResolvers<Permit>();
    const operation = { caller, amount, admit };
    this.#add(kind, operation);
    return await withDeadline(deadline, promise, () => {
      this.#remove(kind, operation);
      return this.#tooLate();
    });
  }

  #tooLate() {
    return unavailable(`The ${this.#name} was too busy for this request`);
  }

  #checkWaiting(caller: Caller): void {
    const waiting = {
      caller: this.#waits.ofCaller(caller),
      organization: this.#waits.ofOrganization(caller),
    };
    for (const whose of ["caller", "organization"] as const) {
      const quota = MAX_WAITING[whose];
      if (waiting[whose] < quota) continue;
      const message = `Too many requests of this ${whose} are waiting for the ${this.#name}`;
      throw tooManyRequests(message, whose, quota);
    }
    if (this.#waits.total >= MAX_WAITING.all) {
      throw unavailable(`Too many requests are waiting for the ${this.#name}`);
    }
  }

  /** Whether the amount is free and the caller may have it. An operation alone may have any amount. */
  #mayRun(caller: Caller, kind: Kind, amount: number): boolean {
    for (const { size, used } of this.#supplies[kind]) {
      const free = size - used.total;
      if (free < amount && used.total > 0) return false;
      const ofOrganization = used.ofOrganization(caller);
      if (ofOrganization === 0) continue;
      const ofCaller = used.ofCaller(caller);
      const share = this.#part * (free + ofOrganization);
      const ofOwn = this.#part * (share - ofOrganization + ofCaller);
      if (ofCaller + amount > ofOwn) return false;
    }
    return true;
  }

  #permit(caller: Caller, kind: Kind, amount: number): Permit {
    this.#use(caller, kind, amount);
    return new QueuePermit(amount, (less) => {
      this.#use(caller, kind, -less);
      while (this.#waits.total > 0 && this.#admitNext());
    });
  }

  #use(caller: Caller, kind: Kind, amount: number): void {
    for (const { used } of this.#supplies[kind]) used.add(caller, amount);
  }

  #add(kind: Kind, operation: WaitingOperation): void {
    const { caller: { organizationId, name } } = operation;
    const organizations = this.#waiting[kind];
    const callers = organizations.get(organizationId) ?? new Map();
    const operations = callers.get(name) ?? [];
    operations.push(operation);
    callers.set(name, operations);
    organizations.set(organizationId, callers);
    this.#waits.add(operation.caller, 1);
  }

  #remove(kind: Kind, operation: WaitingOperation): void {
    const { caller: { organizationId, name } } = operation;
    const organizations = this.#waiting[kind];
    const callers = organizations.get(organizationId)!;
    const operations = callers.get(name)!;
    operations.splice(operations.indexOf(operation), 1);
    if (operations.length === 0) callers.delete(name);
    if (callers.size === 0) organizations.delete(organizationId);
    this.#waits.add(operation.caller, -1);
  }

  /** Admits the next operation, if one may run. Its organization and its caller then go to the end. */
  #admitNext(): boolean {
    for (const kind of this.#kinds) {
      const next = this.#next(kind);
      if (!next) continue;
      const { caller, amount, admit } = next;
      const { organizationId, name } = caller;
      this.#remove(kind, next);
      const organizations = this.#waiting[kind];
      moveToEnd(organizations.get(organizationId), name);
      moveToEnd(organizations, organizationId);
      if (kind === this.#kinds[0]) this.#kinds.reverse();
      admit(this.#permit(caller, kind, amount));
      return true;
    }
    return false;
  }

  /** The next operation of the kind that may run. */
  #next(kind: Kind): WaitingOperation | undefined {
    // Without these two checks, every release would ask all waiting callers.
    const isFree = this.#supplies[kind]
      .every(({ size, used }) => used.total < size);
    if (!isFree) return;
    for (const [organizationId, callers] of this.#waiting[kind]) {
      const newcomer = { organizationId, name: "" };
      if (!this.#mayRun(newcomer, kind, 1)) continue;
      for (const [operation] of callers.values()) {
        const { caller, amount } = operation!;
        if (this.#mayRun(caller, kind, amount)) return operation;
      }
    }
  }
}

class QueuePermit implements Permit {
  amount: number;
  readonly #giveBack: (amount: number) => void;

  constructor(amount: number, giveBack: (amount: number) => void) {
    this.amount = amount;
    this.#giveBack = giveBack;
  }

  shrink(amount: number): void {
    const less = this.amount - amount;
    if (less <= 0) return;
    this.amount = amount;
    this.#giveBack(less);
  }

  [Symbol.dispose](): void {
    this.shrink(0);
  }
}

function moveToEnd<T>(map: Map<string, T> | undefined, key: string): void {
  const value = map?.get(key);
  if (!map || map.size === 1 || value === undefined) return;
  map.delete(key);
  map.set(key, value);
}
