import { excerpt } from "../../../../schema/excerpt.ts";
import type { TypedCell } from "../cell.ts";

/* Formats of workbooks that show a number as something else, and days, which are such numbers. */

/** Formats that show a date or a time, by their numbers. Those of East Asia have no code in the file. */
const BUILT_IN = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]
  .concat([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58]));

/** Formats that show a hundredth as a percent. */
const PERCENTS = new Set([9, 10]);

/** What a format shows of a number, if it is not the number itself. */
export type Format = "day" | "percent";

/** What a format shows: a date or a time, or percents. `code` is that of a format of the file. */
export function formatOf(id: number, code: string | undefined): Format | undefined {
  if (code === undefined) {
    return BUILT_IN.has(id) ? "day" : PERCENTS.has(id) ? "percent" : undefined;
  }
  // Without texts, colours and conditions; `[h]` is a time.
  const bare = code.slice(0, 1_000).replace(/\\.|_.|\*./g, "").replace(/"[^"]*"?/g, "")
    .replace(/\[(?!(?:h+|m+|s+)\])[^\]]*\]?/gi, "").replace(/general/gi, "");
  return /[ymdhs]/i.test(bare) ? "day" : bare.includes("%") ? "percent" : undefined;
}

const DAY_MS = 86_400_000;

/**
 * Converts a serial number to a day. Numbers 1 to 59 are days as Excel shows them, since it counts
 * a 29 February 1900 as 60.
 */
export function cellOfSerial(serial: number, isFrom1904: boolean): TypedCell {
  const day = Math.floor(serial);
  const isDay = day >= 1 && day < 2_958_466 && (isFrom1904 || day !== 60);
  if (!isDay) {
    return serial >= 0 && serial < 1
      ? { kind: "time", text: "The cell" }
      : { kind: "error", text: `${serial} is the number of no day: enter the day again` };
  }
  const first = isFrom1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, day < 60 ? 31 : 30);
  const seconds = Math.round((serial - day) * 86_400);
  const text = new Date(first + day * DAY_MS + seconds * 1_000).toISOString().slice(0, 19);
  return dayOrTime(text);
}

/** The cell of a day as ISO 8601 writes it. */
export function dayOrTime(text: string): TypedCell {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(?:T(.*))?$/.exec(text) ?? [];
  if (!day) return { kind: "error", text: `${excerpt(text, 40)} is no day: enter it again` };
  return /^(?:00:00(?::00(?:\.0+)?)?)?$/.test(time ?? "")
    ? { kind: "day", text: day }
    : { kind: "time", text };
}
