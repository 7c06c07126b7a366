import { child, childValue, type Element, setChild } from "../xml/element.ts";

/*
 * Reads and writes numbers of an order. Composites with one name may each have a `SequenceNumber`,
 * as contributors and texts do. In: such composites. Out: their order by number, or numbers by
 * order.
 */

/** Sorts composites by their numbers, if all have one. */
export function bySequence(all: readonly Element[]): readonly Element[] {
  const numberOf = new Map(
    all.map((each) => [each, Number(childValue(each, "SequenceNumber") ?? NaN)]),
  );
  if (all.some((each) => Number.isNaN(numberOf.get(each)))) return all;
  return all.toSorted((a, b) => numberOf.get(a)! - numberOf.get(b)!);
}

/** Numbers composites in their order. */
export function renumber(all: readonly Element[]): void {
  all.forEach((each, i) => setChild(each, "SequenceNumber", String(i + 1)));
}

/** Numbers composites in their order, if one of them has a number. */
export function renumberIfNumbered(all: readonly Element[]): void {
  if (all.some((each) => child(each, "SequenceNumber"))) renumber(all);
}
