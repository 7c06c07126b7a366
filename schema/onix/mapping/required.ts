import { composite, dataElement } from "../rules/facts.ts";
import { type Release, RELEASES } from "../rules/releases.ts";
import { child, type Element, element, hasText } from "../xml/element.ts";
import { fitAll, matchesSomeRelease } from "../xml/fit.ts";
import { hasFiller } from "../xml/fillers.ts";

/*
 * Whether an entry is whole. In: its composite. Out: the part that makes it whole, if it lacks
 * one.
 */

/**
 * The part that a composite lacks, and without which it is no entry: each release demands it,
 * and the service does not write it of itself. Undefined if nothing is missing.
 */
export function missingPart(found: Element): string | undefined {
  const parts = found.children.filter(hasContent);
  if (matchesSomeRelease(found, parts)) return;
  const missing = new Set<string>();
  if (RELEASES.some((release) => isWholeIn(release, found, parts, missing))) return;
  return likeliest([...missing], found, parts);
}

function hasContent(each: Element): boolean {
  return hasText(each) || dataElement(each.name)?.kind === "flag";
}

/** Whether a composite with these parts is whole in the release, with what the service writes of itself. */
function isWholeIn(
  release: Release,
  { name }: Element,
  parts: readonly Element[],
  missing = new Set<string>(),
): boolean {
  const model = composite(release, name)?.model;
  if (!model) return false;
  const whole = fitAll(model, parts, (part) => {
    if (hasFiller(part, name)) return element(part, "");
    missing.add(part);
    return undefined;
  });
  return whole !== undefined;
}

/** Of the parts that alternatives lack, the one to ask for: it makes the composite whole. */
function likeliest(
  missing: readonly string[],
  found: Element,
  parts: readonly Element[],
): string | undefined {
  const whole = missing.filter((name) => {
    const more = [...parts, element(name, "")];
    return RELEASES.some((release) => isWholeIn(release, found, more));
  });
  // One that is there and empty was meant. A name is asked for before an identifier.
  return whole.find((name) => child(found, name)) ??
    whole.find((name) => !name.endsWith("Identifier")) ?? missing[0];
}
