import { isbnNumber } from "../../schema/isbn.ts";
import { DELETION, PARTIAL } from "../../schema/onix/rules/notifications.ts";
import type { Item } from "./items.ts";

/*
 * The books of a message while it arrives. An ISBN may go from one book to another in one message:
 * their records are rivals. And two books may have one reference by mistake.
 */

/** The maximum number of books of a message that are remembered. */
const MAX_BOOKS = 1_000_000;

/** The ISBNs, references and forms of the records that have come so far. */
export class MessageBooks {
  readonly #referenceOfIsbn = new Map<string, string>();
  /** The latest ISBN and the first form of each reference. */
  readonly #books = new Map<string, { isbn: string; form: string | null }>();

  /** Adds the ISBN of a record. Returns its rival: the other reference under which an earlier record has it. */
  addAndFindRival({ gist }: Item): string | undefined {
    const isbn = isbnNumber(gist);
    const { reference, notification, form } = gist;
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
  isOfAnotherBook({ gist }: Item): boolean {
    const isbn = isbnNumber(gist);
    const { reference, notification, form } = gist;
    if (isbn === null || notification === PARTIAL || notification === DELETION) return false;
    const known = this.#books.get(reference);
    return known !== undefined && known.isbn !== isbn && known.form !== form;
  }

  /** The ISBN of the latest record with this reference, if there is one. */
  isbnOf(reference: string): string | undefined {
    return this.#books.get(reference)?.isbn;
  }
}
