/** The maximum number of outcomes in a report. */
export const MAX_OUTCOMES = 1_000;

/** The maximum number of characters of kept outcomes, since their changes may be long. */
const MAX_LENGTH = 4 * 2 ** 20;

/** The minimum number of characters of an outcome. */
const MIN_LENGTH = 100;

/** Keeps the first outcomes of a report, as many as fit. */
export class KeptOutcomes<O> {
  readonly outcomes: O[] = [];
  #room = MAX_LENGTH;

  /** Whether no further outcome fits, so that its length need not be known. */
  get isFull(): boolean {
    return this.outcomes.length === MAX_OUTCOMES || this.#room < MIN_LENGTH;
  }

  /** Adds an outcome with this length as JSON, if it fits. */
  add(one: O, length: number): void {
    if (this.isFull || length > this.#room) return;
    this.#room -= length;
    this.outcomes.push(one);
  }
}
