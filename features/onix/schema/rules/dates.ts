/* Parses dates in the formats of ONIX (List 55). */

/** A parsed date: the first and the last day of a span, or else one date. */
export type ReadDate =
  | { date: string; reformatted?: true }
  | { from: string; to: string; reformatted?: true }
  | {
    fault: "invalid_date" | "imprecise_date" | "other_calendar";
    message: string;
  };

/** A format of List 55. */
interface Format {
  /** Its name in messages. */
  form?: string;
  /** Forms without an exact first and last day: weeks, quarters, seasons, words. */
  withoutDay?: RegExp;
  /** The first and the last day of what one end of a span names. */
  daysOf?: (end: string) => Days | undefined;
}

interface Days {
  from: string;
  to: string;
}

const FORMATS: Readonly<Record<string, Format>> = {
  "00": { form: "YYYYMMDD" },
  "01": { form: "YYYYMM" },
  "02": { form: "YYYYWW", withoutDay: /^\d{4}(?:0[1-9]|[1-4]\d|5[0-3])$/ },
  "03": { form: "YYYYQ", withoutDay: /^\d{4}[1-4]$/ },
  "04": { form: "YYYYS", withoutDay: /^\d{4}[1-4]$/ },
  "05": { form: "YYYY" },
  "06": { form: "YYYYMMDDYYYYMMDD", daysOf: dayOfDate },
  "07": { form: "YYYYMMYYYYMM", daysOf: (end) => months(end, 1) },
  "08": { form: "YYYYWWYYYYWW", daysOf: week },
  "09": { form: "YYYYQYYYYQ", daysOf: (end) => months(end, 3) },
  "10": { form: "YYYYSYYYYS", withoutDay: /^\d{4}[1-4]\d{4}[1-4]$/ },
  "11": { form: "YYYYYYYY", daysOf: (end) => months(`${end}1`, 12) },
  "12": { withoutDay: /\S/ },
  "13": { form: "YYYYMMDDThhmm" },
  "14": { form: "YYYYMMDDThhmmss" },
};

/** The formats of the Islamic calendar. */
const ISLAMIC = ["20", "21", "25", "32"];

/** Parses a date in a format. A date in another form is accepted if it is unambiguous. */
export function parseDate(text: string, format: string): ReadDate {
  if (ISLAMIC.includes(format)) {
    return {
      fault: "other_calendar",
      message: "A date of the Islamic calendar is kept in the record",
    };
  }
  const { form, withoutDay, daysOf } = FORMATS[format] ?? {};
  if (withoutDay?.test(text)) {
    return {
      fault: "imprecise_date",
      message: "A date without an exact day is kept in the record",
    };
  }
  const span = daysOf && parseSpan(text, form!.length / 2, daysOf);
  if (span) return span;
  const date = parsePlain(text);
  // Six digits are a month, unless they are to be a week.
  if (!date || daysOf || withoutDay && date.length < 10) {
    return {
      fault: "invalid_date",
      message: `Expected a date${form ? ` as ${form}` : ""}`,
    };
  }
  return FORMAT_BY_LENGTH[text.length] === format || isWithTime(text, format)
    ? { date }
    : { date, reformatted: true };
}

/** The format of a date without separators, by its length. */
export const FORMAT_BY_LENGTH: Readonly<Record<number, string>> = {
  4: "05",
  6: "01",
  8: "00",
};

function isWithTime(text: string, format: string): boolean {
  return text.includes("T") && ["00", "13", "14"].includes(format);
}

/** A date as `YYYY-MM-DD`, `YYYY-MM` or `YYYY`, with or without separators, and perhaps a time. */
function parsePlain(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})(?:(\d\d)(?:(\d\d)(?:T[\d:+-]+Z?)?)?)?$/.exec(text) ??
    /^(\d{4})-(\d\d)(?:-(\d\d)(?:T[\d:.+-]+Z?)?)?$/.exec(text) ?? [];
  const date = [year, month, day].filter(Boolean).join("-");
  return date !== "" && isDate(date) ? date : undefined;
}

function isDate(date: string): boolean {
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day);
  return time.getUTCMonth() === month - 1 && time.getUTCDate() === day;
}

function parseSpan(
  text: string,
  length: number,
  daysOf: (end: string) => Days | undefined,
): ReadDate | undefined {
  const [first, last] = endsOf(text, length).map(daysOf);
  if (!first || !last || first.from > last.to) return;
  return {
    from: first.from,
    to: last.to,
    ...text.length !== 2 * length && { reformatted: true },
  };
}

/** The two ends of a span without their separators, which may stand between them and in them. */
function endsOf(text: string, length: number): string[] {
  const bare = text.replace(/^(\d+)\D(\d+)$/, "$1$2")
    .replace(/^(\d{4}-\d\d-\d\d)\D+(\d{4}-\d\d-\d\d)$/, "$1$2")
    .replaceAll("-", "");
  return /^\d+$/.test(bare) && bare.length === 2 * length
    ? [bare.slice(0, length), bare.slice(length)]
    : [];
}

function dayOfDate(end: string): Days | undefined {
  const date = parsePlain(end);
  return date === undefined ? undefined : { from: date, to: date };
}

/**
 * The first and the last day of a period of `count` months. `end` is its year and, after that, its
 * number within the year.
 */
function months(end: string, count: number): Days | undefined {
  const [year, number] = [Number(end.slice(0, 4)), Number(end.slice(4))];
  if (number < 1 || number > 12 / count) return;
  return {
    from: dayOf(Date.UTC(year, count * (number - 1), 1)),
    to: dayOf(Date.UTC(year, count * number, 0)),
  };
}

/** A week of ISO 8601: the first one has 4 January in it. */
function week(end: string): Days | undefined {
  const [year, number] = [Number(end.slice(0, 4)), Number(end.slice(4))];
  if (number < 1 || number > 53) return;
  const fourth = new Date(Date.UTC(year, 0, 4));
  const monday = 4 - (fourth.getUTCDay() || 7) + 1 + 7 * (number - 1);
  return {
    from: dayOf(Date.UTC(year, 0, monday)),
    to: dayOf(Date.UTC(year, 0, monday + 6)),
  };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
