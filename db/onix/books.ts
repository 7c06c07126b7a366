import { giveIds } from "../../schema/onix/mapping/ids.ts";
import type { Book } from "../../schema/onix/mapping/mapped.ts";
import { writeRecord } from "../../schema/onix/mapping/outgoing.ts";
import type { Received } from "../../schema/onix/mapping/stored_record.ts";
import type { Release } from "../../schema/onix/rules/releases.ts";
import type { Mended } from "../../schema/onix/xml/mend.ts";
import { fromStored } from "../../schema/onix/xml/read.ts";
import { parseProduct } from "../products/document.ts";
import type { ReceivedRow, RecordSource } from "./record_source.ts";

/* What is made of a source: the book, the record last received, and the record that goes out. */

/** The book of a source, whose product was parsed from its text. */
export function bookOf(
  { product, contributors, identifiers, ...rest }: RecordSource,
): Book {
  const { publisher, imprint } = JSON.parse(identifiers);
  return {
    product: parseProduct(product),
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

/** The record of a product as it goes out. */
export function recordOf(source: RecordSource, release: Release): Mended {
  const received = receivedIn(source);
  return writeRecord(bookOf(source), received, release);
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
