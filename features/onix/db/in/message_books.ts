import { isbnNumber } from "../../../../schema/isbn.ts";
import { DELETION, PARTIAL } from "../../schema/rules/notifications.ts";
import type { AnalysedRecord } from "./analysed_record.ts";

/*
 * The books of a message so far. One ISBN can go from one book to another within a message: their
 * records are rivals. Two books can also have the same reference by mistake.
 */

/** The maximum number of books of a message that are remembered. */
const MAX_BOOKS = 1_000_000;

/** The ISBNs, references and forms of the records that have come so far. */
export class MessageBooks {
  readonly #referenceOfIsbn = new Map<string, string>();
  /** The latest ISBN and the first form of each reference. */
  readonly #books = new Map<string, { isbn: string; form: string | null }>();

  /** Adds the ISBN of a record. Returns its rival: the other reference under which an earlier record has it. */
  addAndFindRival({ analysis }: AnalysedRecord): string | undefined {
    const isbn = isbnNumber(analysis);
    const { reference, notification, form } = analysis;
    if (isbn === null || notification === DELETION) return;
    const book = this.#books.get(reference);
    if (book) book.isbn = isbn;
    else if (this.#books.size < MAX_BOOKS) {
      this.#books.set(reference, { isbn, form });
    }
    const known = this.#referenceOfIsbn.get(isbn);
    if (known !== undefined) return known === reference ? undefined : known;
    if (this.#referenceOfIsbn.size < MAX_BOOKS) {
      this.#referenceOfIsbn.set(isbn, reference);
    }
  }

  /** Whether an earlier record with the same reference has another ISBN and another form. */
  isOfAnotherBook({ analysis }: AnalysedRecord): boolean {
    const isbn = isbnNumber(analysis);
    const { reference, notification, form } = analysis;
    if (isbn === null || notification === PARTIAL || notification === DELETION) return false;
    const known = this.#books.get(reference);
    return known !== undefined && known.isbn !== isbn && known.form !== form;
  }

  /** The ISBN of the latest record with this reference, if there is one. */
  isbnOf(reference: string): string | undefined {
    return this.#books.get(reference)?.isbn;
  }
}
