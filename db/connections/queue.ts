import { unavailable } from "../../schema/errors.ts";
import { withDeadline } from "./deadline.ts";

/** An organization, and the id of its API key or the subject of its token. */
export interface Caller {
  organizationId: string;
  name: string;
}

/** Short operations read a few rows by key. Lists, searches and writes are long. */
export type Kind = "short" | "long";

/** The number of used slots and of waiting operations. */
export interface Load {
  used: number;
  waiting: number;
}

/** The limits of waiting operations: in all, of an organization and of a caller. */
export const MAX_WAITING = [10_000, 1_000, 500] as const;

/** The number of children above which a node removes idle ones. */
const MAX_IDLE = 100;

type Resolve<Slot> = (slot: Slot) => void;

/** A node of the tree of callers. By depth: the root, an organization, a caller. */
class CallerNode<Slot> {
  readonly running = { short: 0, long: 0 };
  readonly waiting = { short: 0, long: 0 };
  /** The waiting operations of a caller, first in, first out. */
  readonly queues: Record<Kind, Resolve<Slot>[]> = { short: [], long: [] };
  readonly children = new Map<string, CallerNode<Slot>>();
  /** The number of the last assigned slot. The child with the lowest number is next. */
  turn: number;

  constructor(turn: number) {
    this.turn = turn;
  }

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
  readonly #name: string;
  readonly #free: Slot[];
  readonly #slots: Record<"all" | "long", number>;
  readonly #root = new CallerNode<Slot>(0);
  #turn = 0;
  /** The first kind has priority for the next slot. */
  readonly #kinds: Kind[] = ["short", "long"];

  /** `name` is what the slots belong to, for messages. */
  constructor(slots: readonly Slot[], name = "database") {
    this.#name = name;
    this.#free = [...slots];
    const third = Math.ceil(slots.length / 3);
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
    if (performance.now() >= deadline) throw this.#tooLate();
    const path = this.#pathOf(caller);
    const hasRoom = path.every((node, depth) =>
      this.#hasRoom(node, depth, kind)
    );
    if (this.#free.length > 0 && hasRoom) return this.#take(path, kind);
    if (
      path.some(({ waiting }, depth) => sum(waiting) >= MAX_WAITING[depth]!)
    ) {
      throw unavailable(
        `Too many requests are waiting for the ${this.#name}`,
      );
    }
    const { promise, resolve } = Promise.withResolvers<Slot>();
    const queue = path.at(-1)!.queues[kind];
    queue.push(resolve);
    for (const node of path) node.waiting[kind]++;
    return await withDeadline(deadline, promise, () => {
      queue.splice(queue.indexOf(resolve), 1);
      for (const node of path) node.waiting[kind]--;
      return this.#tooLate();
    });
  }

  /** Takes the slot back, and gives it to the next operation. */
  release(slot: Slot, caller: Caller, kind: Kind): void {
    for (const node of this.#pathOf(caller)) node.running[kind]--;
    this.#free.push(slot);
    while (sum(this.#root.waiting) > 0 && this.#giveNext());
  }

  #tooLate() {
    return unavailable(`The ${this.#name} was too busy for this request`);
  }

  #giveNext(): boolean {
    const served = this.#kinds.find((kind) => this.#giveTo(kind));
    if (served === this.#kinds[0]) this.#kinds.reverse();
    return served !== undefined;
  }

  #giveTo(kind: Kind): boolean {
    const path = this.#next([this.#root], kind);
    if (!path) return false;
    const resolve = path.at(-1)!.queues[kind].shift()!;
    this.#turn++;
    for (const node of path) {
      node.waiting[kind]--;
      node.turn = this.#turn;
    }
    resolve(this.#take(path, kind));
    return true;
  }

  /** The path to the next caller. */
  #next(path: CallerNode<Slot>[], kind: Kind): CallerNode<Slot>[] | undefined {
    const depth = path.length - 1;
    const node = path[depth]!;
    if (node.waiting[kind] === 0 || !this.#hasRoom(node, depth, kind)) return;
    if (node.queues[kind].length > 0) return path;
    let next: CallerNode<Slot>[] | undefined;
    for (const child of node.children.values()) {
      if (next && next[depth + 1]!.turn < child.turn) continue;
      next = this.#next([...path, child], kind) ?? next;
    }
    return next;
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
    const organization = this.#childOf(this.#root, organizationId);
    return [this.#root, organization, this.#childOf(organization, name)];
  }

  #childOf({ children }: CallerNode<Slot>, name: string): CallerNode<Slot> {
    const known = children.get(name);
    if (known) return known;
    if (children.size > MAX_IDLE) {
      for (const [name, child] of children) {
        if (child.isIdle) children.delete(name);
      }
    }
    const child = new CallerNode<Slot>(++this.#turn);
    children.set(name, child);
    return child;
  }
}

function sum({ short, long }: Record<Kind, number>): number {
  return short + long;
}
