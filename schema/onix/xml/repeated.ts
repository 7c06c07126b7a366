import { composite, dataElement } from "../rules/facts.ts";
import type { Unique } from "../rules/models.ts";
import type { Release } from "../rules/releases.ts";
import { child, type Element } from "./element.ts";
import { matches } from "./fit.ts";
import type { PathSet } from "./paths.ts";

/*
 * No two elements of a composite may have one language, one role, one number. Of those that
 * do, the first stays whole, and as much of the others as is valid.
 */

interface MendContext {
  release: Release;
  /** The paths of what goes. */
  notSent: PathSet;
}

/** The children of a composite at this path without what repeats a key of an earlier one. */
export function withoutRepeated(
  children: Element[],
  constraints: readonly Unique[],
  at: string,
  context: MendContext,
): Element[] {
  return constraints.reduce(
    (left, one) => mayRepeat(left, one) ? withoutRepeatedBy(one, left, at, context) : left,
    children,
  );
}

/**
 * Whether there are two elements that a constraint can compare: mostly there are not. It
 * compares the children with its first names, or what is in these with its second.
 */
function mayRepeat(
  children: readonly Element[],
  { path: [names, inner] }: Unique,
): boolean {
  let count = 0;
  for (const each of children) {
    if (names!.includes(each.name)) count += inner ? each.children.length : 1;
    if (count > 1) return true;
  }
  return false;
}

function withoutRepeatedBy(
  { path: [names, inner], fields }: Unique,
  children: Element[],
  at: string,
  context: MendContext,
): Element[] {
  const seen = new Set<string>();
  const leftOf = (one: Element, place: string) => {
    const key = uniqueKeyOf(one, fields, context.release);
    if (key !== undefined && seen.has(key)) return withoutKey(one, fields[0]!, place, context);
    if (key !== undefined) seen.add(key);
    return [one];
  };
  return children.flatMap((each) => {
    if (!names!.includes(each.name)) return [each];
    if (!inner) return leftOf(each, at);
    const below = each.children.flatMap((one) =>
      inner.includes(one.name) ? leftOf(one, `${at}/${each.name}`) : [one]
    );
    return [{ ...each, children: below }];
  });
}

/** What is valid of an element without the key that it shares with an earlier one, if anything is. */
function withoutKey(
  one: Element,
  key: string,
  place: string,
  { release, notSent }: MendContext,
): Element[] {
  const { name, attributes, children } = one;
  // A code that is there twice says nothing the second time.
  if (key === ".") return [];
  if (key === "@language") {
    const { language: _, ...others } = attributes;
    notSent.add(`${place}/${name}/@language`);
    return [{ ...one, attributes: others }];
  }
  const others = children.filter(({ name }) => name !== key);
  if (matches(composite(release, name)!.model, others)) {
    notSent.add(`${place}/${name}/${key}`);
    return [{ ...one, children: others }];
  }
  notSent.addLeaves([one], place);
  return [];
}

/** What no other element may have, or undefined for one that has no key. */
function uniqueKeyOf(one: Element, fields: string[], release: Release): string | undefined {
  const values = fields.map((field) => {
    if (field === ".") return one.text;
    if (field.startsWith("@")) return one.attributes[field.slice(1)];
    const text = child(one, field)?.text;
    // Numbers are equal by their values: 1 and 01.
    return text && dataElement(field, release)?.kind === "n+" ? text.replace(/^\+?0*/, "") : text;
  });
  return values.includes(undefined) ? undefined : values.join("\n");
}
