import { isbnNumber } from "../../schema/isbn.ts";
import type { Book } from "../../schema/onix/mapping/mapped.ts";
import { type Merged, mergeEdits } from "../../schema/onix/mapping/merge.ts";
import type { Last } from "../../schema/onix/mapping/merge_field.ts";
import type { Edits } from "../../schema/onix/mapping/options.ts";
import { writeRecord } from "../../schema/onix/mapping/outgoing.ts";
import {
  readStoredRecord,
  type Received,
  replaceBlocks,
} from "../../schema/onix/mapping/stored_record.ts";
import type { Reading } from "../../schema/onix/mapping/reading.ts";
import { PARTIAL } from "../../schema/onix/rules/notifications.ts";
import { RELEASES } from "../../schema/onix/rules/releases.ts";
import { saysSame } from "../../schema/onix/xml/element.ts";
import { uuidv7 } from "../uuid.ts";
import { bookOf, receivedIn } from "./books.ts";
import type { Planned } from "./plan.ts";
import { type StoredForm, storedForm } from "./stored_form.ts";
import type { Comparable } from "./stored_products.ts";

/*
 * A record beside its product. In: the record, the product, and the records of it that are
 * stored. Out: the values that it changes, and the record to store.
 */

/** A record beside its product. */
export interface Compared {
  one: Planned;
  book: Book;
  /** The record to store, and its values. */
  form: StoredForm;
  now: Reading;
  /** The previous record of its sender, or else of any. */
  last: Last | null;
  /** The record last received of any sender. */
  received: Received | null;
  merged: Merged;
}

/** Compares a record with the previous one of its sender, or else of any, and with its product, if it has one. */
export function compare({ one, stored }: Comparable, edits: Edits): Compared {
  const { incoming } = one.item;
  const book = stored ? bookOf(stored) : newBook(one);
  const received = stored && receivedIn(stored);
  const previous = (stored && receivedIn(stored.own)) ?? received;
  const form = formToStore(one, book, previous, received, edits);
  const now = form === one.item.form ? incoming : readStoredRecord(form.record);
  const last = previous && { ...readStoredRecord(previous.record, now), ...previous };
  // A record with an ISBN-10 alone also has an ISBN-13: the 978 form.
  const { isbn13 } = book.product;
  if (last && isbn13 && isbnNumber(last.values) === isbn13) {
    last.values.isbn13 = isbn13;
  }
  const merged = mergeEdits({ incoming, now, last, book }, edits, uuidv7);
  return { one, book, form, now, last, received, merged };
}

/** The record to store: that of the message, or the previous one with the blocks of a partial update. */
function formToStore(
  { item, found }: Planned,
  book: Book,
  previous: Received | null,
  received: Received | null,
  edits: Edits,
): StoredForm {
  if (item.gist.notification !== PARTIAL) return item.form;
  const base = previous && (found!.is_current || edits !== "overwrite")
    ? previous.record
    // What requests have changed since stays changed.
    : writeRecord(book, received, "3.1").record;
  return storedForm(replaceBlocks(base, item.incoming.record));
}

/** Whether messages show the product differently with one record than with another. */
export function isSentOtherwise(book: Book, ...both: [Received, Received]): boolean {
  return RELEASES.some((release) => {
    const [one, other] = both.map((received) => writeRecord(book, received, release).record);
    return !saysSame(one!, other!);
  });
}

/** The book of a product that does not exist yet. */
function newBook({ item: { gist: { reference } } }: Planned): Book {
  return {
    product: {},
    contributors: {},
    identifiers: { publisher: [], imprint: [] },
    organization: "",
    reference,
  };
}
