import { isbnNumber } from "../../../../schema/isbn.ts";
import type { Book } from "../../schema/mapping/mapped.ts";
import { type Merged, mergeEdits } from "../../schema/merge/merge.ts";
import type { BaseRecord } from "../../schema/merge/merge_field.ts";
import type { Edits } from "../../schema/merge/options.ts";
import { atOnce } from "../../../../schema/turns.ts";
import { writeRecord } from "../../schema/doors/outgoing.ts";
import {
  readStoredRecord,
  type Received,
  replaceBlocks,
} from "../../schema/doors/stored_record.ts";
import type { Reading } from "../../schema/mapping/reading.ts";
import { PARTIAL } from "../../schema/rules/notifications.ts";
import { RELEASES } from "../../schema/rules/releases.ts";
import { hasSameContent } from "../../schema/xml/element.ts";
import { uuidv7 } from "../../../../db/uuid.ts";
import { bookOf, receivedIn } from "../out/books.ts";
import type { Planned } from "./plan.ts";
import { type StoredForm, storedForm } from "./stored_form.ts";
import type { Comparable } from "./stored_products.ts";

/*
 * Compares a record with its product. In: the record, the product and its stored records. Out: the
 * values that the record changes, and the record to store.
 */

/** A record compared with its product. */
export interface Compared {
  one: Planned;
  book: Book;
  /** The record to store. */
  form: StoredForm;
  /** The record to store, as elements and values. */
  incoming: Reading;
  /** The previous record of its sender, or else of any. */
  base: BaseRecord | null;
  /** The record last received of any sender. */
  received: Received | null;
  merged: Merged;
}

/** Compares a record with the previous one of its sender, or else of any, and with its product, if it has one. */
export function compare({ one, stored }: Comparable, edits: Edits): Compared {
  const { content: update } = one.analysed;
  const book = stored ? bookOf(stored) : newBook(one);
  const received = stored && receivedIn(stored);
  const previous = (stored && receivedIn(stored.own)) ?? received;
  const form = formToStore(one, book, previous, received, edits);
  const incoming = form === one.analysed.form ? update : readStoredRecord(form.record);
  const base = previous && { ...readStoredRecord(previous.record, incoming), ...previous };
  // A record with an ISBN-10 alone also has an ISBN-13: the 978 form.
  const { isbn13 } = book.product;
  if (base && isbn13 && isbnNumber(base.values) === isbn13) {
    base.values.isbn13 = isbn13;
  }
  const merged = mergeEdits({ update, incoming, base, local: book }, edits, uuidv7);
  return { one, book, form, incoming, base, received, merged };
}

/** The record to store: that of the message, or the previous one with the blocks of a partial update. */
function formToStore(
  { analysed, found }: Planned,
  book: Book,
  previous: Received | null,
  received: Received | null,
  edits: Edits,
): StoredForm {
  if (analysed.analysis.notification !== PARTIAL) return analysed.form;
  const base = previous && (found!.is_current || edits !== "overwrite")
    ? previous.record
    // Later changes by requests stay.
    : atOnce(writeRecord(book, received, "3.1")).record;
  return storedForm(replaceBlocks(base, analysed.content.record));
}

/** Whether a product is sent differently with one of two records. */
export function isSentOtherwise(book: Book, ...both: [Received, Received]): boolean {
  return RELEASES.some((release) => {
    const [one, other] = both.map((received) =>
      atOnce(writeRecord(book, received, release)).record
    );
    return !hasSameContent(one!, other!);
  });
}

/** The book of a product that does not exist yet. */
function newBook({ analysed: { analysis: { reference } } }: Planned): Book {
  return {
    product: {},
    contributors: {},
    identifiers: { publisher: [], imprint: [] },
    organization: "",
    reference,
  };
}
