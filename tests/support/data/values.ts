/** The values that a field accepts, with their stored form, and those that it rejects, with error codes. */
export interface Values {
  takes: [sent: unknown, stored: unknown][];
  refuses: [sent: unknown, code: string][];
}

/** The same values, plus null. */
export function nullable({ takes, refuses }: Values): Values {
  return { takes: [...takes, [null, null]], refuses };
}

/** The same values, with null rejected. */
export function required(
  { takes, refuses }: Values,
  code = "invalid_type",
): Values {
  return { takes, refuses: [...refuses, [null, code]] };
}

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
      'O\'Reilly \\ "x" %s $1 {} </script>',
      "null",
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
  return required({
    takes: takes.filter(([sent]) => sent !== ""),
    refuses: [...refuses, ...each("blank", "", " \t\n\u00a0\u3000")],
  });
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
      ...["NaN", "Infinity", "1000000000000", "١"],
      ...["1e400", "-1e400", "1e-400", "9.990000000000000001"]
        .map(JSON.rawJSON),
    ),
  ],
};

export const PERCENT: Values = {
  takes: same(0, 5.5, 19, 100, 99.9999),
  refuses: [
    ...each("invalid_percent", 100.0001, 101, "101"),
    ...AMOUNT.refuses.map(([sent, code]) =>
      [sent, code.replace("amount", "percent")] as [unknown, string]
    ),
  ],
};

/** Bodies with one value of every field each, in the order of the values. */
export function* rounds<K extends keyof Values>(
  fields: Record<string, Values>,
  kind: K,
): Generator<{ sent: object; outcome: Record<string, Values[K][number][1]> }> {
  const most = Math.max(
    ...Object.values(fields).map((values) => values[kind].length),
  );
  for (let i = 0; i < most; i++) {
    const given = Object.entries(fields).flatMap(
      ([field, { [kind]: values }]) => {
        const value = values[i];
        return value ? [[field, ...value] as const] : [];
      },
    );
    yield {
      sent: Object.fromEntries(given.map(([field, sent]) => [field, sent])),
      outcome: Object.fromEntries(
        given.map(([field, , outcome]) => [field, outcome]),
      ),
    };
  }
}

/** Values that are stored as sent. */
export function same(...values: unknown[]): [unknown, unknown][] {
  return values.map((value) => [value, value]);
}

/** Values that are rejected with the code. */
export function each(code: string, ...values: unknown[]): [unknown, string][] {
  return values.map((value) => [value, code]);
}
