const OPENINGS = ["", "'", "\\'", '"', "')", "$$", "*/"];

const STATEMENTS = [
  "OR 1=1",
  "OR ''='",
  "UNION SELECT NULL, version()",
  "; DROP TABLE products CASCADE",
  "; UPDATE products SET title = 'owned'",
  "|| (SELECT pg_sleep(30)) ||",
  "AND 1 = CAST(version() AS int)",
];

const ENDINGS = ["", " --", ";", " /*", "'"];

const ODD = [
  "null",
  "undefined",
  "NaN",
  "-1",
  "1e400",
  "0x7fffffff",
  "true",
  "[]",
  "{}",
  '{"$gt":""}',
  "[object Object]",
  "__proto__",
  "constructor.prototype",
  "../../../../etc/passwd",
  "C:\\boot.ini",
  "%00",
  "%27%20or%201=1",
  "${7*7}",
  "{{7*7}}",
  "#{7*7}",
  "<script>alert(1)</script>",
  "javascript:alert(1)",
  "=cmd|' /C calc'!A0",
  "() { :; }; echo x",
  "$(sleep 30)",
  "`sleep 30`",
  "| sleep 30",
  "%s%n%x",
  "$1",
  "$100",
  ":name",
  "?",
  "@@version",
  "\\x27",
  "\\u0027",
  "\u02bc or 1=1",
  "\uff07 or 1=1",
  "\u2019 or 1=1",
  "\u202e1=1 ro",
  "\u0001\u0002\u001f\u007f\u0080\u009f",
  "a\r\nx-injected: 1\r\n\r\n<html>",
  "\ufeff\ufffe\uffff",
  "\u{1f4d6}\u{10ffff}",
  "e\u0301".repeat(50),
  "\u0301".repeat(100),
  "ﷺ".repeat(100),
  "(".repeat(200),
  "\\".repeat(200),
  "%".repeat(200),
  "_".repeat(200),
];

/** Strings that break programs: SQL injection and unusual characters. */
export const HOSTILE: readonly string[] = [
  ...OPENINGS.flatMap((opening) =>
    STATEMENTS.flatMap((statement) =>
      ENDINGS.map((ending) => `${opening} ${statement}${ending}`.trim())
    )
  ),
  ...ODD,
];
