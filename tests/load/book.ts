import { isbn10CheckDigit, isbn13CheckDigit } from "../../schema/values.ts";

/** A book as goodbooks-10k has it, with the names of what a product refers to. */
export interface Book {
  /** Its `book_id`. */
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
  /** What of it is not loaded, and why. */
  omissions: string[];
}

/** `Emma (Novels of Highbury, #1)`; the name may hold commas, and parentheses of its own. */
const SERIES = /^(.*\S)\s*\(((?:[^()#]|\([^()]*\))*?),?\s*#[^()]*\)\s*$/;

/**
 * Reads one record of goodbooks-10k. Its ISBN-10 has lost zeros at the front
 * and its ISBN-13 digits at the end, so the first is padded and the second
 * computed. It has the year of a publication only: the first of January stands for it.
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
