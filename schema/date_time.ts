import * as v from "valibot";
import { Day } from "./values.ts";

/**
 * A time with its offset, or a day, which stands for its first moment in UTC
 * (ISO 8601), of the years 0001 to 9999. Read as a time in UTC.
 */
export const DateTime = v.pipe(
  v.string("invalid_type: Expected a time as a string"),
  v.check(
    isDateTime,
    "invalid_time: Expected a day such as 2027-01-31, or a time with its offset such as 2027-01-31T12:00:00Z",
  ),
  v.transform((text) => new Date(text).toISOString()),
);

const FORM =
  /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

function isDateTime(text: string): boolean {
  const day = FORM.exec(text)?.[1];
  const date = new Date(text);
  if (!v.is(Day, day) || Number.isNaN(date.valueOf())) return false;
  // An offset can lead to a year that has not four digits.
  return /^(?!0000)\d{4}-/.test(date.toISOString());
}
