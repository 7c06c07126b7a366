import { isbn10CheckDigit, isbn13CheckDigit } from "../../schema/values.ts";

/** A book of goodbooks-10k, with the names of its records. */
export interface Book {
  /** The `book_id` in the file. */
  number: string;
  product: {
    title: string;
    isbn13?: string;
    isbn10?: string;
    publication_date?: string;
    cover_image_url: string;
  };
  authors: string[];
  series: string | undefined;
  /** The fields that are not loaded, with the reasons. */
  omissions: string[];
}

/** Such as `Emma (Novels of Highbury, #1)`. The name can contain commas and parentheses. */
const SERIES = /^(.*\S)\s*\(((?:[^()#]|\([^()]*\))*?),?\s*#[^()]*\)\s*$/;

/**
 * Reads one row of goodbooks-10k. Its ISBN-10 has lost leading zeros, and its
 * ISBN-13 has lost its last digits. So the first is padded, and the second is
 * computed. The row has only the year of publication, stored as January 1.
 */
export function bookOf(record: Record<string, string>): Book {
  const omissions: string[] = [];
  const [, title = record.title!, series] = SERIES.exec(record.title!) ?? [];
  const names = record.authors!.split(",").map((name) => name.trim());
  const authors = [...new Set(names)];
  if (authors.length < names.length) omissions.push("an author is named twice");
  return {
    number: record.book_id!,
    product: {
      title: title.trim(),
      ...isbns(record.isbn!, omissions),
      ...publicationDate(record.original_publication_year!, omissions),
      cover_image_url: record.image_url!,
    },
    authors,
    series,
    omissions,
  };
}

function isbns(isbn: string, omissions: string[]) {
  if (!isbn) return {};
  const isbn10 = isbn.padStart(10, "0");
  const body = isbn10.slice(0, 9);
  const expected = /^\d{9}$/.test(body) && isbn10CheckDigit(body);
  if (isbn10.slice(9) !== expected) {
    omissions.push(
      `${isbn10} is no ISBN-10: expected the check digit ${expected}`,
    );
    return {};
  }
  return { isbn10, isbn13: `978${body}${isbn13CheckDigit(`978${body}`)}` };
}

function publicationDate(year: string, omissions: string[]) {
  if (!year) return {};
  const number = Number(year);
  if (!Number.isInteger(number) || number < 1 || number > 9999) {
    omissions.push(`${year} is no year from 1 to 9999`);
    return {};
  }
  return { publication_date: `${String(number).padStart(4, "0")}-01-01` };
}
