import { converted } from "./converted.ts";
import { child, type Element, element, hasText, normalized, settledText } from "./element.ts";
import { composite, dataElement, isComposite, isInRelease, type Unique } from "../rules/facts.ts";
import { ATTRIBUTES, validValue } from "../rules/kinds.ts";
import { isRight, limits } from "../rules/limits.ts";
import { fitAll, matches } from "./fit.ts";
import { type Paths, PathSet } from "./paths.ts";
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

/** What stands in for what a record lacks. */
export interface Substitutes {
  /** The name of a supplier or publisher without one. */
  organization: string;
  /** The identifier of a product without one. */
  identifier: Element;
}

/** Mends a record. */
export function mend(
  record: Element,
  release: Release,
  substitutes: Substitutes,
): Mended {
  const notSent = new PathSet();
  const demanded = new Set<Element>();
  const mender = { release, notSent, demanded, ...substitutes };
  const mended = mendElement(record, "", "", mender);
  if (!mended) throw new TypeError("A record needs a reference and a type");
  return { record: mended, notSent, demanded };
}

interface Mender extends Substitutes {
  release: Release;
  notSent: PathSet;
  demanded: Set<Element>;
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
  const { model, unique } = composite(release, given.name, parent)!;
  const { name } = given;
  const children: Element[] = [];
  const lost: Element[] = [];
  for (const each of converted(given, release)) {
    if (each.isWithheld) {
      notSent.addLeaves([each], path);
      continue;
    }
    const mended = mendElement(each, name, path, mender);
    if (mended) children.push(mended);
    else if (isMissed(each, given)) lost.push(each);
  }
  if (children.length === 0 && name !== "Product") return;
  let own = children;
  for (const constraint of unique) {
    if (!mayRepeat(own, constraint)) continue;
    own = withoutDuplicates(own, constraint, path, mender);
  }
  const place = path.slice(0, -name.length - 1);
  let sent: Element[] | undefined = own;
  if (!matches(model, own)) {
    sent = fitAll(model, own, (child) => filler(child, name, mender));
    const taken = new Set(sent);
    const unplaced = own.filter((each) => !taken.has(each));
    if (sent) notSent.addLeaves(unplaced, path);
    lost.push(...unplaced.filter((each) => isMissed(each, given)));
  }
  if (!sent || isLostWith(given, parent, lost, sent)) {
    notSent.addLeaves([given], place);
    return;
  }
  if (lost.length > 0 && name === "PublishingDetail") {
    notSent.addLeaves(sent.filter(isRight), path);
    sent = sent.filter((each) => !isRight(each));
  }
  const attributes = mendAttributes(given, path, "", notSent);
  return { name, attributes, children: sent, text: "" };
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
  const isMarket = (each: Element) => each.name === "Market";
  // What a block loses are entries of their own.
  const isBlock = name === "Product" || parent === "Product";
  return !isBlock ||
    name === "ProductSupply" && lost.some(isMarket) && !left.some(isMarket);
}

/** Whether there are two elements that a constraint can compare: mostly there are not. */
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

/** The children without what repeats an earlier one: a language, a number, or the whole element. */
function withoutDuplicates(
  children: Element[],
  { path, fields }: Unique,
  at: string,
  mender: Mender,
): Element[] {
  const { release, notSent } = mender;
  const [names, inner] = path as [string[], string[]?];
  const [field] = fields as [string];
  const seen = new Set<string>();
  const left = new Set<Element>();
  for (const [i, each] of children.entries()) {
    if (!names.includes(each.name)) continue;
    const targets = inner ? each.children.filter(({ name }) => inner.includes(name)) : [each];
    const repeated = targets.filter((target) => {
      const key = uniqueKey(target, fields, release);
      return key !== undefined && (seen.has(key) || !seen.add(key));
    });
    if (repeated.length === 0) continue;
    const place = inner ? `${at}/${each.name}` : at;
    if (field === "@language") {
      const again = new Set(repeated);
      const changed = (one: Element) => again.has(one) ? withoutLanguage(one) : one;
      if (inner) each.children = each.children.map(changed);
      else children[i] = withoutLanguage(each);
      for (const { name } of repeated) {
        notSent.add(`${place}/${name}/@language`);
      }
    } else if (OPTIONAL_KEYS.includes(field)) {
      for (const target of repeated) {
        const number = child(target, field)!;
        target.children = target.children.filter((child) => child !== number);
        notSent.add(`${place}/${target.name}/${field}`);
      }
    } else if (inner) {
      const gone = new Set(repeated);
      each.children = each.children.filter((child) => !gone.has(child));
      mender.notSent.addLeaves(repeated, place);
    } else {
      left.add(each);
      // A code that is there twice says nothing the second time.
      if (field !== ".") mender.notSent.addLeaves([each], at);
    }
  }
  return left.size > 0 ? children.filter((child) => !left.has(child)) : children;
}

function withoutLanguage(element: Element): Element {
  const { language: _, ...attributes } = element.attributes;
  return { ...element, attributes };
}

/** The fields without which an element is valid. */
const OPTIONAL_KEYS = [
  "SequenceNumber",
  "LevelSequenceNumber",
  "MarketReference",
];

function uniqueKey(
  target: Element,
  fields: string[],
  release: Release,
): string | undefined {
  const values = fields.map((field) => {
    if (field === ".") return target.text;
    if (field.startsWith("@")) return target.attributes[field.slice(1)];
    const text = child(target, field)?.text;
    // Numbers are equal by their values: 1 and 01.
    return text && dataElement(field, release)?.kind === "n+" ? text.replace(/^\+?0*/, "") : text;
  });
  return values.includes(undefined) ? undefined : values.join("\n");
}

/** What the schema demands and the catalogue has no value for. */
const FILLERS: Readonly<Record<string, string>> = {
  CitedContentType: "01",
  ContentAudience: "00",
  MarketPublishingStatus: "00",
  NotificationType: "03",
  ProductAvailability: "99",
  ProductComposition: "00",
  ProductForm: "00",
  SupplierRole: "00",
  TextType: "01",
  TitleElementLevel: "01",
  TitleType: "00",
};

/** What stands for an element, by its parent and name. */
const SUBSTITUTES: Readonly<
  Record<string, (substitutes: Substitutes) => Element>
> = {
  "Product/ProductIdentifier": ({ identifier }) => identifier,
  "Supplier/SupplierName": ({ organization }) => element("SupplierName", organization),
  "SupplyDetail/Supplier": supplier,
  "SupplyDetail/UnpricedItemType": () => element("UnpricedItemType", "04"),
  // The organization publishes a product without a publisher. An import reads it as none.
  "PublishingDetail/Publisher": ({ organization }) =>
    element("Publisher", [
      element("PublishingRole", "01"),
      element("PublisherName", organization),
    ], { sourcename: NO_PUBLISHER }),
  "ProductSupply/SupplyDetail": (substitutes) =>
    element("SupplyDetail", [
      supplier(substitutes),
      element("ProductAvailability", "99"),
      element("UnpricedItemType", "04"),
    ]),
};

function filler(
  name: string,
  parent: string,
  mender: Mender,
): Element | undefined {
  const value = FILLERS[name];
  const filled = value ? element(name, value) : SUBSTITUTES[`${parent}/${name}`]?.(mender);
  if (filled) mender.demanded.add(filled);
  return filled;
}

function supplier({ organization }: Substitutes): Element {
  return element("Supplier", [
    element("SupplierRole", "00"),
    element("SupplierName", organization),
  ]);
}

/**
 * The record without what the service wrote because the schema demands it. An undefined
 * form and the organization as publisher came from such a record, if they were sent back.
 */
export function withoutDemanded({ record, demanded }: Mended): Element {
  const saysNothing = (each: Element) =>
    demanded.has(each) || each.attributes.sourcename === NO_PUBLISHER ||
    each.name === "ProductForm" && each.text === FILLERS.ProductForm;
  const withoutIn = (given: Element): Element => {
    const { children } = given;
    const left = children.filter((each) => !saysNothing(each)).map(withoutIn);
    const isWhole = left.length === children.length &&
      left.every((each, i) => each === children[i]);
    return isWhole ? given : { ...given, children: left };
  };
  return withoutIn(record);
}

/** Whether the service writes an element with this name into the composite where a record lacks it. */
export function isFilled(name: string, parent: string): boolean {
  return name in FILLERS || `${parent}/${name}` in SUBSTITUTES;
}

/** Whether the service writes the element itself where a record lacks it. */
export function isFiller({ name, text }: Element): boolean {
  return (FILLERS[name] ?? WRITTEN[name]) === text.trim();
}

/** What the service writes of itself beside its values. */
const WRITTEN: Readonly<Record<string, string>> = { CollectionType: "10" };

/** The source of a publisher that stands in for none. */
export const NO_PUBLISHER = "organization";
