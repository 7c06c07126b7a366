import { composite, dataElement } from "../rules/facts.ts";
import { RELEASES } from "../rules/releases.ts";
import { child, type Element, element, hasText } from "../xml/element.ts";
import { fitAll, matchesSomeRelease } from "../xml/fit.ts";
import { hasFiller } from "../xml/fillers.ts";

/**
 * The part that makes an entry one and that a composite lacks, or undefined if it is whole:
 * each release demands it, and the service does not write it of itself.
 */
export function missingPart(found: Element): string | undefined {
  const { name, children } = found;
  const parts = children.filter(hasContent);
  if (matchesSomeRelease(found, parts)) return;
  const missing = new Set<string>();
  for (const release of RELEASES) {
    const model = composite(release, name)?.model;
    if (!model) continue;
    const make = (part: string) => {
      if (hasFiller(part, name)) return element(part, "");
      missing.add(part);
      return undefined;
    };
    if (fitAll(model, parts, make)) return;
  }
  return likeliest([...missing], found, parts);
}

function hasContent(each: Element): boolean {
  return hasText(each) || dataElement(each.name)?.kind === "flag";
}

/** Of the parts that alternatives lack, the one to ask for: it makes the composite whole. */
function likeliest(
  missing: readonly string[],
  found: Element,
  parts: readonly Element[],
): string | undefined {
  const whole = missing.filter((name) =>
    RELEASES.some((release) => {
      const model = composite(release, found.name)?.model;
      const make = (part: string) => hasFiller(part, found.name) ? element(part, "") : undefined;
      return model && fitAll(model, [...parts, element(name, "")], make);
    })
  );
  // One that is there and empty was meant. A name is asked for before an identifier.
  return whole.find((name) => child(found, name)) ??
    whole.find((name) => !name.endsWith("Identifier")) ?? missing[0];
}
