/*
 * Dates as ONIX writes them, in the formats of List 55.
 */

/** What a text says in a format: the first and the last day of a span, or else one date. */
export type ReadDate =
  | { date: string; reformatted?: true }
  | { from: string; to: string; reformatted?: true }
  | {
    fault: "invalid_date" | "imprecise_date" | "other_calendar";
    message: string;
  };

/** The formats, as messages name them. */
const FORMS: Readonly<Record<string, string>> = {
  "00": "YYYYMMDD",
  "01": "YYYYMM",
  "02": "YYYYWW",
  "03": "YYYYQ",
  "04": "YYYYS",
  "05": "YYYY",
  "06": "YYYYMMDDYYYYMMDD",
  "07": "YYYYMMYYYYMM",
  "08": "YYYYWWYYYYWW",
  "09": "YYYYQYYYYQ",
  "10": "YYYYSYYYYS",
  "11": "YYYYYYYY",
  "13": "YYYYMMDDThhmm",
  "14": "YYYYMMDDThhmmss",
};

/** The formats of the Islamic calendar. */
const ISLAMIC = ["20", "21", "25", "32"];

/** The formats of what begins and ends on no certain day: weeks, quarters, seasons, words. */
const WITHOUT_DAYS: Readonly<Record<string, RegExp>> = {
  "02": /^\d{4}(?:0[1-9]|[1-4]\d|5[0-3])$/,
  "03": /^\d{4}[1-4]$/,
  "04": /^\d{4}[1-4]$/,
  "10": /^\d{4}[1-4]\d{4}[1-4]$/,
  "12": /\S/,
};

/** The formats of spans, by the length of each of their ends. Seasons begin on no certain day. */
const SPANS: Readonly<Record<string, number>> = {
  "06": 8,
  "07": 6,
  "08": 6,
  "09": 5,
  "11": 4,
};

/** Reads a date of a format. A date of another form is read where it can mean one thing only. */
export function parseDate(text: string, format: string): ReadDate {
  if (ISLAMIC.includes(format)) {
    return {
      fault: "other_calendar",
      message: "A date of the Islamic calendar is kept in the record",
    };
  }
  const withoutDay = WITHOUT_DAYS[format];
  if (withoutDay?.test(text)) {
    return {
      fault: "imprecise_date",
      message: "A date of no certain day is kept in the record",
    };
  }
  const length = SPANS[format];
  const span = length ? parseSpan(text, format, length) : undefined;
  if (span) return span;
  const date = parsePlain(text);
  // Six digits are a month, unless they are to be a week.
  if (!date || length || withoutDay && date.length < 10) {
    const form = FORMS[format];
    return {
      fault: "invalid_date",
      message: `Expected a date${form ? ` as ${form}` : ""}`,
    };
  }
  return FORMATS_OF_DATES[text.length] === format || isWithTime(text, format)
    ? { date }
    : { date, reformatted: true };
}

/** The format of a date without signs, by its length. */
export const FORMATS_OF_DATES: Readonly<Record<number, string>> = {
  4: "05",
  6: "01",
  8: "00",
};

function isWithTime(text: string, format: string): boolean {
  return text.includes("T") && ["00", "13", "14"].includes(format);
}

/** A date as `YYYY-MM-DD`, `YYYY-MM` or `YYYY`, with or without signs, and perhaps a time. */
function parsePlain(text: string): string | undefined {
  const [, year, month, day] =
    /^(\d{4})(?:(\d\d)(?:(\d\d)(?:T[\d:+-]+Z?)?)?)?$/.exec(text) ??
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
  format: string,
  length: number,
): ReadDate | undefined {
  const ends = endsOf(text, length);
  if (!ends) return;
  const [first, last] = ends.map((end) => daysOf(end, format));
  if (!first || !last || first.from > last.to) return;
  return {
    from: first.from,
    to: last.to,
    ...text.length !== 2 * length && { reformatted: true },
  };
}

/** The ends of a span without signs, which may have one between them, and in them. */
function endsOf(text: string, length: number): string[] | undefined {
  const bare = text.replace(/^(\d+)\D(\d+)$/, "$1$2")
    .replace(/^(\d{4}-\d\d-\d\d)\D+(\d{4}-\d\d-\d\d)$/, "$1$2")
    .replaceAll("-", "");
  return /^\d+$/.test(bare) && bare.length === 2 * length
    ? [bare.slice(0, length), bare.slice(length)]
    : undefined;
}

/** The first and the last day of what one end of a span names. */
function daysOf(
  end: string,
  format: string,
): { from: string; to: string } | undefined {
  const year = Number(end.slice(0, 4));
  const rest = Number(end.slice(4));
  switch (format) {
    case "06": {
      const date = parsePlain(end);
      return date === undefined ? undefined : { from: date, to: date };
    }
    case "07":
      return rest >= 1 && rest <= 12 ? months(year, rest - 1, 1) : undefined;
    case "08":
      return rest >= 1 && rest <= 53 ? week(year, rest) : undefined;
    case "09":
      return rest >= 1 && rest <= 4
        ? months(year, 3 * (rest - 1), 3)
        : undefined;
    default:
      return months(year, 0, 12);
  }
}

function months(year: number, first: number, count: number) {
  return {
    from: dayOf(Date.UTC(year, first, 1)),
    to: dayOf(Date.UTC(year, first + count, 0)),
  };
}

/** A week of ISO 8601: the first one has 4 January in it. */
function week(year: number, number: number) {
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
