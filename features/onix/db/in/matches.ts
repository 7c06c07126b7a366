import { isbnNumber } from "../../../../schema/isbn.ts";
import { ownId } from "../../schema/mapping/own_reference.ts";
import { DELETION } from "../../schema/rules/notifications.ts";
import { type Found, referencesOf } from "./find.ts";
import type { AnalysedRecord, Analysis } from "./analysed_record.ts";
import type { MessageBooks } from "./message_books.ts";

/*
 * Matches records with products: first by the RecordReference or an alias of it, then by the ISBN.
 * In: the products found for a group. Out: the product of a record, none, or `ambiguous`.
 */

/** Indexes the products that records may match, by reference and ISBN. */
export class Matches {
  readonly #books: MessageBooks;
  readonly #byReference = new Map<string, Found>();
  readonly #byId = new Map<string, Found>();
  readonly #byIsbn: Map<string | null, Found[]>;

  constructor(found: readonly Found[], books: MessageBooks) {
    this.#books = books;
    for (const product of found) {
      this.#byId.set(product.id, product);
      for (const reference of referencesOf(product)) {
        this.#byReference.set(reference, product);
      }
    }
    // A product to which the message has given another ISBN is no longer found by the stored one.
    const keeping = found.filter((product) =>
      referencesOf(product).every((reference) => {
        const isbn = books.isbnOf(reference);
        return isbn === undefined || isbn === isbnNumber(product);
      })
    );
    this.#byIsbn = Map.groupBy(keeping, isbnNumber);
  }

  /** The product that has the reference of the record. */
  #bound({ reference }: Analysis): Found | undefined {
    return this.#byReference.get(reference) ??
      this.#byId.get(ownId(reference) ?? "");
  }

  /** The product of the record, if there is one, or `ambiguous`. */
  of({ analysis }: AnalysedRecord): Found | "ambiguous" | undefined {
    const { notification } = analysis;
    const isbn = isbnNumber(analysis);
    const bound = this.#bound(analysis);
    if (bound || notification === DELETION || isbn === null) return bound;
    const [product, another] = this.withIsbn(isbn);
    return another ? "ambiguous" : product;
  }

  /** The products with this ISBN. */
  withIsbn(isbn: string | null): readonly Found[] {
    return this.#byIsbn.get(isbn) ?? [];
  }

  /**
   * Whether a later record of the message may take the ISBN by which this one finds its product:
   * the product has another reference, whose record has not come yet.
   */
  mayLoseIsbn(analysed: AnalysedRecord): boolean {
    const found = this.of(analysed);
    return typeof found === "object" && found.reference !== null &&
      referencesOf(found).every((reference) =>
        reference !== analysed.analysis.reference &&
        this.#books.isbnOf(reference) === undefined
      );
  }
}
