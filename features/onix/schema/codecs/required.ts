import { composite, dataElement } from "../rules/facts.ts";
import { type Release, RELEASES } from "../rules/releases.ts";
import { child, type Element, element, hasText } from "../xml/element.ts";
import { arrange, matchesSomeRelease } from "../valid/content_model.ts";
import { hasPlaceholder } from "../valid/placeholders.ts";

/*
 * Finds the part that an entry lacks and cannot do without. In: its composite. Out: the name of
 * the part, or nothing. A `Contributor` without a name lacks `PersonName`.
 */

/**
 * Returns the part that a composite lacks and needs: each release requires it, and the service has
 * no placeholder for it. Undefined if nothing is missing.
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

/** Whether a composite with these parts is complete in the release, with placeholders. */
function isWholeIn(
  release: Release,
  { name }: Element,
  parts: readonly Element[],
  missing = new Set<string>(),
): boolean {
  const model = composite(release, name)?.model;
  if (!model) return false;
  const whole = arrange(model, parts, (part) => {
    if (hasPlaceholder(part, name)) return element(part, "");
    missing.add(part);
    return undefined;
  });
  return whole !== undefined;
}

/**
 * Returns the missing part to ask for, among alternatives: the one that makes the composite
 * complete.
 */
function likeliest(
  missing: readonly string[],
  found: Element,
  parts: readonly Element[],
): string | undefined {
  const whole = missing.filter((name) => {
    const more = [...parts, element(name, "")];
    return RELEASES.some((release) => isWholeIn(release, found, more));
  });
  // An empty one was intended. A name is preferred to an identifier.
  return whole.find((name) => child(found, name)) ??
    whole.find((name) => !name.endsWith("Identifier")) ?? missing[0];
}
