import { giveIds } from "../../schema/codecs/ids.ts";
import type { Book } from "../../schema/mapping/mapped.ts";
import { writeRecord } from "../../schema/doors/outgoing.ts";
import type { Received } from "../../schema/doors/stored_record.ts";
import type { MessageForm } from "../../schema/rules/releases.ts";
import { fromStored } from "../../schema/xml/read.ts";
import { recordText } from "../../schema/xml/write.ts";
import type { Entry } from "../../../../schema/bodies.ts";
import { parseExact } from "../../../../schema/numbers.ts";
import type { InTurns } from "../../../../schema/turns.ts";
import type { View } from "../../../../schema/view.ts";
import type { ReceivedRow, RecordSource } from "./record_source.ts";

/*
 * Makes the book of a source. A book is all that a record is written from: the product, its
 * contributors, and the record last received.
 */

/** The book of a source, whose product was parsed from its text. */
export function bookOf(
  { product, contributors, identifiers, ...rest }: RecordSource,
): Book {
  const { publisher, imprint } = JSON.parse(identifiers);
  return {
    product: parseExact(product) as Entry,
    contributors: byId(contributors),
    identifiers: { publisher: publisher ?? [], imprint: imprint ?? [] },
    organization: rest.organization,
    reference: rest.reference,
  };
}

/** The records of a JSON array, by id. */
function byId(records: string): Book["contributors"] {
  const all = JSON.parse(records) as Record<string, unknown>[];
  return Object.fromEntries(all.map((record) => [record.id, record]));
}

/** Returns the text of a product's record as it is sent, to the recipient of a view or to everyone. */
export function* textOf(
  source: RecordSource,
  { release, tags }: MessageForm,
  view: View | undefined,
): InTurns<string> {
  const book = bookOf(source);
  yield;
  const received = receivedIn(source);
  yield;
  const { record } = yield* writeRecord(book, received, release, view);
  yield;
  return recordText(record, tags);
}

/** The record last received, if there is one. */
export function receivedIn(
  { record, differences, identities }: ReceivedRow,
): Received | null {
  if (record === null) return null;
  return {
    record: giveIds(fromStored(record), identities),
    differences,
  };
}
