import type { Entry } from "../../../schema/bodies.ts";
import { isChanged, type ShownChanges, shownChanges } from "./differences.ts";
import { parseProduct } from "../../../db/products/documents/document.ts";
import { membersOf, parsePieces } from "../../../schema/json_pieces.ts";
import { inTurns, type Pace } from "../../../schema/turns.ts";
import { sql } from "../../../db/connections/sql.ts";

/**
 * The JSON of a version, in its two stored parts: `summary` has the values, `details` the arrays.
 * To compare two versions, only members that differ are parsed. After an edit of a page count, 4
 * MiB of unchanged texts stay unparsed.
 */
export class ProductState {
  readonly #parts: readonly [summary: string, details: string];
  readonly #members: Map<string, string>[] = [];
  readonly #parsed = new Map<string, unknown>();

  constructor(summary: string, details: string) {
    this.#parts = [summary, details];
  }

  /** The fields that lists show. */
  async summary(pace: Pace): Promise<Entry> {
    return await parseProduct(`{${this.#parts[0]}}`, pace);
  }

  /** The members that differ in two states, as one entry of each. */
  static async differing(
    one: ProductState,
    other: ProductState,
    pace: Pace,
  ): Promise<[Entry, Entry]> {
    const differing: [Entry, Entry] = [{}, {}];
    for (const i of [0, 1] as const) {
      if (one.#parts[i] === other.#parts[i]) continue;
      const members = await one.#membersOf(i, pace);
      const others = await other.#membersOf(i, pace);
      for (const name of new Set([...members.keys(), ...others.keys()])) {
        if (members.get(name) === others.get(name)) continue;
        differing[0][name] = await one.#parse(name, members, pace);
        differing[1][name] = await other.#parse(name, others, pace);
      }
    }
    return differing;
  }

  async #membersOf(i: 0 | 1, pace: Pace): Promise<Map<string, string>> {
    return this.#members[i] ??= await inTurns(membersOf(this.#parts[i]), pace);
  }

  async #parse(name: string, members: Map<string, string>, pace: Pace): Promise<unknown> {
    const text = members.get(name);
    if (text === undefined || this.#parsed.has(name)) return this.#parsed.get(name);
    const value = await inTurns(parsePieces(text), pace);
    this.#parsed.set(name, value);
    return value;
  }

  /** Finds the changes from `before` to `after`. Null if one of them is not kept. */
  static async changes(
    before: ProductState | undefined,
    after: ProductState | undefined,
    pace: Pace,
  ): Promise<ShownChanges> {
    if (!before || !after) return { changes: null };
    return await shownChanges(...await ProductState.differing(before, after, pace), pace);
  }

  /** Whether `before` and `after` differ, as far as is known. */
  static async areDifferent(
    before: ProductState | undefined,
    after: ProductState | undefined,
    pace: Pace,
  ): Promise<boolean> {
    if (!before || !after) return true;
    return await isChanged(...await ProductState.differing(before, after, pace), pace);
  }
}

/** The columns of version `d` from which `stateOf` makes its state. */
export const stateColumns = sql`d.summary, d.details`;

export interface StateRow {
  summary: string | null;
  details: string | null;
}

/** The state in a row. Undefined for a version without JSON. */
export function stateOf({ summary, details }: StateRow): ProductState | undefined {
  return summary ? new ProductState(summary, details ?? "") : undefined;
}
