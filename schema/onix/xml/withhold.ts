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
import {
  adds,
  isRight,
  isSupplyWithoutMarkets,
  limits,
  type Period,
  PERIODS,
} from "../rules/limits.ts";
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
 *
 * A predicate that takes `tell` says why, where its answer is yes.
 */

/** Marks what is withheld, and tells why. */
export function withhold(record: Element, tell: TellLoss = () => {}): void {
  const publishing: Element[] = [];
  let areRightsLost = false;
  for (const block of record.children) {
    const lost = lostIn(block, tell);
    for (const each of lost) each.isWithheld = true;
    if (block.name === "ProductSupply") {
      block.isWithheld = isSupplyLost(block, lost);
    } else if (block.name === "PublishingDetail") {
      // A second block has no place in a message: its rights would be lost.
      const isSecond = publishing.length > 0;
      areRightsLost ||= lost.length > 0 || isSecond && block.children.some(isRight);
      publishing.push(block);
    }
  }
  if (!areRightsLost) return;
  for (const { children } of publishing) {
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

/** The children that limit the composite and are lost. Withholds the entries in it that lose such a child. */
function lostIn(parent: Element, tell: TellLoss): Element[] {
  const lost: Element[] = [];
  /** The latest child of each key. */
  const earlier = new Map<string, Element>();
  for (const each of parent.children) {
    if (limits(each.name, parent.name)) {
      const key = keyOf(each);
      const before = earlier.get(key);
      earlier.set(key, each);
      const isSecond = before !== undefined && isSingle(each, parent) && !saysSame(before, each);
      if (isSecond) tellDuplicate(each, tell);
      if (isSecond || isLost(each, parent, tell)) lost.push(each);
    } else if (isMeantToLimit(each, parent, tell)) {
      lost.push(each);
    } else if (each.children.length > 0) {
      const inner = lostIn(each, tell);
      if (inner.length > 0 || isOfNoCurrency(each, tell)) each.isWithheld = true;
    }
  }
  return lost;
}

/** What there can be one of: a date of a role, or else an element of a name. */
function keyOf(each: Element): string {
  const period = PERIODS[each.name];
  return period ? `${each.name} ${childValue(each, period.role)}` : each.name;
}

/**
 * Whether there can be only one such child, so that two that differ contradict each other. Of two
 * values of a data element the first counts, unless they are rights.
 */
function isSingle(each: Element, parent: Element): boolean {
  const { name, children } = each;
  const period = PERIODS[name];
  if (period) return hasLimitingRole(each, period);
  return isAtMostOnce(name, parent.name) && (children.length > 0 || isRight(each));
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
  if (knownTag(name) || nameInOnix21(name)) return false;
  if (!isComposite(parent.name) || !hasText(element)) return false;
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
  const message = `ONIX has no such element in ${parent.name}${didYouMean(meant)}`;
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
  if (period && !hasLimitingRole(element, period)) return false;
  if (isIncomplete(element, parent, tell)) return true;
  if (name === "Territory") return isContradictory(element, tell);
  return period !== undefined && isPeriodLost(element, tell);
}

/** Whether what has no place in its composite says something. What ONIX 2.1 had there has a warning of its own. */
function isOutOfPlace(element: Element, parent: Element, tell: TellLoss): boolean {
  if (!hasText(element)) return false;
  const { name } = element;
  const isOfOnix21 = nameInOnix21(name) !== undefined ||
    compositeSince21(parent.name, name) !== undefined;
  if (!isOfOnix21) tellUnknown(element, parent, tell);
  return true;
}

/**
 * Whether a composite has lost a part that limits it, or is not whole without what it has lost.
 * The loss of a part that only adds is told in the second case alone.
 */
function isIncomplete(element: Element, parent: Element, tell: TellLoss): boolean {
  const { name, children } = element;
  let isPartLost = false;
  const left: Element[] = [];
  const lossesOfAdded: Parameters<TellLoss>[] = [];
  const tellLater: TellLoss = (...loss) => void lossesOfAdded.push(loss);
  for (const each of children) {
    const isAdded = adds(each.name, name);
    if (isLost(each, element, isAdded ? tellLater : tell)) isPartLost ||= !isAdded;
    else if (hasText(each)) left.push(each);
  }
  if (isPartLost) return true;
  const unfit = unfitIn(element, parent, left);
  if (!unfit) return false;
  if (lossesOfAdded.length > 0) lossesOfAdded.forEach((loss) => tell(...loss));
  else tellUnfit(element, left, unfit, tell);
  return true;
}

/** Whether a date has a role that limits what it stands in, or an unknown one. */
function hasLimitingRole(
  date: Element,
  { role, limiting }: Period,
): boolean {
  const code = childValue(date, role);
  const { kind } = dataElement(role)!;
  return !limiting || code === undefined ||
    validValue(kind, code) === undefined || limiting.includes(code);
}
