import { unavailable } from "../../schema/errors.ts";
import { withDeadline } from "./deadline.ts";
import { type Caller, FairShare, Tally } from "./fair_share.ts";
import { RoundRobin } from "./round_robin.ts";

/** Short operations read a few rows by key. Lists, searches and writes are long. */
export type Kind = "short" | "long";

/** The amount in use, and the number of waiting operations. */
export interface Load {
  used: number;
  waiting: number;
}

/** The limits of waiting operations: in all, of an organization and of a caller. */
export const MAX_WAITING = { all: 10_000, organization: 1_000, caller: 500 };

/**
 * The part of the supply that one organization may have. It is large, because an
 * organization that wants more waits for its turn.
 */
const PART = 7 / 8;

/**
 * Lets operations run while there is enough for them of a limited supply, such as places
 * or bytes. The others wait: organizations, the callers of an organization and the kinds of
 * operations take turns. Long operations leave a third of the supply to short ones, and
 * nobody has all of it, so that a new organization gets some at once.
 */
export class Queue {
  readonly #name: string;
  readonly #supply: FairShare;
  /** The supplies that the operations of a kind share: long ones may not have all. */
  readonly #supplies: Record<Kind, FairShare[]>;
  readonly #waiting = new Tally();
  readonly #lines = { short: new WaitingLine(), long: new WaitingLine() };
  readonly #admissions = {
    short: this.#admissionOf("short"),
    long: this.#admissionOf("long"),
  };
  /** The first kind has priority for the next place. */
  readonly #kinds: Kind[] = ["short", "long"];

  /** `name` is what the operations wait for, for messages. */
  constructor(supply: number, name: string, part = PART) {
    this.#name = name;
    this.#supply = new FairShare(supply, part);
    const third = Math.ceil(supply / 3);
    const longSupply = new FairShare(Math.max(1, supply - third), part);
    this.#supplies = {
      short: [this.#supply],
      long: [this.#supply, longSupply],
    };
  }

  /** Whether nothing runs. */
  get isIdle(): boolean {
    return this.#supply.held === 0;
  }

  get load(): Load {
    return { used: this.#supply.held, waiting: this.#waiting.total };
  }

  /**
   * Waits for an amount until `deadline`, in milliseconds of `performance.now()`. Throws
   * `SERVICE_UNAVAILABLE` at the deadline, and at once while too many operations wait.
   */
  async enter(
    caller: Caller,
    kind: Kind,
    deadline: number,
    amount = 1,
  ): Promise<Place> {
    if (performance.now() >= deadline) throw this.#tooLate();
    if (this.#mayEnter(caller, kind, amount)) {
      return this.#place(caller, kind, amount);
    }
    if (this.#isFull(caller)) {
      throw unavailable(`Too many requests are waiting for the ${this.#name}`);
    }
    const { promise, resolve: admit } = Promise.withResolvers<Place>();
    const entry = { caller, amount, admit };
    this.#lines[kind].add(entry);
    this.#waiting.add(caller, 1);
    return await withDeadline(deadline, promise, () => {
      this.#lines[kind].remove(entry);
      this.#waiting.add(caller, -1);
      return this.#tooLate();
    });
  }

  #place(caller: Caller, kind: Kind, amount: number): Place {
    this.#take(caller, kind, amount);
    return new Place(this, caller, kind, amount);
  }

  /** Gives back an amount, and admits the operations that it lets run. Only a place calls it. */
  giveBack(caller: Caller, kind: Kind, amount: number): void {
    this.#take(caller, kind, -amount);
    while (this.#waiting.total > 0 && this.#admitNext());
  }

  #take(caller: Caller, kind: Kind, amount: number): void {
    for (const supply of this.#supplies[kind]) supply.take(caller, amount);
  }

  #tooLate() {
    return unavailable(`The ${this.#name} was too busy for this request`);
  }

  #isFull(caller: Caller): boolean {
    return this.#waiting.total >= MAX_WAITING.all ||
      this.#waiting.ofOrganization(caller) >= MAX_WAITING.organization ||
      this.#waiting.ofCaller(caller) >= MAX_WAITING.caller;
  }

  #admissionOf(kind: Kind): Admission {
    return {
      organization: (id) =>
        this.#supplies[kind].every((supply) => supply.allowsNewcomer(id)),
      entry: ({ caller, amount }) => this.#mayEnter(caller, kind, amount),
    };
  }

  /** Whether the amount is free and the caller may have it. An operation alone may have any amount. */
  #mayEnter(caller: Caller, kind: Kind, amount: number): boolean {
    for (const supply of this.#supplies[kind]) {
      const isThere = supply.free >= amount || supply.held === 0;
      if (!isThere || !supply.allows(caller, amount)) return false;
    }
    return true;
  }

  /** Admits the next operation. Returns whether there was one that may run. */
  #admitNext(): boolean {
    for (const kind of this.#kinds) {
      // Without this, every release would ask all waiting organizations.
      if (this.#supplies[kind].some(({ free }) => free <= 0)) continue;
      const next = this.#lines[kind].takeFirst(this.#admissions[kind]);
      if (!next) continue;
      if (kind === this.#kinds[0]) this.#kinds.reverse();
      this.#waiting.add(next.caller, -1);
      next.admit(this.#place(next.caller, kind, next.amount));
      return true;
    }
    return false;
  }
}

/** What a running operation holds. Its disposal lets the next ones run. */
export class Place implements Disposable {
  readonly #queue: Queue;
  readonly #caller: Caller;
  readonly #kind: Kind;
  #amount: number;

  constructor(queue: Queue, caller: Caller, kind: Kind, amount: number) {
    this.#queue = queue;
    this.#caller = caller;
    this.#kind = kind;
    this.#amount = amount;
  }

  get amount(): number {
    return this.#amount;
  }

  /** Gives back what exceeds this amount. */
  shrink(amount: number): void {
    const less = this.#amount - amount;
    if (less <= 0) return;
    this.#amount = amount;
    this.#queue.giveBack(this.#caller, this.#kind, less);
  }

  [Symbol.dispose](): void {
    this.shrink(0);
  }
}

/** A waiting operation. `admit` lets it run. */
interface Waiting {
  caller: Caller;
  amount: number;
  admit(place: Place): void;
}

/** Whether an operation may run. If an organization is not admitted, none of its operations is. */
interface Admission {
  organization(id: string): boolean;
  entry(entry: Waiting): boolean;
}

/** The waiting operations of a kind. */
class WaitingLine {
  /** By organization and by the name of the caller. The operations of a caller are first in, first out. */
  readonly #organizations = new RoundRobin<RoundRobin<Waiting[]>>();

  add(entry: Waiting): void {
    const { organizationId, name } = entry.caller;
    const callers = this.#organizations.get(organizationId) ??
      this.#organizations.add(organizationId, new RoundRobin());
    const entries = callers.get(name) ?? callers.add(name, []);
    entries.push(entry);
  }

  remove(entry: Waiting): void {
    const { organizationId, name } = entry.caller;
    const callers = this.#organizations.get(organizationId)!;
    const entries = callers.get(name)!;
    entries.splice(entries.indexOf(entry), 1);
    if (entries.length === 0) callers.delete(name);
    if (callers.size === 0) this.#organizations.delete(organizationId);
  }

  /** Takes the next operation that may run. The organization and the caller go to the end. */
  takeFirst(admission: Admission): Waiting | undefined {
    for (const [organizationId, callers] of this.#organizations) {
      if (!admission.organization(organizationId)) continue;
      for (const [name, entries] of callers) {
        if (!admission.entry(entries[0]!)) continue;
        const entry = entries.shift()!;
        if (entries.length > 0) callers.moveToEnd(name);
        else callers.delete(name);
        if (callers.size > 0) this.#organizations.moveToEnd(organizationId);
        else this.#organizations.delete(organizationId);
        return entry;
      }
    }
  }
}
