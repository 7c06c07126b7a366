import type { ReadDate } from "../rules/dates.ts";
import { dataElement } from "../rules/facts.ts";
import {
  codesOfKind,
  expectedCodes,
  expectedNumber,
  validValue,
  wrongCodes,
} from "../rules/kinds.ts";
import type { Period } from "../rules/limits.ts";
import { bareDateIn, dateIn, isBareDate } from "./dates.ts";
import { child, childrenOf, childValue, type Element, valueOf } from "./element.ts";

/*
 * Whether a value that limits what it stands in can be read. In: an element. Out: whether its
 * value is lost. A predicate tells why, where its answer is yes. That a date is read in another form
 * is told as well, although nothing is lost.
 */

/** Tells why an element is lost: it cannot be read, or lacks the child `missing`. */
export type TellLoss = (
  element: Element,
  code: string,
  message: string,
  missing?: string,
) => void;

/** Whether the value of a data element cannot be read. */
export function isValueLost(element: Element, tell: TellLoss): boolean {
  const value = valueOf(element);
  const kind = dataElement(element.name)?.kind;
  if (value === undefined || kind === undefined) return false;
  if (isBareDate(element.name)) return isDayLost(element, tell);
  const valid = validValue(kind, value);
  if (valid === value) return false;
  if (!codesOfKind(kind)) {
    if (valid !== undefined) return false;
    tell(element, "invalid_number", expectedNumber(kind));
  } else {
    tell(element, "invalid_code", expectedCodes(kind, wrongCodes(kind, value)));
  }
  return true;
}

function isDayLost(element: Element, tell: TellLoss): boolean {
  const read = bareDateIn(element);
  if ("reformatted" in read) {
    tell(element, "reformatted", "The date is read in another form");
  }
  if (!("fault" in read) || read.fault !== "invalid_date") return false;
  tell(element, read.fault, read.message);
  return true;
}

/** Whether a price has an amount without a currency. An amount of 0 needs none. */
export function isOfNoCurrency(price: Element, tell: TellLoss): boolean {
  if (price.name !== "Price" || childValue(price, "CurrencyCode")) return false;
  const amount = childValue(price, "PriceAmount");
  if (amount === undefined || /^[+0.,]+$/.test(amount)) return false;
  tell(price, "required", "Price has no CurrencyCode", "CurrencyCode");
  return true;
}

/** Whether a region is included and excluded. */
export function isContradictory(territory: Element, tell: TellLoss): boolean {
  const codesOf = (name: string) => valueOf(child(territory, name))?.split(" ") ?? [];
  const included = new Set(codesOf("RegionsIncluded"));
  const both = codesOf("RegionsExcluded").find((code) => included.has(code));
  if (both === undefined) return false;
  const message = `${both} is in RegionsIncluded, too`;
  tell(child(territory, "RegionsExcluded")!, "contradictory", message);
  return true;
}

/** Whether a date has a role that limits what it stands in, or an unknown one. */
export function hasLimitingRole(
  date: Element,
  { role, limiting }: Period,
): boolean {
  const code = childValue(date, role);
  const { kind } = dataElement(role)!;
  return !limiting || code === undefined ||
    validValue(kind, code) === undefined || limiting.includes(code);
}

/** The roles of the first and the last day of a price (List 173), and of the span between. */
const FIRST_OR_LAST = ["14", "15"];
const SPAN_ROLE = "24";

/** Whether a period cannot be read. That of a price begins and ends on exact days. */
export function isPeriodLost(period: Element, tell: TellLoss): boolean {
  const role = childValue(period, "PriceDateRole");
  const read = dateIn(period);
  const [found] = childrenOf(period, "Date");
  if (!read || !found) return true;
  if ("fault" in read) {
    // A license or a text may have any date that ONIX can say: seasons, other calendars.
    if (role === undefined && read.fault !== "invalid_date") return false;
    tell(found, read.fault, read.message);
    return true;
  }
  const fault = faultOfPriceDate(role, read);
  if (fault) tell(found, ...fault);
  return fault !== undefined;
}

/** Why a date says no period of a price in this role, if it does not. */
function faultOfPriceDate(
  role: string | undefined,
  read: Exclude<ReadDate, { fault: string }>,
): [code: string, message: string] | undefined {
  if (role === SPAN_ROLE) {
    return "from" in read ? undefined : ["invalid_date", "Expected a span, as YYYYMMDDYYYYMMDD"];
  }
  if (!FIRST_OR_LAST.includes(role ?? "")) return;
  if ("from" in read) return ["invalid_date", "Expected one day, as YYYYMMDD"];
  return read.date.length < 10 ? ["imprecise_date", "Expected a day, as YYYYMMDD"] : undefined;
}
