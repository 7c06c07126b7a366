import { didYouMean, speller } from "../../spelling.ts";
import {
  childNames,
  compositeSince21,
  dataElement,
  isAtMostOnce,
  isComposite,
  isPartOf,
  knownTag,
  nameInOnix21,
} from "../rules/facts.ts";
import { validValue } from "../rules/kinds.ts";
import { adds, isRight, isSupplyWithoutMarkets, limits, PERIODS } from "../rules/limits.ts";
import { child, childValue, type Element, hasText, saysSame } from "./element.ts";
import {
  isContradictory,
  isOfNoCurrency,
  isPeriodLost,
  isValueLost,
  type TellLoss,
} from "./lost_values.ts";
import { tellDuplicate, tellUnfit, unfitIn } from "./unfit.ts";

/*
 * An entry, such as a right, says more than its sender did once a part that limits it, such
 * as its territory, cannot be read. Such an entry is withheld: it is stored, but neither
 * shown in JSON nor sent. In: a record. Out: the same record with its entries marked. The
 * marks depend on the record alone, so that reading and sending agree.
 */

/** Marks what is withheld, and tells why. */
export function withhold(record: Element, tell: TellLoss = () => {}): void {
  const ofRights: Element[] = [];
  let areRightsLost = false;
  for (const block of record.children) {
    const lost = lostIn(block, tell);
    for (const each of lost) each.isWithheld = true;
    if (block.name === "ProductSupply") {
      block.isWithheld = isSupplyLost(block, lost);
    } else if (block.name === "PublishingDetail") {
      // Rights in a second block would be lost.
      const isSecond = ofRights.length > 0;
      areRightsLost ||= lost.length > 0 || isSecond && block.children.some(isRight);
      ofRights.push(block);
    }
  }
  if (!areRightsLost) return;
  for (const { children } of ofRights) {
    for (const each of children) if (isRight(each)) each.isWithheld = true;
  }
}

/** Whether a supply has lost the last of its markets, or all of its details. */
function isSupplyLost(supply: Element, lost: readonly Element[]): boolean {
  const { name, children } = supply;
  const left = children.filter((each) => !each.isWithheld);
  const hadDetails = children.some((each) => each.name === "SupplyDetail");
  return lost.length > 0 && isSupplyWithoutMarkets(name, left) ||
    hadDetails && !child(supply, "SupplyDetail");
}

/** The children that limit the composite and that it loses. Withholds the entries in it that lose one. */
function lostIn(parent: Element, tell: TellLoss): Element[] {
  const lost: Element[] = [];
  const earlier = new Map<string, Element>();
  for (const each of parent.children) {
    if (limits(each.name, parent.name)) {
      const isSecond = isSecondOfOne(each, parent, earlier);
      if (isSecond) tellDuplicate(each, tell);
      if (isSecond || isLost(each, parent, tell)) lost.push(each);
    } else if (!knownTag(each.name) && isMeantToLimit(each, parent, tell)) {
      lost.push(each);
    } else if (each.children.length > 0) {
      const inner = lostIn(each, tell);
      if (inner.length > 0 || isOfNoCurrency(each, tell)) {
        each.isWithheld = true;
      }
    }
  }
  return lost;
}

/**
 * Whether a child that limits a composite says something else than the one before, where there
 * can be one: of dates, one of each role; of all else, one of each name. Of two values of a data
 * element the first counts, unless they are rights.
 */
function isSecondOfOne(
  each: Element,
  parent: Element,
  earlier: Map<string, Element>,
): boolean {
  const { name, children } = each;
  const period = PERIODS[name];
  const key = period ? `${name} ${childValue(each, period.role)}` : name;
  const before = earlier.get(key);
  earlier.set(key, each);
  if (!before) return false;
  const isOne = period
    ? isLimiting(each, period)
    : isAtMostOnce(name, parent.name) && (children.length > 0 || isRight(each));
  return isOne && !saysSame(before, each);
}

/** Finds what limits a composite and has a name that is nearly this one, by the composite. */
const SPELLERS = new Map<string, ReturnType<typeof speller>>();

/** Whether an unknown element has nearly the name of one that limits the composite. */
function isMeantToLimit(
  element: Element,
  parent: Element,
  tell: TellLoss,
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
  tell: TellLoss,
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
  tell: TellLoss,
): boolean {
  const { name } = element;
  if (!isPartOf(name, parent.name)) return isOutOfPlace(element, parent, tell);
  if (!isComposite(name)) return isValueLost(element, tell);
  const period = PERIODS[name];
  if (period && !isLimiting(element, period)) return false;
  if (isIncomplete(element, parent, tell)) return true;
  if (name === "Territory") return isContradictory(element, tell);
  return period !== undefined && isPeriodLost(element, tell);
}

/** Whether what has no place in its composite says something. What ONIX 2.1 had there is told of elsewhere. */
function isOutOfPlace(element: Element, parent: Element, tell: TellLoss): boolean {
  if (!hasText(element)) return false;
  const { name } = element;
  const isOfOnix21 = nameInOnix21(name) !== undefined ||
    compositeSince21(parent.name, name) !== undefined;
  if (!isOfOnix21) tellUnknown(element, parent, tell);
  return true;
}

/**
 * Whether a composite has lost a part that limits it, or is no whole without what it has lost.
 * Only then is told of a lost part that adds.
 */
function isIncomplete(element: Element, parent: Element, tell: TellLoss): boolean {
  const { name, children } = element;
  let isPartLost = false;
  const left: Element[] = [];
  const untold: Parameters<TellLoss>[] = [];
  const tellLater: TellLoss = (...loss) => void untold.push(loss);
  for (const each of children) {
    const isAdded = adds(each.name, name);
    if (isLost(each, element, isAdded ? tellLater : tell)) isPartLost ||= !isAdded;
    else if (hasText(each)) left.push(each);
  }
  if (isPartLost) return true;
  const unfit = unfitIn(element, parent, left);
  if (!unfit) return false;
  if (untold.length > 0) untold.forEach((loss) => tell(...loss));
  else tellUnfit(element, left, unfit, tell);
  return true;
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
