/**
 * The values that a field accepts, with their stored form, and those that it rejects,
 * with error codes. If a part of a value is at fault, its pointer follows the code.
 */
export interface Values {
  takes: [sent: unknown, stored: unknown][];
  refuses: [sent: unknown, code: string, part?: string][];
  /** The code of null where it is rejected. Default: `invalid_type`. */
  ifNull?: string;
  /** Whether entries have the field although it is not required: a rule asks for it, so null is not sent. */
  isGiven?: true;
}

/** What a field holds depends on others: it has tests of its own. */
export const BY_RULE: Values = { takes: [], refuses: [] };

/** The same values in a field that a rule asks for. */
export function given(values: Values): Values {
  const takes = values.takes.filter(([sent]) =>
    sent !== null && (sent as string | unknown[]).length !== 0
  );
  return { ...values, takes, isGiven: true };
}

/** The same values, plus null. */
export function nullable(values: Values): Values {
  if (values.isGiven) return values;
  return { ...values, takes: [...values.takes, [null, null]] };
}

/** The same values, with null rejected unless they have it. */
export function required(values: Values): Values {
  const { takes, refuses, ifNull = "invalid_type" } = values;
  if (takes.some(([sent]) => sent === null)) return values;
  return { ...values, refuses: [...refuses, [null, ifNull]] };
}

/** A value of every field that accepts text, and of no other. */
export const ANY_TEXT = 'O\'Reilly \\ "x" %s $1 {} </script>';

/** Text of at most `max` code points, stored byte for byte. */
export function text(max: number): Values {
  return {
    takes: same(
      "",
      " Emma ",
      "Ema\u0301 and Em\u00e1",
      "👩‍👩‍👧 Family",
      "\u202eammE\u2066",
      "line\u2028separator\u2029and \u0001\u001f\u007f",
      "\ufffe\uffff\u{1ffff}\ufeff",
      ANY_TEXT,
      "null",
      "\u200b İıſß \u1e9b\u0323",
      "\\u0000 \\ ${x}",
      "\u{10ffff}".repeat(Math.min(max, 500)),
      "x".repeat(max),
      "😀".repeat(max),
    ),
    refuses: [
      ...NOT_A_STRING,
      ...each("too_long", "x".repeat(max + 1), "😀".repeat(max + 1)),
      ...each("invalid_character", "a\0b", "a\ud800b", "\udc00\ud800"),
    ],
  };
}

/** Text with at least one character that is not white space. */
export function heading(max: number): Values {
  const { takes, refuses } = text(max);
  return {
    takes: takes.filter(([sent]) => sent !== ""),
    refuses: [...refuses, ...each("blank", "", " \t\n\u00a0\u3000")],
  };
}

/** One of the values, case-sensitive. */
export function oneOf(...values: string[]): Values {
  const others = values.flatMap((value) => [value.toUpperCase(), `${value} `]);
  return {
    takes: same(...values),
    refuses: each(
      "invalid_value",
      ...others,
      ...["", "toString", "__proto__", 0, [], [values[0]], {}],
    ),
    ifNull: "invalid_value",
  };
}

/** A code of an ONIX list. */
export function code(...codes: string[]): Values {
  return {
    takes: same(...codes),
    refuses: each(
      "invalid_code",
      ...["", "ZZ", "3", `${codes[0]} `, `${codes[0]}\0`, "\ud800"],
      ...[3, true, [], {}],
    ),
    ifNull: "invalid_code",
  };
}

/** An array of known codes of an ONIX list. */
export function codes(unknown: string, ...known: string[]): Values {
  return {
    takes: same([], known),
    refuses: [
      ...each("invalid_type", "GB", 0, {}),
      [[unknown], "invalid_code", "/0"],
      [[...known, 7], "invalid_code", `/${known.length}`],
      [[...known, null], "invalid_code", `/${known.length}`],
      [[...known, known[0]], "duplicate", `/${known.length}`],
      [Array(501).fill(known[0]), "too_many"],
    ],
  };
}

/** An array of values of which there is at least one, at most `max`, or each at most once. */
export function list(
  { takes, refuses, ifNull = "invalid_type" }: Values,
  { isRequired = false, max = 500, isDistinct = false } = {},
): Values {
  const known = takes.map(([sent]) => sent).filter((sent) => sent !== null);
  const [first] = known;
  const [[wrong, code]] = refuses as [[unknown, string]];
  const many = (count: number) => Array.from({ length: count }, (_, i) => known[i % known.length]);
  return {
    takes: [
      ...same([first], known),
      ...isRequired ? [] : same([]),
      ...isDistinct ? [] : same([first, first], many(max)),
    ],
    refuses: [
      ...each("invalid_type", first, 0, {}),
      [[wrong], code, "/0"],
      [[first, null], ifNull, "/1"],
      [many(max + 1), "too_many"],
      ...isRequired ? each("too_few", []) : [],
      ...isDistinct ? [[[first, first], "duplicate", "/1"] as Values["refuses"][number]] : [],
    ],
  };
}

const NOT_A_STRING = each("invalid_type", 0, true, [], {}, ["x"]);

export const UUID: Values = {
  takes: [],
  refuses: [
    ...NOT_A_STRING,
    ...each(
      "invalid_uuid",
      "",
      "x",
      "{0190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d20}",
      "0190f5a47c1e7b3a9d2f5e8c4b6a1d20",
      "0190-f5a47c1e-7b3a-9d2f-5e8c4b6a1d20",
      "urn:uuid:0190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d20",
      "0190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d201",
      "0190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d20\n",
      "০190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d20",
    ),
  ],
};

export const DAY: Values = {
  takes: same("0001-01-01", "2024-02-29", "2000-02-29", "9999-12-31"),
  refuses: [
    ...NOT_A_STRING,
    ...each(
      "invalid_date",
      "",
      "2024-02-30",
      "2023-02-29",
      "1900-02-29",
      "2024-13-01",
      "2024-01-00",
      "0000-01-01",
      "10000-01-01",
      "-0001-01-01",
      "2024-1-5",
      "20240105",
      "infinity",
      "now",
      "2024-01-05T00:00Z",
      "2024-01-05 BC",
      " 2024-01-05",
      "2024-01-05\n",
    ),
  ],
};

/** A date whose day, or month and day, may be unknown. */
export const PARTIAL_DATE: Values = {
  takes: [...DAY.takes, ...same("0001", "9999", "2024-02", "9999-12")],
  refuses: [
    ...DAY.refuses,
    ...each(
      "invalid_date",
      ...["0000", "999", "99999", "2024-", "2024-1", "2024-00", "2024-13"],
      ...["2024-02-", "202402", "2024\n", "2024-02\n", "२०२४"],
    ),
  ],
};

export const GTIN: Values = {
  // The weights of the second one cannot be exchanged.
  takes: same("10614141543219", "4006381333931", "614141999996", "96385074"),
  refuses: [
    ...NOT_A_STRING,
    ...each(
      "invalid_gtin",
      ...["", "10614141543218", "9780306406158", "614141999997", "96385075"],
      ...["1", "963850741", "96385074 ", "9638-5074", "٩٦٣٨٥٠٧٤"],
      // The check digit is right, and the length is not.
      ...["9638501", "963850742", "96385074002", "106141415432192"],
    ),
  ],
};

export const HTTP_URL: Values = {
  takes: same(
    "http://a",
    "HTTPS://Covers.Example:8443/%C3%84/%20?q=1&r=/?#x/?",
    "http://user:secret@covers.example/",
    "http://169.254.169.254/latest",
    "http://[::1]:80/!$&'()*+,;=:@~",
    "http://caf%C3%A9.example",
    "https://covers.example/".padEnd(2000, "x"),
  ),
  refuses: [
    ...NOT_A_STRING,
    ...each("too_long", "https://covers.example/".padEnd(2001, "x")),
    ...each(
      "invalid_url",
      "",
      "/cover.jpg",
      "covers.example/a.jpg",
      "//covers.example/a.jpg",
      "javascript:alert(1)",
      "data:image/png;base64,AA==",
      "file:///etc/passwd",
      "http://a b",
      "http:\\\\covers.example",
      "https://",
      "http://[",
      "http://a/%",
      "http://a/%4",
      "http://a/%zz",
      "http://a/b c",
      "http://a/<b>",
      "http://a/{b}|c^d`e",
      'http://a/"b"',
      "http://a/b\\c",
      "http://a/[b]",
      "http://a/#b#c",
      "http://a/ä",
      "http://a:99999/",
      "http://a/b\n",
      " http://a/b",
    ),
  ],
};

export const ISBN13: Values = {
  takes: [
    ["9780306406157", "9780306406157"],
    ["978-0-306-40615-7", "9780306406157"],
    [" 979 10 90636 07 1 ", "9791090636071"],
    ["978\u20100\u2011306\u201240615\u20137", "9780306406157"],
    ["978\u20140\u2015306\u221240615-7", "9780306406157"],
  ],
  refuses: [
    ...each("invalid_type", 9780306406157, [], {}),
    ...each(
      "invalid_isbn13",
      "",
      "9780306406158",
      "978030640615",
      "97803064061577",
      "9790306406156",
      "9770306406150",
      "978030640615X",
      "978_0_306_40615_7",
      "0306406152",
      "９780306406157",
    ),
  ],
};

export const ISBN10: Values = {
  takes: [
    ["0306406152", "0306406152"],
    ["0-306-40615-2", "0306406152"],
    ["0 8044 2957 x", "080442957X"],
  ],
  refuses: [
    ...each("invalid_type", 306406152, [], {}),
    ...each(
      "invalid_isbn10",
      "",
      "0306406153",
      "030640615",
      "03064061522",
      "X306406152",
      "08044X957X",
      "9780306406157",
    ),
  ],
};

export const COUNT: Values = {
  takes: [
    ...same(1, 2_147_483_647),
    [JSON.rawJSON("1.2e1"), 12],
    [JSON.rawJSON("12.00000000000000000"), 12],
    ["12", 12],
    ["12.00", 12],
  ],
  refuses: [
    ...each("invalid_type", true, [], {}, [1]),
    ...each("out_of_range", "", "012", "12.5", " 12", "1e1", "2147483648"),
    ...each("out_of_range", 0, -1, 1.5, 2_147_483_648, 1e18),
    ...each("out_of_range", JSON.rawJSON("-0")),
    ...each(
      "out_of_range",
      ...["1e400", "1.00000000000000000001", "12345678901234567890"]
        .map(JSON.rawJSON),
    ),
  ],
};

export const CURRENCY: Values = {
  takes: same("GBP", "EUR", "JPY"),
  refuses: each("invalid_code", "usd", "US", "USDX", "XXX", "", 840, [], {}),
  ifNull: "invalid_code",
};

/** True or false. */
export const FLAG: Values = {
  takes: same(true, false),
  refuses: each("invalid_type", "true", 1, [], {}),
};

/** The value of a custom field. */
export const SCALAR: Values = {
  takes: [
    ...text(2000).takes,
    ...same(true, false, null),
    ...same(0, -1, 0.1, -12.5, 1e-7, 1e21, 2 ** 53),
    [JSON.rawJSON("-0.0"), 0],
  ],
  refuses: [
    ...each("invalid_type", [], {}, ["x"]),
    ...text(2000).refuses.filter(([sent]) => typeof sent === "string"),
    ...each(
      // PostgreSQL would change them, or cannot store them.
      "inexact_number",
      ...["1e400", "-1e400", "1e-400", "1.0000000000000000001e1"]
        .concat("12345678901234567e-1", "1".repeat(101), `0.${"1".repeat(101)}`)
        .map(JSON.rawJSON),
    ),
  ],
};

export const YEAR: Values = {
  takes: same("0000", "1816", "9999"),
  refuses: [
    ...each("invalid_type", 1816, [], {}),
    ...each("invalid_year", "", "816", "18160", "1816\n", "१८१६"),
  ],
};

/** Codes of ONIX List 154. */
export const AUDIENCES: Values = {
  takes: same([], ["00"], ["02", "10", "02"]),
  refuses: [
    ...each("invalid_type", "00", 0, {}),
    [["00", "99"], "invalid_code", "/1"],
    [["00", null], "invalid_code", "/1"],
    [Array(51).fill("00"), "too_many"],
  ],
};

/** An amount: exact, or rejected. */
export const AMOUNT: Values = {
  takes: [
    ...same(0, 0.1, 9.99, 1e3, 0.0001, 999999999999.9999),
    ["0", 0],
    ["12.50", 12.5],
    ["-0", 0],
    ["-0.00", 0],
    [JSON.rawJSON("-0"), 0],
    [JSON.rawJSON("-0.0e5"), 0],
    ["999999999999.9999", 999999999999.9999],
    [JSON.rawJSON("1.20e1"), 12],
    [JSON.rawJSON("9.9900000000000000000"), 9.99],
  ],
  refuses: [
    ...each("invalid_type", true, [], {}, ["1"]),
    ...each(
      "invalid_amount",
      ...[-1, 1e12, 0.00001, 1e21],
      ...["-1", "+1", "01", "1.", ".5", "1e3", "1,5", " 1", "", "1.23456"],
      ...["NaN", "Infinity", "1000000000000", "١", "１"],
      ...["1e400", "-1e400", "1e-400", "9.990000000000000001"]
        .concat("0.10000000000000000001", "999999999999.99999")
        .map(JSON.rawJSON),
    ),
  ],
};

/** More than 0, and as exact as an amount. */
export const MEASUREMENT: Values = {
  takes: AMOUNT.takes.filter(([, stored]) => stored !== 0),
  refuses: [
    ...AMOUNT.refuses.map(([sent, code]) =>
      [sent, code.replace("amount", "measurement")] as [unknown, string]
    ),
    ...each("invalid_measurement", 0, "0", "-0", "0.0000", JSON.rawJSON("-0")),
  ],
};

/** A measurement, or a duration that has leading zeros. */
export const EXTENT_VALUE: Values = {
  takes: [...MEASUREMENT.takes, ["00730", 730], ["0000100", 100]],
  refuses: [
    ...MEASUREMENT.refuses.filter(([sent]) => sent !== "01"),
    ...each("invalid_measurement", "0000", "-01", "01234567890123"),
  ],
};

export const PERCENT: Values = {
  takes: [...same(0, 5.5, 19, 100, 99.9999), ["5.5", 5.5]],
  refuses: [
    ...each("invalid_percent", 100.0001, 101, "101", 5.55555),
    ...AMOUNT.refuses.map(([sent, code]) =>
      [sent, code.replace("amount", "percent")] as [unknown, string]
    ),
  ],
};

/** Values that are stored as sent. */
export function same(...values: unknown[]): [unknown, unknown][] {
  return values.map((value) => [value, value]);
}

/** Values that are rejected with the code. */
export function each(code: string, ...values: unknown[]): [unknown, string][] {
  return values.map((value) => [value, code]);
}
