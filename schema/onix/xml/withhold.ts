import { dataElement, knownTag } from "../rules/facts.ts";
import { expectedCode, validValue, wrongCodes } from "../rules/kinds.ts";
import { limits, TOGETHER } from "../rules/limits.ts";
import { dateIn } from "./dates.ts";
import { child, childrenOf, type Element, valueOf } from "./element.ts";

/*
 * Never more than the sender said. In: a record. Out: the same record, in which every
 * entry that lost a part that limits it is withheld: it is neither read nor sent, and only
 * stored. What is withheld depends on the record alone, so that reading and sending agree.
 */

/** What cannot be read. */
type Tell = (element: Element, code: string, message: string) => void;

/** The blocks of a record that have something to withhold in them. */
const LIMITED_BLOCKS = [
  "CollateralDetail",
  "ContentDetail",
  "PublishingDetail",
  "ProductSupply",
];

/** Marks what is withheld, and tells why. */
export function withhold(record: Element, tell: Tell = () => {}): void {
  for (const block of record.children) {
    if (!LIMITED_BLOCKS.includes(block.name)) continue;
    const lost = lostIn(block, tell);
    if (block.name === "ProductSupply") {
      const markets = block.children.filter(({ name }) => name === "Market");
      if (markets.length > 0 && markets.every((one) => one.isWithheld)) {
        block.isWithheld = true;
      }
    } else if (block.name === "PublishingDetail" && lost.length > 0) {
      for (const each of block.children) {
        if (TOGETHER.includes(each.name)) each.isWithheld = true;
      }
    }
  }
}

/** The limiting children that the composite loses. Marks the entries below that lose one. */
function lostIn(composite: Element, tell: Tell): Element[] {
  const lost: Element[] = [];
  for (const each of composite.children) {
    const isLost = each.children.length > 0
      ? isCompositeLost(each, tell)
      : isValueLost(each, tell);
    if (!isLost) continue;
    // A limiting part goes with what it limits. Markets and rights are entries of their own.
    if (!limits(each.name) || each.name === "Market") each.isWithheld = true;
    if (limits(each.name)) lost.push(each);
  }
  return lost;
}

function isCompositeLost(composite: Element, tell: Tell): boolean {
  const isLost = lostIn(composite, tell).length > 0;
  if (composite.name === "PriceDate") {
    return isPeriodLost(composite, tell) || isLost;
  }
  if (isLost || !limits(composite.name)) return isLost;
  const unknown = composite.children.find(({ name }) => !knownTag(name));
  if (unknown) {
    tell(
      unknown,
      "unknown_element",
      `${composite.name} has an element that ONIX does not have there`,
    );
  }
  return unknown !== undefined;
}

function isValueLost(element: Element, tell: Tell): boolean {
  const value = limits(element.name) ? valueOf(element) : undefined;
  const kind = dataElement(element.name)?.kind;
  if (value === undefined || kind === undefined) return false;
  if (validValue(kind, value) === value) return false;
  if (Number.isNaN(Number.parseInt(kind))) {
    if (validValue(kind, value) !== undefined) return false;
    tell(element, "invalid_number", "Expected a whole number");
  } else {
    const message = expectedCode(kind, wrongCodes(kind, value));
    tell(element, "invalid_code", message);
  }
  return true;
}

/** The roles of the first and the last day of a price (List 173), and of the span between. */
const FIRST_OR_LAST = ["14", "15"];
const SPAN = "24";

/** Whether a period of a price cannot be read. A limit of no certain day is none. */
function isPeriodLost(period: Element, tell: Tell): boolean {
  const role = valueOf(child(period, "PriceDateRole"));
  const read = dateIn(period);
  const [found] = childrenOf(period, "Date");
  if (!read || !found) return true;
  if ("fault" in read) tell(found, read.fault, read.message);
  else if (role === SPAN && !("from" in read)) {
    tell(found, "invalid_date", "Expected a span, as YYYYMMDDYYYYMMDD");
  } else if (FIRST_OR_LAST.includes(role ?? "") && "from" in read) {
    tell(found, "invalid_date", "Expected one day, as YYYYMMDD");
  } else if (
    FIRST_OR_LAST.includes(role ?? "") && "date" in read &&
    read.date.length < 10
  ) tell(found, "imprecise_date", "Expected a day, as YYYYMMDD");
  else return false;
  return true;
}
