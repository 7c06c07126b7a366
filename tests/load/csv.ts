/** The fields of one row. */
export type Row = string[];

/** A field in quotes, in which a quote is written twice; or one without; and what ends it. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;

/**
 * The rows of comma-separated values (RFC 4180), in any of the three ways to
 * end a line. Throws where a quote stands that may not.
 */
export function rowsOf(text: string): Row[] {
  const rows: Row[] = [];
  let row: Row = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  while (at < text.length) {
    FIELD.lastIndex = at;
    const field = FIELD.exec(text);
    if (!field) {
      throw new SyntaxError(
        `Row ${rows.length + 1}: unexpected quote in field ${row.length + 1}`,
      );
    }
    const [, quoted, bare = "", end] = field;
    row.push(quoted?.replaceAll('""', '"') ?? bare);
    at = FIELD.lastIndex;
    if (end !== "," || at === text.length) {
      if (end === ",") row.push("");
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

/**
 * The rows after the first, by the names that are in the first. Throws where a
 * row has more or fewer fields than there are names.
 */
export function recordsOf(text: string): Record<string, string>[] {
  const [names = [], ...rows] = rowsOf(text);
  return rows.map((row, i) => {
    if (row.length !== names.length) {
      throw new SyntaxError(
        `Row ${i + 2}: found ${row.length} fields, expected ${names.length}`,
      );
    }
    return Object.fromEntries(names.map((name, n) => [name, row[n]!]));
  });
}
