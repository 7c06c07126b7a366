import { didYouMean, speller } from "../../spelling.ts";
import {
  childNames,
  composite,
  compositeSince21,
  dataElement,
  isAtMostOnce,
  isComposite,
  isPartOf,
  knownTag,
  nameInOnix21,
} from "../rules/facts.ts";
import { expectedCodes, expectedNumber, validValue, wrongCodes } from "../rules/kinds.ts";
import { adds, isRight, limits, PERIODS } from "../rules/limits.ts";
import { RELEASES } from "../rules/releases.ts";
import { dateIn, dateOf, isBareDate } from "./dates.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  hasText,
  saysSame,
  valueOf,
} from "./element.ts";
import { fitAll, matches } from "./fit.ts";

/*
 * An entry, such as a right, says more than its sender did once a part that limits it, such
 * as its territory, cannot be read. Such an entry is withheld: it is stored, but neither
 * shown in JSON nor sent. In: a record. Out: the same record with its entries marked. The
 * marks depend on the record alone, so that reading and sending agree.
 */

/** Reports what cannot be read, or that an element lacks the child `missing`. */
type Tell = (
  element: Element,
  code: string,
  message: string,
  missing?: string,
) => void;

/** Marks what is withheld, and tells why. */
export function withhold(
  record: Element,
  tell: Tell = () => {},
): void {
  let areRightsLost = false;
  const seen = new Set<string>();
  for (const block of record.children) {
    const { name, children } = block;
    const lost = lostIn(block, tell);
    for (const each of lost) each.isWithheld = true;
    if (name === "ProductSupply") {
      const details = children.filter((each) => each.name === "SupplyDetail");
      block.isWithheld = lost.length > 0 && !child(block, "Market") ||
        details.length > 0 && !child(block, "SupplyDetail");
    } else if (name === "PublishingDetail") {
      // Rights in a second block would be lost.
      areRightsLost ||= lost.length > 0 ||
        seen.has(name) && children.some(isRight);
    }
    seen.add(name);
  }
  if (!areRightsLost) return;
  for (const { name, children } of record.children) {
    if (name !== "PublishingDetail") continue;
    for (const each of children) if (isRight(each)) each.isWithheld = true;
  }
}

/** The children that limit the composite and that it loses. Withholds the entries in it that lose one. */
function lostIn(parent: Element, tell: Tell): Element[] {
  const lost: Element[] = [];
  const firsts = new Map<string, Element>();
  for (const each of parent.children) {
    const { name, children } = each;
    if (limits(name, parent.name)) {
      const period = PERIODS[name];
      const key = period ? `${name} ${childValue(each, period.role)}` : name;
      const first = firsts.get(key);
      const isOne = period ? isLimiting(each, period) : isAtMostOnce(name, parent.name) &&
        (children.length > 0 || isRight(each));
      const isSecond = first !== undefined && isOne && !saysSame(first, each);
      firsts.set(key, each);
      if (isSecond) tellDuplicate(each, tell);
      if (isSecond || (isLost(each, parent, tell))) lost.push(each);
    } else if (!knownTag(name) && isMeantToLimit(each, parent, tell)) {
      lost.push(each);
    } else if (children.length > 0) {
      const inner = lostIn(each, tell);
      if (inner.length > 0 || isOfNoCurrency(each, tell)) {
        each.isWithheld = true;
      }
    }
  }
  return lost;
}

/** Finds what limits a composite and has a name that is nearly this one, by the composite. */
const SPELLERS = new Map<string, ReturnType<typeof speller>>();

/** Whether an unknown element has nearly the name of one that limits the composite. */
function isMeantToLimit(
  element: Element,
  parent: Element,
  tell: Tell,
): boolean {
  const { name } = element;
  if (!isComposite(parent.name) || nameInOnix21(name) || !hasText(element)) {
    return false;
  }
  const meant = SPELLERS.getOrInsertComputed(
    parent.name,
    (parent) => speller(childNames(parent).filter((each) => limits(each, parent))),
  )(name);
  if (meant === undefined) return false;
  tellUnknown(element, parent, tell, meant);
  return true;
}

function tellUnknown(
  element: Element,
  parent: Element,
  tell: Tell,
  meant?: string,
): void {
  const message = `${parent.name} has an element that ONIX does not have there` +
    didYouMean(meant);
  tell(element, "unknown_element", message);
}

/** Whether an element that limits its composite, or is part of one that does, cannot be read or sent. */
function isLost(
  element: Element,
  parent: Element,
  tell: Tell,
): boolean {
  const { name, children } = element;
  if (!isPartOf(name, parent.name)) {
    if (!hasText(element)) return false;
    const isOfOnix21 = nameInOnix21(name) !== undefined ||
      compositeSince21(parent.name, name) !== undefined;
    if (!isOfOnix21) tellUnknown(element, parent, tell);
    return true;
  }
  if (!isComposite(name)) return isValueLost(element, tell);
  const period = PERIODS[name];
  if (period && !isLimiting(element, period)) return false;
  let isPartLost = false;
  const parts: Element[] = [];
  const others: Parameters<Tell>[] = [];
  const ofOthers: Tell = (...told) => void others.push(told);
  for (const each of children) {
    const isAdded = adds(each.name, name);
    if (isLost(each, element, isAdded ? ofOthers : tell)) {
      isPartLost ||= !isAdded;
    } else if (hasText(each)) parts.push(each);
  }
  if (isPartLost) return true;
  if (isUnfit(element, parent, parts, others, tell)) return true;
  if (name === "Territory") return isContradictory(element, tell);
  return period !== undefined && isPeriodLost(element, tell);
}

/** Whether a date has a role that limits what it stands in, or an unknown one. */
function isLimiting(
  date: Element,
  { role, limiting }: typeof PERIODS[string],
): boolean {
  const code = childValue(date, role);
  const { kind } = dataElement(role)!;
  return !limiting || code === undefined ||
    validValue(kind, code) === undefined || limiting.includes(code);
}

/**
 * Whether the parts of a composite match no content model in any release. `others` is what
 * was told of the elements that only add to it.
 */
function isUnfit(
  element: Element,
  parent: Element,
  parts: readonly Element[],
  others: readonly Parameters<Tell>[],
  tell: Tell,
): boolean {
  let unplaced: Element | undefined;
  const missing: string[] = [];
  for (const release of RELEASES) {
    const model = composite(release, element.name, parent.name)?.model;
    if (!model) continue;
    if (matches(model, parts)) return false;
    const placed = fitAll(model, parts, (name) => {
      missing.push(name);
      return undefined;
    });
    if (placed?.length === parts.length) return false;
    const all = new Set(placed);
    unplaced ??= placed && parts.find((each) => !all.has(each));
  }
  const [name = ""] = missing;
  if (others.length > 0) others.forEach((told) => tell(...told));
  else if (!unplaced) {
    tell(element, "required", `${element.name} has no ${name}`, name);
  } else if (
    isAtMostOnce(unplaced.name, element.name) &&
    parts.find((each) => each.name === unplaced!.name) !== unplaced
  ) tellDuplicate(unplaced, tell);
  else {
    const message = `${element.name} cannot have ${unplaced.name} beside its other elements`;
    tell(unplaced, "unexpected_element", message);
  }
  return true;
}

function tellDuplicate(element: Element, tell: Tell): void {
  tell(
    element,
    "duplicate",
    "There can be one, and an earlier one is there: both are kept in the record",
  );
}

/** Whether the value of a data element cannot be read. */
function isValueLost(element: Element, tell: Tell): boolean {
  const value = valueOf(element);
  const kind = dataElement(element.name)?.kind;
  if (value === undefined || kind === undefined) return false;
  if (isBareDate(element.name)) return isDayLost(element, tell);
  const valid = validValue(kind, value);
  if (valid === value) return false;
  if (Number.isNaN(Number.parseInt(kind))) {
    if (valid !== undefined) return false;
    tell(element, "invalid_number", expectedNumber(kind));
  } else {
    tell(element, "invalid_code", expectedCodes(kind, wrongCodes(kind, value)));
  }
  return true;
}

function isDayLost(element: Element, tell: Tell): boolean {
  const read = dateOf(element);
  if ("reformatted" in read) {
    tell(element, "reformatted", "The date is read in another form");
  }
  if (!("fault" in read) || read.fault !== "invalid_date") return false;
  tell(element, read.fault, read.message);
  return true;
}

/** Whether a price has an amount without a currency. Nothing is free in any currency. */
function isOfNoCurrency(price: Element, tell: Tell): boolean {
  if (price.name !== "Price" || childValue(price, "CurrencyCode")) return false;
  const amount = childValue(price, "PriceAmount");
  if (amount === undefined || /^[+0.,]+$/.test(amount)) return false;
  tell(price, "required", "Price has no CurrencyCode", "CurrencyCode");
  return true;
}

/** Whether a region is included and excluded. */
function isContradictory(territory: Element, tell: Tell): boolean {
  const codesOf = (name: string) => valueOf(child(territory, name))?.split(" ") ?? [];
  const included = new Set(codesOf("RegionsIncluded"));
  const both = codesOf("RegionsExcluded").find((code) => included.has(code));
  if (both === undefined) return false;
  const message = `${both} is in RegionsIncluded, too`;
  tell(child(territory, "RegionsExcluded")!, "contradictory", message);
  return true;
}

/** The roles of the first and the last day of a price (List 173), and of the span between. */
const FIRST_OR_LAST = ["14", "15"];
const SPAN = "24";

/** Whether a period cannot be read. That of a price begins and ends on certain days. */
function isPeriodLost(period: Element, tell: Tell): boolean {
  const role = childValue(period, "PriceDateRole");
  const read = dateIn(period);
  const [found] = childrenOf(period, "Date");
  if (!read || !found) return true;
  if ("fault" in read) {
    const isRight = role === undefined && read.fault !== "invalid_date";
    if (!isRight) tell(found, read.fault, read.message);
    return !isRight;
  }
  const isEnd = FIRST_OR_LAST.includes(role ?? "");
  if (role === SPAN && !("from" in read)) {
    tell(found, "invalid_date", "Expected a span, as YYYYMMDDYYYYMMDD");
  } else if (isEnd && "from" in read) {
    tell(found, "invalid_date", "Expected one day, as YYYYMMDD");
  } else if (isEnd && "date" in read && read.date.length < 10) {
    tell(found, "imprecise_date", "Expected a day, as YYYYMMDD");
  } else return false;
  return true;
}
