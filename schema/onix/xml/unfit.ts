import { composite, isAtMostOnce } from "../rules/facts.ts";
import { RELEASES } from "../rules/releases.ts";
import type { Element } from "./element.ts";
import { fitAll, matchesSomeRelease } from "./fit.ts";
import type { TellLoss } from "./lost_values.ts";

/*
 * Why a composite is not whole. In: its parts that can be read. Out: the part that has no place
 * in it, or the name of one that it lacks, and the sentence about it.
 */

/** What is wrong with the parts of a composite: one has no place, or one is missing. */
interface Unfit {
  unplaced: Element | undefined;
  missing: string | undefined;
}

/** Why the parts match no content model of a composite, or undefined if they match one. */
export function unfitIn(
  element: Element,
  parent: Element,
  parts: readonly Element[],
): Unfit | undefined {
  if (matchesSomeRelease(element, parts, parent.name)) return;
  let unplaced: Element | undefined;
  const missing: string[] = [];
  for (const release of RELEASES) {
    const model = composite(release, element.name, parent.name)?.model;
    if (!model) continue;
    const placed = fitAll(model, parts, (name) => {
      missing.push(name);
      return undefined;
    });
    // Only their order is another: nothing is lost.
    if (placed?.length === parts.length) return;
    const known = new Set(placed);
    unplaced ??= placed && parts.find((each) => !known.has(each));
  }
  return { unplaced, missing: missing[0] };
}

/** Tells which part has no place, or which one the composite lacks. */
export function tellUnfit(
  element: Element,
  parts: readonly Element[],
  { unplaced, missing }: Unfit,
  tell: TellLoss,
): void {
  const { name } = element;
  if (!unplaced) {
    return tell(element, "required", `${name} has no ${missing}`, missing);
  }
  const first = parts.find((each) => each.name === unplaced.name);
  const isSecond = first !== unplaced && isAtMostOnce(unplaced.name, name);
  if (isSecond) return tellDuplicate(unplaced, tell);
  const message = `${name} cannot have ${unplaced.name} beside its other elements`;
  tell(unplaced, "unexpected_element", message);
}

/** Tells that there can be only one such element, and that an earlier one is there. */
export function tellDuplicate(element: Element, tell: TellLoss): void {
  tell(
    element,
    "duplicate",
    "Only one is allowed, and there is an earlier one: both are kept in the record",
  );
}
