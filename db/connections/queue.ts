import { unavailable } from "../../schema/errors.ts";
import { before } from "./deadline.ts";

/** The caller of an operation: an organization, and the id of its API key or the subject of its token. */
export interface Caller {
  organizationId: string;
  name: string;
}

/** Short operations read a few rows by their keys. Lists, searches and writes are long. */
export type Kind = "short" | "long";

/** The number of used slots and of waiting operations. */
export interface Load {
  used: number;
  waiting: number;
}

/** The limits of waiting operations: in all, of an organization and of a caller. */
export const MAX_WAITING = [10_000, 1_000, 500] as const;

type Give<Slot> = (slot: Slot) => void;

/** A node of the tree of callers: all callers, an organization or a caller, by its depth. */
class CallerNode<Slot> {
  readonly running = { short: 0, long: 0 };
  readonly waiting = { short: 0, long: 0 };
  /** The waiting operations of a caller, first in, first out. */
  readonly queues = {
    short: new Set<Give<Slot>>(),
    long: new Set<Give<Slot>>(),
  };
  /** The children by name. The first is next to get a slot. */
  readonly children = new Map<string, CallerNode<Slot>>();

  get isIdle(): boolean {
    return sum(this.waiting) + sum(this.running) === 0;
  }
}

/**
 * Gives each slot to one operation at a time. Organizations, the callers of an
 * organization and the kinds of operations take turns. Long operations leave a
 * third of the slots to short ones. An organization leaves one slot of each kind to
 * the others, and a caller one more, so that a new caller gets a slot at once.
 */
export class Queue<Slot extends { readonly isOpen: boolean }> {
  readonly #free: Slot[];
  readonly #slots: Record<"all" | "long", number>;
  readonly #root = new CallerNode<Slot>();
  /** The first kind is next to get a slot. */
  readonly #kinds: Kind[] = ["short", "long"];

  constructor(slots: readonly Slot[]) {
    this.#free = [...slots];
    const third = slots.length > 1 ? Math.ceil(slots.length / 3) : 0;
    this.#slots = { all: slots.length, long: slots.length - third };
  }

  /** The free slots. */
  get free(): readonly Slot[] {
    return this.#free;
  }

  get load(): Load {
    return {
      used: this.#slots.all - this.#free.length,
      waiting: sum(this.#root.waiting),
    };
  }

  /**
   * Waits for a slot until `deadline`, in milliseconds of `performance.now()`. The
   * caller must release the slot. Throws `SERVICE_UNAVAILABLE` at the deadline, and
   * at once while too many operations wait.
   */
  async acquire(deadline: number, caller: Caller, kind: Kind): Promise<Slot> {
    if (performance.now() >= deadline) throw tooLate();
    const path = this.#pathOf(caller);
    const hasRoom = path.every((node, depth) =>
      this.#hasRoom(node, depth, kind)
    );
    if (this.#free.length > 0 && hasRoom) return this.#take(path, kind);
    if (
      path.some(({ waiting }, depth) => sum(waiting) >= MAX_WAITING[depth]!)
    ) {
      this.#forgetIdle(caller);
      throw unavailable("Too many requests are waiting for the database");
    }
    const { promise, resolve } = Promise.withResolvers<Slot>();
    path.at(-1)!.queues[kind].add(resolve);
    for (const node of path) node.waiting[kind]++;
    return await before(deadline, promise, () => {
      path.at(-1)!.queues[kind].delete(resolve);
      for (const node of path) node.waiting[kind]--;
      this.#forgetIdle(caller);
      return tooLate();
    });
  }

  /** Takes the slot back, and gives it to the next operation. */
  release(slot: Slot, caller: Caller, kind: Kind): void {
    for (const node of this.#pathOf(caller)) node.running[kind]--;
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
    const path = this.#next([this.#root], kind);
    const [give] = path?.at(-1)?.queues[kind] ?? [];
    if (!path || !give) return false;
    path.at(-1)!.queues[kind].delete(give);
    for (const node of path) node.waiting[kind]--;
    give(this.#take(path, kind));
    return true;
  }

  /** The path to the next caller. The nodes on it move to the end of the line. */
  #next(path: CallerNode<Slot>[], kind: Kind): CallerNode<Slot>[] | undefined {
    const depth = path.length - 1;
    const node = path[depth]!;
    if (node.waiting[kind] === 0 || !this.#hasRoom(node, depth, kind)) return;
    if (node.queues[kind].size > 0) return path;
    for (const [name, child] of node.children) {
      const found = this.#next([...path, child], kind);
      if (!found) continue;
      node.children.delete(name);
      node.children.set(name, child);
      return found;
    }
  }

  #hasRoom({ running }: CallerNode<Slot>, depth: number, kind: Kind): boolean {
    const most = (slots: number) => Math.max(1, slots - depth);
    return sum(running) < most(this.#slots.all) &&
      (kind === "short" || running.long < most(this.#slots.long));
  }

  /** Prefers connected slots, so that a quiet service keeps few connections. */
  #take(path: CallerNode<Slot>[], kind: Kind): Slot {
    for (const node of path) node.running[kind]++;
    const open = this.#free.findLastIndex(({ isOpen }) => isOpen);
    return this.#free.splice(open, 1)[0]!;
  }

  #pathOf({ organizationId, name }: Caller): CallerNode<Slot>[] {
    const organization = childOf(this.#root, organizationId);
    return [this.#root, organization, childOf(organization, name)];
  }

  #forgetIdle({ organizationId, name }: Caller): void {
    const [root, organization, caller] = this.#pathOf({
      organizationId,
      name,
    });
    if (caller!.isIdle) organization!.children.delete(name);
    if (organization!.isIdle) root!.children.delete(organizationId);
  }
}

function sum({ short, long }: Record<Kind, number>): number {
  return short + long;
}

function childOf<Slot>(node: CallerNode<Slot>, name: string): CallerNode<Slot> {
  let child = node.children.get(name);
  if (!child) node.children.set(name, child = new CallerNode());
  return child;
}

function tooLate() {
  return unavailable("The database was too busy for this request");
}
