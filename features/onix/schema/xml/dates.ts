import { FORMAT_BY_LENGTH, parseDate, type ReadDate } from "../rules/dates.ts";
import { child, childValue, type Element, element, removeChildren, valueOf } from "./element.ts";

/** Parses the `Date` of a composite such as `PublishingDate`. Undefined without one. */
export function dateIn(composite: Element): ReadDate | undefined {
  const found = child(composite, "Date");
  const text = valueOf(found);
  if (!found || text === undefined) return;
  const format = childValue(composite, "DateFormat") ??
    found.attributes.dateformat?.trim() ?? "00";
  return parseDate(text, format);
}

/** The dates without a composite of their own. */
const BARE_DATES = ["StartDate", "EndDate"];

/** Whether the element is a date without a composite of its own. */
export function isBareDate(name: string): boolean {
  return BARE_DATES.includes(name);
}

/** Parses a date without a composite of its own. */
export function bareDateIn(found: Element): ReadDate {
  return parseDate(
    valueOf(found) ?? "",
    found.attributes.dateformat?.trim() ?? "00",
  );
}

/** Makes a date element, in the format for its known parts. */
export function dateElement(name: string, date: string): Element {
  const digits = date.replaceAll("-", "");
  const format = FORMAT_BY_LENGTH[digits.length]!;
  return element(name, digits, format === "00" ? {} : { dateformat: format });
}

/** Gives a composite this date. */
export function writeDate(composite: Element, date: string): void {
  removeChildren(composite, "DateFormat");
  const written = dateElement("Date", date);
  const known = child(composite, "Date");
  if (known) {
    Object.assign(known, { text: written.text, attributes: written.attributes, markup: undefined });
  } else {
    composite.children.push(written);
  }
}
