import { didYouMean, speller } from "../../spelling.ts";
import {
  childNames,
  compositeSince21,
  isComposite,
  isPartOf,
  knownTag,
  nameInOnix21,
} from "../rules/facts.ts";
import { adds, limits, PERIODS } from "../rules/limits.ts";
import { type Element, hasText } from "./element.ts";
import {
  hasLimitingRole,
  isContradictory,
  isPeriodLost,
  isValueLost,
  type TellLoss,
} from "./lost_values.ts";
import { tellUnfit, unfitIn } from "./unfit.ts";

/*
 * Whether a part that limits its composite is lost: it cannot be read, or no release can say it.
 * In: the part and its composite. Out: the answer. A predicate tells why, where that is yes.
 */

/** Whether an element that limits its composite, or is part of one that does, cannot be read or sent. */
export function isLost(
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

/** Finds what limits a composite and has a name that is nearly this one, by the composite. */
const SPELLERS = new Map<string, ReturnType<typeof speller>>();

/** Whether an unknown element has nearly the name of one that limits the composite. */
export function isMeantToLimit(
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
