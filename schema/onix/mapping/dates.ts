import { child, type Element, valueOf } from "../xml/element.ts";

/** A date as the API writes it, of which the day, or the month and day, may be absent. */
const ISO_DATE = /^\d{4}(?:-\d\d(?:-\d\d)?)?$/;

/** The formats of List 55 that dates of the API have, by their lengths. */
const FORMATS: Readonly<Record<number, string>> = { 4: "05", 6: "01", 8: "00" };

/**
 * The date in a composite such as `PublishingDate`, as `YYYY-MM-DD`, `YYYY-MM` or `YYYY`.
 * A text that is none of these is returned as it is.
 */
export function readDate(composite: Element): string | undefined {
  const date = valueOf(child(composite, "Date"));
  if (date === undefined || ISO_DATE.test(date)) return date;
  const [, year, month, day] =
    /^(\d{4})(?:(\d\d)(\d\d)?)?(?:T[\d+-]+Z?)?$/.exec(date) ??
      [];
  if (!year || date.includes("T") && !day) return date;
  return [year, month, day].filter(Boolean).join("-");
}

/** Writes a date in the format that says how much of it is known. */
export function writeDate(composite: Element, date: string): void {
  const digits = date.replaceAll("-", "");
  const format = FORMATS[digits.length]!;
  composite.children = composite.children.filter(({ name }) =>
    name !== "DateFormat"
  );
  const attributes: Record<string, string> = format === "00"
    ? {}
    : { dateformat: format };
  const known = child(composite, "Date");
  if (known) {
    Object.assign(known, { text: digits, attributes, markup: undefined });
  } else {
    composite.children.push({
      name: "Date",
      attributes,
      children: [],
      text: digits,
    });
  }
}
