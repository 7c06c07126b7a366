import { composite, isAtMostOnce } from "../rules/facts.ts";
import { RELEASES } from "../rules/releases.ts";
import type { Element } from "../xml/element.ts";
import { arrange, matchesSomeRelease } from "../valid/content_model.ts";
import { duplicate, type Loss } from "./losses.ts";

/*
 * Finds why a composite is invalid. In: its readable parts. Out: the part that it must not have, or
 * the name of a missing one, and a sentence about it.
 */

/** What is wrong with the parts of a composite: one has no place, or one is missing. */
interface InvalidParts {
  unplaced: Element | undefined;
  missing: string | undefined;
}

/** Returns why the parts match no content model of a composite, or undefined if they match one. */
export function invalidPartsIn(
  element: Element,
  parent: Element,
  parts: readonly Element[],
): InvalidParts | undefined {
  if (matchesSomeRelease(element, parts, parent.name)) return;
  let unplaced: Element | undefined;
  const missing: string[] = [];
  for (const release of RELEASES) {
    const model = composite(release, element.name, parent.name)?.model;
    if (!model) continue;
    const placed = arrange(model, parts, (name) => {
      missing.push(name);
      return undefined;
    });
    // Only their order differs, so nothing is lost.
    if (placed?.length === parts.length) return;
    const known = new Set(placed);
    unplaced ??= placed && parts.find((each) => !known.has(each));
  }
  return { unplaced, missing: missing[0] };
}

/** Returns the loss of a composite with a part too many, or without one. */
export function lossOfInvalidParts(
  element: Element,
  parts: readonly Element[],
  { unplaced, missing }: InvalidParts,
): Loss {
  const { name } = element;
  if (!unplaced) {
    return { element, code: "required", message: `${name} has no ${missing}`, missing };
  }
  const first = parts.find((each) => each.name === unplaced.name);
  const isSecond = first !== unplaced && isAtMostOnce(unplaced.name, name);
  if (isSecond) return duplicate(unplaced);
  const message = `${name} cannot have ${unplaced.name} beside its other elements`;
  return { element: unplaced, code: "unexpected_element", message };
}
