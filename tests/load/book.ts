import { isbn10CheckDigit, isbn13CheckDigit } from "../../schema/values.ts";

/** A book of goodbooks-10k, with the names of its records. */
export interface Book {
  product: {
    title: string;
    isbn13?: string;
    isbn10?: string;
    publication_date?: string;
    cover_image_url: string;
  };
  authors: string[];
  series: string | undefined;
}

/** A quoted field, with quotes doubled, or an unquoted field; then its delimiter (RFC 4180). */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Such as `Emma (Novels of Highbury, #1)`. The name can contain commas and parentheses. */
const SERIES = /^(.*\S)\s*\(((?:[^()#]|\([^()]*\))*?),?\s*#[^()]*\)\s*$/;

/** The books of the file. Throws if a row has not the fields of the first one. */
export function booksOf(csv: string): Book[] {
  const [names = [], ...rows] = rowsOf(csv);
  return rows.map((row, i) => {
    if (row.length !== names.length) {
      throw new SyntaxError(`Row ${i + 2} has ${row.length} fields`);
    }
    return bookOf(Object.fromEntries(names.map((name, n) => [name, row[n]!])));
  });
}

function rowsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length; at = FIELD.lastIndex) {
    FIELD.lastIndex = at;
    const [, quoted, bare = "", end] = FIELD.exec(text) ?? [];
    if (end === undefined) {
      throw new SyntaxError(`Row ${rows.length + 1}: unexpected quote`);
    }
    row.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

/**
 * Reads one row of goodbooks-10k. Its ISBN-10 has lost leading zeros, and its
 * ISBN-13 has lost its last digits. So the first is padded, and the second is
 * computed. The row has only the year of publication, stored as January 1. An
 * ISBN or a year that is not valid is left out.
 */
function bookOf(record: Record<string, string>): Book {
  const [, title = record.title!, series] = SERIES.exec(record.title!) ?? [];
  const isbn10 = record.isbn!.padStart(10, "0");
  const body = isbn10.slice(0, 9);
  const year = Number(record.original_publication_year);
  return {
    product: {
      title: title.trim(),
      ...isbn10.slice(9) === isbn10CheckDigit(body) && record.isbn &&
        { isbn10, isbn13: `978${body}${isbn13CheckDigit(`978${body}`)}` },
      ...Number.isInteger(year) && year > 0 &&
        { publication_date: `${String(year).padStart(4, "0")}-01-01` },
      cover_image_url: record.image_url!,
    },
    authors: [...new Set(record.authors!.split(",").map(spacedOnce))],
    series: series && spacedOnce(series),
  };
}

/** A name without the surplus white space of some rows: to the service, both are the same name. */
function spacedOnce(name: string): string {
  return name.trim().replace(/\s+/g, " ");
}
