import { converted } from "./converted.ts";
import { type Element, element, hasText, normalized, textWithoutPadding } from "../xml/element.ts";
import { placeholder, type Substitutes } from "./placeholders.ts";
import { composite, dataElement, isComposite, isInRelease } from "../rules/facts.ts";
import { ATTRIBUTES, validValue } from "../rules/kinds.ts";
import { isRight, isSupplyWithoutMarkets, limits } from "../rules/limits.ts";
import type { Particle } from "../rules/models.ts";
import { arrange, matches } from "./content_model.ts";
import { type Paths, PathSet } from "../xml/paths.ts";
import { withoutRepeated } from "./repeated.ts";
import type { Release } from "../rules/releases.ts";
import { isValidXhtml, withoutTags } from "../rules/xhtml.ts";

/*
 * Makes a record valid by the schema of a release. In: a record. Out: a valid one, and the paths of
 * what it lacks. It repairs what loses nothing: order, white space, empty elements, and missing
 * parts by placeholders. It omits what cannot be repaired.
 */

/** The record as it is valid in the release. */
export interface Repaired {
  record: Element;
  /** The paths without positions of what it lacks. */
  notSent: Paths;
  /** The elements of the record that are placeholders. */
  placeholders: ReadonlySet<Element>;
}

/** Repairs a record. */
export function repair(
  record: Element,
  release: Release,
  substitutes: Substitutes,
): Repaired {
  const notSent = new PathSet();
  const placeholders = new Set<Element>();
  const repaired = repairElement(record, "", "", { release, notSent, placeholders, substitutes });
  if (!repaired) throw new TypeError("A record needs a reference and a type");
  return { record: repaired, notSent, placeholders };
}

interface RepairContext {
  release: Release;
  notSent: PathSet;
  placeholders: Set<Element>;
  substitutes: Substitutes;
}

/** The valid element, or undefined if it is left out. */
function repairElement(
  given: Element,
  parent: string,
  at: string,
  context: RepairContext,
): Element | undefined {
  const { name } = given;
  if (!isInRelease(context.release, name)) {
    context.notSent.addLeaves([given], at);
    return;
  }
  if (isComposite(name)) return repairComposite(given, parent, at, context);
  const path = `${at}/${name}`;
  return given.markup && dataElement(name, context.release)!.kind === "flow"
    ? repairMarkup(given, path, context)
    : repairData(given, parent, path, context);
}

function repairData(
  given: Element,
  parent: string,
  path: string,
  { release, notSent }: RepairContext,
): Element | undefined {
  const { kind, attributes } = dataElement(given.name, release)!;
  const own = repairAttributes(given, path, attributes, notSent);
  const value = given.markup ? normalized(withoutTags(given.text)) : textWithoutPadding(given);
  if (value === "" && kind !== "flag") return;
  const text = validValue(kind, value);
  const hasLostCodes = kind.endsWith("*") && text !== value;
  if (text === undefined || hasLostCodes) notSent.add(path);
  if (text === undefined || hasLostCodes && limits(given.name, parent)) return;
  if (own === given.attributes && text === given.text && !given.markup) {
    return given;
  }
  return { name: given.name, attributes: own, children: [], text };
}

/** A text with XHTML. Other markup becomes plain text, which is escaped when it is written. */
function repairMarkup(
  given: Element,
  path: string,
  { release, notSent }: RepairContext,
): Element {
  const letters = dataElement(given.name, release)!.attributes;
  const attributes = repairAttributes(given, path, letters, notSent);
  const text = given.text.trim();
  return isValidXhtml(text)
    ? { ...given, text, attributes }
    : element(given.name, text, { ...attributes, textformat: "02" });
}

function repairAttributes(
  { attributes }: Element,
  path: string,
  letters: string,
  notSent: PathSet,
): Element["attributes"] {
  const names = Object.keys(attributes);
  if (names.length === 0) return attributes;
  const valid: Record<string, string> = {};
  for (const name of names) {
    const [letter, kind] = ATTRIBUTES[name]!;
    const given = normalized(attributes[name]!);
    const value = validValue(kind, given);
    if (value === undefined || !letters.includes(letter)) {
      if (given !== "") notSent.add(`${path}/@${name}`);
      continue;
    }
    valid[name] = value;
  }
  return valid;
}

function repairComposite(
  given: Element,
  parent: string,
  at: string,
  context: RepairContext,
): Element | undefined {
  const { release, notSent } = context;
  const { name } = given;
  const path = `${at}/${name}`;
  const { repaired, lost: lostChildren } = repairChildren(given, path, context);
  if (repaired.length === 0 && name !== "Product") return;
  const { model, unique } = composite(release, name, parent)!;
  const own = withoutRepeated(repaired, unique, path, context);
  const matched = matchedTo(model, own, name, context);
  const unplaced = matched ? unplacedAmong(own, matched) : [];
  notSent.addLeaves(unplaced, path);
  const lost = [...lostChildren, ...unplaced.filter((each) => isMissed(each, given))];
  if (!matched || isLostWith(given, parent, lost, matched)) {
    notSent.addLeaves([given], at);
    return;
  }
  const areRightsLost = lost.length > 0 && name === "PublishingDetail";
  const children = areRightsLost ? withoutRights(matched, path, notSent) : matched;
  return { name, attributes: repairAttributes(given, path, "", notSent), children, text: "" };
}

/** The valid children of a composite, and those that are left out although they limit it. */
function repairChildren(
  given: Element,
  path: string,
  context: RepairContext,
): { repaired: Element[]; lost: Element[] } {
  const repaired: Element[] = [];
  const lost: Element[] = [];
  for (const each of converted(given, context.release)) {
    if (each.isWithheld) {
      context.notSent.addLeaves([each], path);
      continue;
    }
    const valid = repairElement(each, given.name, path, context);
    if (valid) repaired.push(valid);
    else if (isMissed(each, given)) lost.push(each);
  }
  return { repaired, lost };
}

/**
 * Returns the children in the order of the model, with placeholders. Undefined if a required one
 * has no placeholder.
 */
function matchedTo(
  model: Particle,
  children: Element[],
  composite: string,
  { placeholders, substitutes }: RepairContext,
): Element[] | undefined {
  if (matches(model, children)) return children;
  return arrange(model, children, (part) => {
    const filled = placeholder(part, composite, substitutes);
    if (filled) placeholders.add(filled);
    return filled;
  });
}

/** Returns the children for which the model has no place. */
function unplacedAmong(
  children: readonly Element[],
  matched: readonly Element[],
): readonly Element[] {
  if (matched === children) return [];
  const placed = new Set(matched);
  return children.filter((each) => !placed.has(each));
}

/** The children without the rights, which are sent all together or not at all. */
function withoutRights(children: readonly Element[], path: string, notSent: PathSet): Element[] {
  notSent.addLeaves(children.filter(isRight), path);
  return children.filter((each) => !isRight(each));
}

/** Whether an omitted child limits the composite. An empty one does not. */
function isMissed(omitted: Element, { name }: Element): boolean {
  return limits(omitted.name, name) && hasText(omitted);
}

/** Whether a composite would permit more without the lost children. */
function isLostWith(
  { name }: Element,
  parent: string,
  lost: readonly Element[],
  left: readonly Element[],
): boolean {
  if (lost.length === 0) return false;
  // The lost children of a block are entries of their own.
  const isBlock = name === "Product" || parent === "Product";
  return !isBlock || isSupplyWithoutMarkets(name, left);
}
