import * as v from "valibot";
import { Day } from "./values.ts";

/**
 * A time with an offset, or a day, which means midnight UTC (ISO 8601), in the
 * years 0001 to 9999. The output is a time in UTC.
 */
export const DateTime = v.pipe(
  v.string("invalid_type: Expected a time as a string"),
  v.check(
    isDateTime,
    "invalid_time: Expected a day such as 2027-01-31, or a time with its offset such as 2027-01-31T12:00:00Z",
  ),
  v.transform((text) => new Date(text.toUpperCase()).toISOString()),
);

/** RFC 3339, 5.6. It also allows `t` and `z`. */
const DATE_TIME = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/i;

/** Whether the text is such a day or time. */
function isDateTime(text: string): boolean {
  const day = DATE_TIME.exec(text)?.[1];
  const date = new Date(text.toUpperCase());
  if (!v.is(Day, day) || Number.isNaN(date.valueOf())) return false;
  // An offset can move the time out of the years 0001 to 9999.
  return /^(?!0000)\d{4}-/.test(date.toISOString());
}

/** Whether a time that `DateTime` has accepted is in the future. */
export function isFuture(time: string): boolean {
  return Date.parse(time) > Date.now();
}
