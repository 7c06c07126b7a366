import { converted } from "./converted.ts";
import { type Element, element, hasText, normalized, settledText } from "./element.ts";
import { filler, type Substitutes } from "./fillers.ts";
import { composite, dataElement, isComposite, isInRelease } from "../rules/facts.ts";
import { ATTRIBUTES, validValue } from "../rules/kinds.ts";
import { isRight, isSupplyWithoutMarkets, limits } from "../rules/limits.ts";
import type { Particle } from "../rules/models.ts";
import { fitAll, matches } from "./fit.ts";
import { type Paths, PathSet } from "./paths.ts";
import { withoutRepeated } from "./repeated.ts";
import type { Release } from "../rules/releases.ts";
import { isValidXhtml, withoutTags } from "../rules/xhtml.ts";

/*
 * Makes a record valid by the schema of a release. Where nothing is lost, it is mended:
 * order, white space, empty elements, what the schema demands. What cannot be mended is
 * left out, and its path reported.
 */

/** The record as it is valid in the release. */
export interface Mended {
  record: Element;
  /** The paths without positions of what it lacks. */
  notSent: Paths;
  /** The elements that the service has written because the schema demands them. */
  demanded: ReadonlySet<Element>;
}

/** Mends a record. */
export function mend(
  record: Element,
  release: Release,
  substitutes: Substitutes,
): Mended {
  const notSent = new PathSet();
  const demanded = new Set<Element>();
  const mended = mendElement(record, "", "", { release, notSent, demanded, substitutes });
  if (!mended) throw new TypeError("A record needs a reference and a type");
  return { record: mended, notSent, demanded };
}

interface Mender {
  release: Release;
  notSent: PathSet;
  demanded: Set<Element>;
  substitutes: Substitutes;
}

/** The valid element, or undefined if it is left out. */
function mendElement(
  given: Element,
  parent: string,
  at: string,
  mender: Mender,
): Element | undefined {
  const { name } = given;
  if (!isInRelease(mender.release, name)) {
    mender.notSent.addLeaves([given], at);
    return;
  }
  if (isComposite(name)) return mendComposite(given, parent, at, mender);
  const path = `${at}/${name}`;
  return given.markup && dataElement(name, mender.release)!.kind === "flow"
    ? mendMarkup(given, path, mender)
    : mendData(given, parent, path, mender);
}

function mendData(
  given: Element,
  parent: string,
  path: string,
  { release, notSent }: Mender,
): Element | undefined {
  const { kind, attributes } = dataElement(given.name, release)!;
  const own = mendAttributes(given, path, attributes, notSent);
  const value = given.markup ? normalized(withoutTags(given.text)) : settledText(given);
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
function mendMarkup(
  given: Element,
  path: string,
  { release, notSent }: Mender,
): Element {
  const letters = dataElement(given.name, release)!.attributes;
  const attributes = mendAttributes(given, path, letters, notSent);
  const text = given.text.trim();
  return isValidXhtml(text)
    ? { ...given, text, attributes }
    : element(given.name, text, { ...attributes, textformat: "02" });
}

function mendAttributes(
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

function mendComposite(
  given: Element,
  parent: string,
  at: string,
  mender: Mender,
): Element | undefined {
  const { release, notSent } = mender;
  const { name } = given;
  const path = `${at}/${name}`;
  const { mended, lost: lostChildren } = mendChildren(given, path, mender);
  if (mended.length === 0 && name !== "Product") return;
  const { model, unique } = composite(release, name, parent)!;
  const own = withoutRepeated(mended, unique, path, mender);
  const fitted = fittedTo(model, own, name, mender);
  const unplaced = fitted ? unplacedAmong(own, fitted) : [];
  notSent.addLeaves(unplaced, path);
  const lost = [...lostChildren, ...unplaced.filter((each) => isMissed(each, given))];
  if (!fitted || isLostWith(given, parent, lost, fitted)) {
    notSent.addLeaves([given], at);
    return;
  }
  const areRightsLost = lost.length > 0 && name === "PublishingDetail";
  const children = areRightsLost ? withoutRights(fitted, path, notSent) : fitted;
  return { name, attributes: mendAttributes(given, path, "", notSent), children, text: "" };
}

/** The valid children of a composite, and those that are left out although they limit it. */
function mendChildren(
  given: Element,
  path: string,
  mender: Mender,
): { mended: Element[]; lost: Element[] } {
  const mended: Element[] = [];
  const lost: Element[] = [];
  for (const each of converted(given, mender.release)) {
    if (each.isWithheld) {
      mender.notSent.addLeaves([each], path);
      continue;
    }
    const valid = mendElement(each, given.name, path, mender);
    if (valid) mended.push(valid);
    else if (isMissed(each, given)) lost.push(each);
  }
  return { mended, lost };
}

/** The children in their places, with what the model demands. Undefined if nothing stands for that. */
function fittedTo(
  model: Particle,
  children: Element[],
  composite: string,
  { demanded, substitutes }: Mender,
): Element[] | undefined {
  if (matches(model, children)) return children;
  return fitAll(model, children, (part) => {
    const filled = filler(part, composite, substitutes);
    if (filled) demanded.add(filled);
    return filled;
  });
}

/** The children for which the model has no place: those that were not fitted into it. */
function unplacedAmong(
  children: readonly Element[],
  fitted: readonly Element[],
): readonly Element[] {
  if (fitted === children) return [];
  const placed = new Set(fitted);
  return children.filter((each) => !placed.has(each));
}

/** The children without the rights, which are sent all together or not at all. */
function withoutRights(children: readonly Element[], path: string, notSent: PathSet): Element[] {
  notSent.addLeaves(children.filter(isRight), path);
  return children.filter((each) => !isRight(each));
}

/** Whether a child that is left out limits the composite. An empty one says nothing. */
function isMissed(omitted: Element, { name }: Element): boolean {
  return limits(omitted.name, name) && hasText(omitted);
}

/** Whether a composite would say more without the children that are lost. */
function isLostWith(
  { name }: Element,
  parent: string,
  lost: readonly Element[],
  left: readonly Element[],
): boolean {
  if (lost.length === 0) return false;
  // What a block loses are entries of their own.
  const isBlock = name === "Product" || parent === "Product";
  return !isBlock || isSupplyWithoutMarkets(name, left);
}
