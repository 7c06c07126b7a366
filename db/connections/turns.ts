interface Turn<T> {
  key: string;
  value: T;
  previous?: Turn<T> | undefined;
  next?: Turn<T> | undefined;
}

/**
 * Values by key, in the order of their turns. Everything takes constant time: a `Map`
 * steps over the holes that moved entries leave (6 µs, and at times 3 ms, with 10,000
 * entries).
 */
export class Turns<T> {
  readonly #turns = new Map<string, Turn<T>>();
  #first: Turn<T> | undefined;
  #last: Turn<T> | undefined;

  get size(): number {
    return this.#turns.size;
  }

  get(key: string): T | undefined {
    return this.#turns.get(key)?.value;
  }

  /** Adds a value, whose turn is the last. */
  add(key: string, value: T): T {
    const turn = { key, value };
    this.#turns.set(key, turn);
    this.#append(turn);
    return value;
  }

  delete(key: string): void {
    this.#unlink(this.#turns.get(key)!);
    this.#turns.delete(key);
  }

  moveToEnd(key: string): void {
    const turn = this.#turns.get(key)!;
    this.#unlink(turn);
    this.#append(turn);
  }

  *[Symbol.iterator](): Generator<[string, T]> {
    for (let turn = this.#first; turn; turn = turn.next) {
      yield [turn.key, turn.value];
    }
  }

  #append(turn: Turn<T>): void {
    turn.previous = this.#last;
    turn.next = undefined;
    if (this.#last) this.#last.next = turn;
    else this.#first = turn;
    this.#last = turn;
  }

  #unlink({ previous, next }: Turn<T>): void {
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
  }
}
