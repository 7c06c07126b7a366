import { unavailable } from "../../schema/errors.ts";
import { before } from "./deadline.ts";

/** On whose behalf an operation runs: an organization, and its API key or the subject of a token. */
export interface Caller {
  organizationId: string;
  name: string;
}

/** Short operations find a few rows by their keys; lists, searches and writes are long. */
export type Kind = "short" | "long";

/** How many slots are in use, and how many operations wait for one. */
export interface Load {
  used: number;
  waiting: number;
}

/** How many operations may wait in all, of an organization and of a caller. */
export const MAX_WAITING = [10_000, 1_000, 500] as const;

type Give<Slot> = (slot: Slot) => void;

/** All callers, an organization or a caller, by its depth in the tree. */
class Party<Slot> {
  readonly running = { short: 0, long: 0 };
  readonly waiting = { short: 0, long: 0 };
  /** The operations of a caller that wait, in the order in which they came. */
  readonly queues = {
    short: new Set<Give<Slot>>(),
    long: new Set<Give<Slot>>(),
  };
  /** The parties of the next depth; the first one's turn is next. */
  readonly members = new Map<string, Party<Slot>>();

  get isIdle(): boolean {
    return sum(this.waiting) + sum(this.running) === 0;
  }
}

/**
 * Gives each slot to one operation at a time. Organizations take turns, and so do
 * the callers of one organization, and the kinds of operations. Long operations
 * leave a third of the slots to short ones. An organization leaves at least one slot of each kind to others,
 * and a caller one more, so that another one is served at once.
 */
export class Queue<Slot extends { readonly isOpen: boolean }> {
  readonly #free: Slot[];
  readonly #slots: Record<"all" | "long", number>;
  readonly #everyone = new Party<Slot>();
  /** The first one's turn is next. */
  readonly #kinds: Kind[] = ["short", "long"];

  constructor(slots: readonly Slot[]) {
    this.#free = [...slots];
    const third = slots.length > 1 ? Math.ceil(slots.length / 3) : 0;
    this.#slots = { all: slots.length, long: slots.length - third };
  }

  /** The slots that are not in use. */
  get free(): readonly Slot[] {
    return this.#free;
  }

  get load(): Load {
    return {
      used: this.#slots.all - this.#free.length,
      waiting: sum(this.#everyone.waiting),
    };
  }

  /**
   * Waits for a slot until `deadline`, in milliseconds of `performance.now()`.
   * The caller releases it. Throws `SERVICE_UNAVAILABLE` at the deadline, or at
   * once when too many operations wait.
   */
  async acquire(deadline: number, caller: Caller, kind: Kind): Promise<Slot> {
    if (performance.now() >= deadline) throw tooLate();
    const path = this.#pathOf(caller);
    const hasRoom = path.every((party, depth) =>
      this.#hasRoom(party, depth, kind)
    );
    if (this.#free.length > 0 && hasRoom) return this.#take(path, kind);
    if (
      path.some(({ waiting }, depth) => sum(waiting) >= MAX_WAITING[depth]!)
    ) {
      this.#forgetIdle(caller);
      throw unavailable("Too many requests wait for the database");
    }
    const { promise, resolve } = Promise.withResolvers<Slot>();
    path.at(-1)!.queues[kind].add(resolve);
    for (const party of path) party.waiting[kind]++;
    return await before(deadline, promise, () => {
      path.at(-1)!.queues[kind].delete(resolve);
      for (const party of path) party.waiting[kind]--;
      this.#forgetIdle(caller);
      return tooLate();
    });
  }

  /** Takes back the slot of an operation, and gives it to the next one. */
  release(slot: Slot, caller: Caller, kind: Kind): void {
    for (const party of this.#pathOf(caller)) party.running[kind]--;
    this.#forgetIdle(caller);
    this.#free.push(slot);
    while (this.#free.length > 0 && this.#giveNext());
  }

  #giveNext(): boolean {
    const served = this.#kinds.find((kind) => this.#giveTo(kind));
    if (served === this.#kinds[0]) this.#kinds.reverse();
    return served !== undefined;
  }

  #giveTo(kind: Kind): boolean {
    const path = this.#next([this.#everyone], kind);
    const [give] = path?.at(-1)?.queues[kind] ?? [];
    if (!path || !give) return false;
    path.at(-1)!.queues[kind].delete(give);
    for (const party of path) party.waiting[kind]--;
    give(this.#take(path, kind));
    return true;
  }

  /** The path to the caller whose turn it is; the parties on it lose their turn. */
  #next(path: Party<Slot>[], kind: Kind): Party<Slot>[] | undefined {
    const depth = path.length - 1;
    const party = path[depth]!;
    if (party.waiting[kind] === 0 || !this.#hasRoom(party, depth, kind)) return;
    if (party.queues[kind].size > 0) return path;
    for (const [name, member] of party.members) {
      const found = this.#next([...path, member], kind);
      if (!found) continue;
      party.members.delete(name);
      party.members.set(name, member);
      return found;
    }
  }

  #hasRoom({ running }: Party<Slot>, depth: number, kind: Kind): boolean {
    const most = (slots: number) => Math.max(1, slots - depth);
    return sum(running) < most(this.#slots.all) &&
      (kind === "short" || running.long < most(this.#slots.long));
  }

  /** An open slot goes before one that must connect: a quiet service keeps few connections, and these are warm. */
  #take(path: Party<Slot>[], kind: Kind): Slot {
    for (const party of path) party.running[kind]++;
    const open = this.#free.findLastIndex(({ isOpen }) => isOpen);
    return this.#free.splice(open, 1)[0]!;
  }

  #pathOf({ organizationId, name }: Caller): Party<Slot>[] {
    const organization = memberOf(this.#everyone, organizationId);
    return [this.#everyone, organization, memberOf(organization, name)];
  }

  #forgetIdle({ organizationId, name }: Caller): void {
    const [everyone, organization, caller] = this.#pathOf({
      organizationId,
      name,
    });
    if (caller!.isIdle) organization!.members.delete(name);
    if (organization!.isIdle) everyone!.members.delete(organizationId);
  }
}

function sum({ short, long }: Record<Kind, number>): number {
  return short + long;
}

function memberOf<Slot>(party: Party<Slot>, name: string): Party<Slot> {
  let member = party.members.get(name);
  if (!member) party.members.set(name, member = new Party());
  return member;
}

function tooLate() {
  return unavailable("The database had no time for this request");
}
