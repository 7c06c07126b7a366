import { unavailable } from "../../schema/errors.ts";
import { withDeadline } from "./deadline.ts";
import { type Caller, FairShare, Tally } from "./fair_share.ts";

/** Short operations read a few rows by key. Lists, searches and writes are long. */
export type Kind = "short" | "long";

/** The number of running and of waiting operations. */
export interface Load {
  used: number;
  waiting: number;
}

/** The place of a running operation. Its disposal lets the next one run. */
export type Place = Disposable;

/** The limits of waiting operations: in all, of an organization and of a caller. */
export const MAX_WAITING = { all: 10_000, organization: 1_000, caller: 500 };

/**
 * The part of the places that one organization may have. It is large, because whoever
 * wants more waits for its turn.
 */
const PART = 7 / 8;

/**
 * Lets a limited number of operations run at once. The others wait: organizations, the
 * callers of an organization and the kinds of operations take turns. Long operations
 * leave a third of the places to short ones, and nobody has all places of a kind, so that
 * a new organization gets one at once.
 */
export class Queue {
  readonly #name: string;
  readonly #places: FairShare;
  /** The places that long operations may have. */
  readonly #longPlaces: FairShare;
  readonly #waiting = new Tally();
  readonly #lines = { short: new Line(), long: new Line() };
  /** The first kind has priority for the next place. */
  readonly #kinds: Kind[] = ["short", "long"];

  /** `name` is what the operations wait for, for messages. */
  constructor(places: number, name: string) {
    this.#name = name;
    this.#places = new FairShare(places, PART);
    const third = Math.ceil(places / 3);
    this.#longPlaces = new FairShare(Math.max(1, places - third), PART);
  }

  get load(): Load {
    return { used: this.#places.held, waiting: this.#waiting.total };
  }

  /**
   * Waits for a place until `deadline`, in milliseconds of `performance.now()`. Throws
   * `SERVICE_UNAVAILABLE` at the deadline, and at once while too many operations wait.
   */
  async enter(caller: Caller, kind: Kind, deadline: number): Promise<Place> {
    if (performance.now() >= deadline) throw this.#tooLate();
    if (this.#mayEnter(caller, kind)) return this.#place(caller, kind);
    if (this.#isFull(caller)) {
      throw unavailable(`Too many requests are waiting for the ${this.#name}`);
    }
    const { promise, resolve: admit } = Promise.withResolvers<Place>();
    this.#lines[kind].add(caller, admit);
    this.#waiting.add(caller, 1);
    return await withDeadline(deadline, promise, () => {
      this.#lines[kind].remove(caller, admit);
      this.#waiting.add(caller, -1);
      return this.#tooLate();
    });
  }

  #tooLate() {
    return unavailable(`The ${this.#name} was too busy for this request`);
  }

  #isFull(caller: Caller): boolean {
    return this.#waiting.total >= MAX_WAITING.all ||
      this.#waiting.ofOrganization(caller) >= MAX_WAITING.organization ||
      this.#waiting.ofCaller(caller) >= MAX_WAITING.caller;
  }

  #mayEnter(caller: Caller, kind: Kind): boolean {
    return hasPlace(this.#places, caller) &&
      (kind === "short" || hasPlace(this.#longPlaces, caller));
  }

  #place(caller: Caller, kind: Kind): Place {
    const supplies = kind === "short"
      ? [this.#places]
      : [this.#places, this.#longPlaces];
    for (const supply of supplies) supply.take(caller, 1);
    return {
      [Symbol.dispose]: () => {
        for (const supply of supplies) supply.giveBack(caller, 1);
        while (this.#waiting.total > 0 && this.#admitNext());
      },
    };
  }

  /** Gives a place to the next operation. Returns whether there was one that may run. */
  #admitNext(): boolean {
    if (this.#places.free === 0) return false;
    for (const kind of this.#kinds) {
      const next = this.#lines[kind].takeFirst((caller) =>
        this.#mayEnter(caller, kind)
      );
      if (!next) continue;
      if (kind === this.#kinds[0]) this.#kinds.reverse();
      this.#waiting.add(next.caller, -1);
      next.admit(this.#place(next.caller, kind));
      return true;
    }
    return false;
  }
}

function hasPlace(places: FairShare, caller: Caller): boolean {
  return places.free >= 1 && places.allows(caller, 1);
}

/** Lets a waiting operation run. */
type Admit = (place: Place) => void;

/** The waiting operations of a kind. */
class Line {
  /**
   * By organization and by the name of the caller. Both are in the order of their turns:
   * who has had a turn goes to the end. The operations of a caller are first in, first out.
   */
  readonly #organizations = new Map<string, Map<string, Admit[]>>();

  add({ organizationId, name }: Caller, admit: Admit): void {
    let callers = this.#organizations.get(organizationId);
    if (!callers) this.#organizations.set(organizationId, callers = new Map());
    const operations = callers.get(name);
    if (operations) operations.push(admit);
    else callers.set(name, [admit]);
  }

  remove({ organizationId, name }: Caller, admit: Admit): void {
    const callers = this.#organizations.get(organizationId)!;
    const operations = callers.get(name)!;
    operations.splice(operations.indexOf(admit), 1);
    if (operations.length === 0) callers.delete(name);
    if (callers.size === 0) this.#organizations.delete(organizationId);
  }

  /** Takes the next operation whose caller may enter. */
  takeFirst(
    mayEnter: (caller: Caller) => boolean,
  ): { caller: Caller; admit: Admit } | undefined {
    for (const [organizationId, callers] of this.#organizations) {
      for (const [name, operations] of callers) {
        const caller = { organizationId, name };
        if (!mayEnter(caller)) continue;
        const admit = operations.shift()!;
        endTurn(callers, name, operations.length);
        endTurn(this.#organizations, organizationId, callers.size);
        return { caller, admit };
      }
    }
  }
}

/** Moves an entry to the end, or removes it if nothing is `left` of it. */
function endTurn<T>(entries: Map<string, T>, key: string, left: number): void {
  if (left > 0 && entries.size === 1) return;
  const entry = entries.get(key)!;
  entries.delete(key);
  if (left > 0) entries.set(key, entry);
}
