/** The fields of one row. */
export type Row = string[];

/** A quoted field, with quotes doubled, or an unquoted field; then its delimiter. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;

/**
 * The rows of comma-separated values (RFC 4180), with any line ending. Throws for a
 * misplaced quote.
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
 * The rows after the header, as objects with its names as keys. Throws if a row has
 * more or fewer fields than the header.
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
