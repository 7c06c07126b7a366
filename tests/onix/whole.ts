import { composite, dataElement } from "../../features/onix/schema/rules/facts.ts";
import { codesOfKind } from "../../features/onix/schema/rules/kinds.ts";
import type { Particle } from "../../features/onix/schema/rules/models.ts";
import type { Release } from "../../features/onix/schema/rules/releases.ts";
import { type Element, element } from "../../features/onix/schema/xml/element.ts";

/* Whole elements, made from the content models. */

/** A value of each kind that is no list. */
export const VALUES: Readonly<Record<string, string>> = {
  text: "Text",
  flow: "Text",
  flag: "",
  n: "0",
  "n+": "1",
  int: "-1",
  d: "0",
  "d+": "0.5",
  dec: "-0.5",
  percent: "99.9",
  uri: "https://harbour.example/a?b=c",
  time: "0012030",
  timestamp: "20270131T1200Z",
  year: "2027",
  years: "2026-2027",
  roman: "xiv",
  levels: "1.2",
  "levels+": "1.2",
  "levels+-": "1.-",
  "levels-": "1.-",
  email: "desk@harbour.example",
};

/** Contributors of a product and of its collections share their numbers, so each has its own. */
let number = 0;

/** An element with one of everything that it can contain. `choice` selects among alternatives. */
export function whole(
  name: string,
  parent: string,
  release: Release,
  choice: number,
): Element {
  const known = composite(release, name, parent);
  if (known) return element(name, childrenOf(known.model));
  const { kind } = dataElement(name, release)!;
  if (name === "SequenceNumber") return element(name, String(++number));
  const list = Number.parseInt(kind);
  return element(
    name,
    Number.isNaN(list)
      ? VALUES[kind]! // It may not repeat the primary one.
      : [...codesOfKind(String(list))!][name === "ProductContentType" ? 1 : 0]!,
  );

  function childrenOf(particle: Particle): Element[] {
    if (particle.kind === "element") {
      return [whole(particle.name, name, release, choice)];
    }
    const { of } = particle;
    return particle.kind === "sequence"
      ? of.flatMap(childrenOf)
      : childrenOf(of[choice % of.length]!);
  }
}
