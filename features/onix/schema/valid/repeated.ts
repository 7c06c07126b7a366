import { composite, dataElement } from "../rules/facts.ts";
import type { Unique } from "../rules/models.ts";
import type { Release } from "../rules/releases.ts";
import { child, type Element } from "../xml/element.ts";
import { matches } from "./content_model.ts";
import type { PathSet } from "../xml/paths.ts";

/*
 * Removes elements that a composite must not repeat: two with one language, one role or one number.
 * The first stays complete, and of the others the valid part.
 */

interface RepairContext {
  release: Release;
  /** The paths of removed elements. */
  notSent: PathSet;
}

/** The children of a composite at this path without what repeats a key of an earlier one. */
export function withoutRepeated(
  children: Element[],
  constraints: readonly Unique[],
  at: string,
  context: RepairContext,
): Element[] {
  return constraints.reduce(
    (left, one) => mayRepeat(left, one) ? withoutRepeatedBy(one, left, at, context) : left,
    children,
  );
}

/**
 * Whether there are two elements that a constraint can compare: mostly there are not. It
 * compares the children with its names, or what is in these.
 */
function mayRepeat(
  children: readonly Element[],
  { paths }: Unique,
): boolean {
  let count = 0;
  for (const each of children) {
    const path = paths.find(([name]) => name === each.name);
    if (path) count += path.length > 1 ? each.children.length : 1;
    if (count > 1) return true;
  }
  return false;
}

function withoutRepeatedBy(
  { paths, ...compared }: Unique,
  children: Element[],
  at: string,
  context: RepairContext,
): Element[] {
  const seen = new Set<string>();
  const leftOf = (one: Element, path: string) => {
    const key = uniqueKeyOf(one, compared, context.release);
    if (key !== undefined && seen.has(key)) {
      return withoutKey(one, compared.fields[0]!, path, context);
    }
    if (key !== undefined) seen.add(key);
    return [one];
  };
  const left = new Map<Element, Element[]>();
  // Those at the first path stay, wherever they stand: a primary code, not one of the others.
  for (const [name, inner] of paths) {
    for (const each of children) {
      if (each.name !== name) continue;
      const below = inner &&
        each.children.flatMap((one) => one.name === inner ? leftOf(one, `${at}/${name}`) : [one]);
      left.set(each, below ? [{ ...each, children: below }] : leftOf(each, at));
    }
  }
  return children.flatMap((each) => left.get(each) ?? [each]);
}

/**
 * Returns the valid part of an element without the key that it shares with an earlier one, if there
 * is any.
 */
function withoutKey(
  one: Element,
  key: string,
  path: string,
  { release, notSent }: RepairContext,
): Element[] {
  const { name, attributes, children } = one;
  // A repeated code is redundant.
  if (key === ".") return [];
  if (key === "@language") {
    const { language: _, ...others } = attributes;
    notSent.add(`${path}/${name}/@language`);
    return [{ ...one, attributes: others }];
  }
  const others = children.filter(({ name }) => name !== key);
  if (matches(composite(release, name)!.model, others)) {
    notSent.add(`${path}/${name}/${key}`);
    return [{ ...one, children: others }];
  }
  notSent.addLeaves([one], path);
  return [];
}

/** Returns the unique key of an element, or undefined if it has none. */
function uniqueKeyOf(
  one: Element,
  { fields, optional }: Pick<Unique, "fields" | "optional">,
  release: Release,
): string | undefined {
  const values = fields.map((field) => {
    if (field === ".") return one.text;
    if (field.startsWith("@")) {
      return one.attributes[field.slice(1)] ?? (optional.has(field) ? "" : undefined);
    }
    const text = child(one, field)?.text;
    // Numbers are equal by their values: 1 and 01.
    return text && dataElement(field, release)?.kind === "n+" ? text.replace(/^\+?0*/, "") : text;
  });
  return values.includes(undefined) ? undefined : values.join("\n");
}
