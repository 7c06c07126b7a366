import { isAtMostOnce } from "../rules/facts.ts";
import { isRight, isSupplyWithoutMarkets, limits, PERIODS } from "../rules/limits.ts";
import { child, childValue, type Element, saysSame } from "./element.ts";
import { isLost, isMeantToLimit } from "./lost_parts.ts";
import { hasLimitingRole, isOfNoCurrency, type TellLoss } from "./lost_values.ts";
import { tellDuplicate } from "./unfit.ts";

/*
 * An entry, such as a right, says more than its sender did once a part that limits it, such
 * as its territory, cannot be read. Such an entry is withheld: it is stored, but neither
 * shown in JSON nor sent. In: a record. Out: the same record with its entries marked. The
 * marks depend on the record alone, so that reading and sending agree.
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
  // Rights limit each other: without one of them, the others would say more than the sender did.
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
  const latest = new Map<string, Element>();
  for (const each of parent.children) {
    if (limits(each.name, parent.name)) {
      const key = keyOf(each);
      const before = latest.get(key);
      latest.set(key, each);
      const contradicts = before && isSingle(each, parent) && !saysSame(before, each);
      if (contradicts) tellDuplicate(each, tell);
      if (contradicts || isLost(each, parent, tell)) lost.push(each);
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
