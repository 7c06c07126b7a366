import type { ReadDate } from "../rules/dates.ts";
import { isZero } from "../rules/decimals.ts";
import { dataElement } from "../rules/facts.ts";
import {
  codesOfKind,
  expectedCodes,
  expectedNumber,
  validValue,
  wrongCodes,
} from "../rules/kinds.ts";
import type { Period } from "../rules/limits.ts";
import { bareDateIn, dateIn, isBareDate } from "../xml/dates.ts";
import { child, childValue, type Element, valueOf } from "../xml/element.ts";
import { type Loss, NO_LOSSES } from "./losses.ts";

/*
 * Finds the loss of a single value that limits its composite. In: an element. Out: the loss if its
 * value cannot be read, or none.
 */

/** Finds the loss of a data element, such as an unknown code. */
export function lossOfValue(element: Element): readonly Loss[] {
  const value = valueOf(element);
  const kind = dataElement(element.name)?.kind;
  if (value === undefined || kind === undefined) return NO_LOSSES;
  if (isBareDate(element.name)) return lossOfDay(element);
  const valid = validValue(kind, value);
  if (valid === value) return NO_LOSSES;
  if (codesOfKind(kind)) {
    const message = expectedCodes(kind, wrongCodes(kind, value));
    return [{ element, code: "invalid_code", message }];
  }
  return valid === undefined
    ? [{ element, code: "invalid_number", message: expectedNumber(kind) }]
    : NO_LOSSES;
}

function lossOfDay(element: Element): readonly Loss[] {
  const read = bareDateIn(element);
  return "fault" in read && read.fault === "invalid_date"
    ? [{ element, code: read.fault, message: read.message }]
    : NO_LOSSES;
}

/** Finds the loss of a price with an amount and without a currency. An amount of 0 needs none. */
export function lossOfCurrency(price: Element): readonly Loss[] {
  if (price.name !== "Price" || childValue(price, "CurrencyCode")) return NO_LOSSES;
  const amount = childValue(price, "PriceAmount");
  if (amount === undefined || isZero(amount)) return NO_LOSSES;
  const missing = "CurrencyCode";
  return [{ element: price, code: "required", message: `Price has no ${missing}`, missing }];
}

/** Finds the loss of a territory that includes and excludes the same region. */
export function lossOfContradiction(territory: Element): readonly Loss[] {
  const codesOf = (name: string) => valueOf(child(territory, name))?.split(" ") ?? [];
  const included = new Set(codesOf("RegionsIncluded"));
  const both = codesOf("RegionsExcluded").find((code) => included.has(code));
  if (both === undefined) return NO_LOSSES;
  const element = child(territory, "RegionsExcluded")!;
  return [{ element, code: "contradictory", message: `${both} is in RegionsIncluded, too` }];
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

/** Finds the loss of a period that cannot be read. The period of a price begins and ends on exact days. */
export function lossOfPeriod(period: Element): readonly Loss[] {
  const role = childValue(period, "PriceDateRole");
  const read = dateIn(period);
  const element = child(period, "Date");
  if (!read || !element) return [{ element: period }];
  if ("fault" in read) {
    // A license or a text may have any date of ONIX: seasons, other calendars.
    const isReadElsewhere = role === undefined && read.fault !== "invalid_date";
    return isReadElsewhere ? NO_LOSSES : [{ element, code: read.fault, message: read.message }];
  }
  const [code, message] = faultOfPriceDate(role, read) ?? [];
  return message === undefined ? NO_LOSSES : [{ element, code: code!, message }];
}

/** Finds why a date is no period of a price in this role. */
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
