import { detailAt, type ErrorDetail } from "./errors.ts";
import { isbn10CheckDigit, isbn13CheckDigit } from "./values.ts";

/*
 * An ISBN is one number in two forms (ISO 2108): an ISBN-10, and the ISBN-13 with 978 before
 * the same nine digits. The ISBN-13 is the form by which numbers are compared.
 */

/** The ISBNs of a product or a record. */
export interface Isbns {
  isbn13?: unknown;
  isbn10?: unknown;
}

/** The ISBN-13 of an ISBN-10. */
function isbn13Of(isbn10: string): string {
  const digits = `978${isbn10.slice(0, 9)}`;
  return digits + isbn13CheckDigit(digits);
}

/** The ISBN-10 of an ISBN-13, if it has one. */
export function isbn10Of(isbn13: string): string | undefined {
  if (!isbn13.startsWith("978")) return;
  const digits = isbn13.slice(3, 12);
  return digits + isbn10CheckDigit(digits);
}

/** The ISBN-13, or else that of the ISBN-10. */
export function isbnNumber({ isbn13, isbn10 }: Isbns): string | null {
  if (typeof isbn13 === "string") return isbn13;
  return typeof isbn10 === "string" ? isbn13Of(isbn10) : null;
}

/** All ISBN-13s: two if the ISBN-10 is that of another ISBN-13. */
export function isbnNumbers({ isbn13, isbn10 }: Isbns): string[] {
  const numbers = [isbnNumber({ isbn13 }), isbnNumber({ isbn10 })];
  return [...new Set(numbers.filter((number) => number !== null))];
}

/** Returns a warning if the ISBN-10 and the ISBN-13 of a body are of two books. */
export function otherBookWarnings(body: Isbns): ErrorDetail[] {
  const numbers = isbnNumbers(body);
  if (numbers.length < 2) return [];
  return [detailAt(
    "/isbn10",
    `other_book: The ISBN-10 is that of ${
      numbers[1]
    }, not of the isbn13: one of the two is of another book`,
  )];
}
