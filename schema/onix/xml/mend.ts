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

/** A valid record. */
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
  const path = `${at}/${name}`;
  if (isComposite(name)) {
    return mendComposite(given, parent, path, mender);
  }
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
  const isPart = kind.endsWith("*") && text !== value;
  if (text === undefined || isPart) notSent.add(path);
  if (text === undefined || isPart && limits(given.name, parent)) return;
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
  path: string,
  mender: Mender,
): Element | undefined {
  const { release, notSent } = mender;
  const { name } = given;
  const { mended, lost } = mendChildren(given, path, mender);
  if (mended.length === 0 && name !== "Product") return;
  const { model, unique } = composite(release, name, parent)!;
  const own = withoutRepeated(mended, unique, path, mender);
  const fitted = fittedTo(model, own, name, mender);
  const unplaced = fitted ? missingAmong(fitted, own) : [];
  notSent.addLeaves(unplaced, path);
  lost.push(...unplaced.filter((each) => isMissed(each, given)));
  if (!fitted || isLostWith(given, parent, lost, fitted)) {
    notSent.addLeaves([given], path.slice(0, -name.length - 1));
    return;
  }
  // The rights are sent all together or not at all.
  const areRightsLost = lost.length > 0 && name === "PublishingDetail";
  if (areRightsLost) notSent.addLeaves(fitted.filter(isRight), path);
  const children = areRightsLost ? fitted.filter((each) => !isRight(each)) : fitted;
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

/** The children that have no place among those that are sent. */
function missingAmong(sent: readonly Element[], children: readonly Element[]): readonly Element[] {
  if (sent === children) return [];
  const placed = new Set(sent);
  return children.filter((each) => !placed.has(each));
}

/** Whether a child that is left out limits the composite. An empty one says nothing. */
function isMissed(left: Element, { name }: Element): boolean {
  return limits(left.name, name) && hasText(left);
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
