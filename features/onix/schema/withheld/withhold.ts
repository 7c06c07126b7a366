import { isAtMostOnce } from "../rules/facts.ts";
import { isRight, isSupplyWithoutMarkets, limits, PERIODS } from "../rules/limits.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  hasSameContent,
  hasText,
} from "../xml/element.ts";
import { lossesOf, lossOfMisspelt } from "./lost_parts.ts";
import { hasLimitingRole, lossOfCurrency } from "./lost_values.ts";
import { duplicate, type Loss } from "./losses.ts";

/*
 * Withholds entries that have lost a limit. Without its territory, a right would hold in the full
 * world: more than its sender permitted. So an entry is withheld if a part that limits it cannot be
 * read. It is stored, but neither shown in JSON nor sent. In: a record. Out: the same record with
 * its entries marked, and the losses. The marks depend on the record alone, so that reading and
 * sending agree.
 *
 * For example, a price with `<Territory><CountriesIncluded>XQ` is withheld, and reported as
 * `invalid_code`.
 */

/** Marks the entries that are withheld. Returns the losses that cause it. */
export function withhold(record: Element): Loss[] {
  const losses: Loss[] = [];
  const publishing: Element[] = [];
  let areRightsLost = false;
  for (const block of record.children) {
    const lost = lostIn(block, losses);
    for (const each of lost) each.isWithheld = true;
    if (block.name === "ProductSupply") {
      withholdEmptyDetails(block);
      block.isWithheld = isSupplyLost(block, lost) || isMarketRemoval(block);
    } else if (block.name === "PublishingDetail") {
      // A second block has no place in a message: its rights would be lost.
      const isSecond = publishing.length > 0;
      areRightsLost ||= lost.length > 0 || isSecond && block.children.some(isRight);
      publishing.push(block);
    }
  }
  if (areRightsLost) {
    // Rights limit each other. Without one of them, the others would permit more than the sender
    // did.
    for (const { children } of publishing) {
      for (const each of children) if (isRight(each)) each.isWithheld = true;
    }
  }
  return losses;
}

/** Withholds the details of a supply that say nothing. */
function withholdEmptyDetails(supply: Element): void {
  for (const each of childrenOf(supply, "SupplyDetail")) each.isWithheld = !hasText(each);
}

/** Withholds the supplies that only remove a market, such as those that a user has emptied. */
export function withholdMarketRemovals(record: Element): void {
  for (const block of record.children) block.isWithheld ||= isMarketRemoval(block);
}

/**
 * Whether a block only removes the supply of a market: it has the reference of that, or nothing, and
 * no details. It is kept in the record, and no supply is invented for it.
 */
function isMarketRemoval(block: Element): boolean {
  if (block.name !== "ProductSupply" || block.children.some(isDetail)) return false;
  return child(block, "MarketReference") !== undefined || !hasText(block);
}

/** Whether an element is a detail of a supply that says something. */
function isDetail(each: Element): boolean {
  return each.name === "SupplyDetail" && hasText(each);
}

/** Whether a supply has lost the last of its markets, or all of its details. */
function isSupplyLost(supply: Element, lost: readonly Element[]): boolean {
  const { name, children } = supply;
  const left = children.filter((each) => !each.isWithheld);
  const hadDetails = children.some(isDetail);
  return lost.length > 0 && isSupplyWithoutMarkets(name, left) ||
    hadDetails && !child(supply, "SupplyDetail");
}

/**
 * Returns the lost children that limit the composite. Withholds the entries in it that have such
 * children themselves. Adds all losses to `losses`.
 */
function lostIn(parent: Element, losses: Loss[]): Element[] {
  const lost: Element[] = [];
  /** The latest limiting child of each key. */
  const latest = new Map<string, Element>();
  for (const each of parent.children) {
    const isLimit = limits(each.name, parent.name);
    const own = isLimit
      ? lossesOfLimit(each, parent, latest.get(keyOf(each)))
      : lossOfMisspelt(each, parent);
    if (isLimit) latest.set(keyOf(each), each);
    losses.push(...own);
    if (own.length > 0) lost.push(each);
    else if (!isLimit && each.children.length > 0) withholdIfLost(each, losses);
  }
  return lost;
}

/** Withholds an entry that has lost a limit. */
function withholdIfLost(entry: Element, losses: Loss[]): void {
  const lost = lostIn(entry, losses);
  const ofCurrency = lost.length === 0 ? lossOfCurrency(entry) : [];
  losses.push(...ofCurrency);
  if (lost.length + ofCurrency.length > 0) entry.isWithheld = true;
}

/** Finds the losses in a limiting child. One that contradicts an earlier child of its key is lost itself. */
function lossesOfLimit(
  each: Element,
  parent: Element,
  earlier: Element | undefined,
): readonly Loss[] {
  const contradicts = earlier && isSingle(each, parent) && !hasSameContent(earlier, each);
  return contradicts ? [duplicate(each)] : lossesOf(each, parent);
}

/** Returns the key that only one child can have: the role of a date, or else the name of an element. */
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
