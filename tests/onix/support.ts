import { idOfCode } from "../../schema/code_ids.ts";
import { type Element, valueOf } from "../../features/onix/schema/xml/element.ts";
import { type Book, containerOf } from "../../features/onix/schema/mapping/mapped.ts";
import { COLLATERAL_TYPES } from "../../features/onix/schema/mapping/collateral.ts";
import { repeatedRows } from "../../features/onix/schema/mapping/contributors.ts";
import { MAPPED_FIELDS, MAPPING } from "../../features/onix/schema/mapping/mapping.ts";
import { differencesOf } from "../../features/onix/schema/merge/differences.ts";
import { mergeEdits } from "../../features/onix/schema/merge/merge.ts";
import { ARRAYS, FIELDS } from "../../schema/product.ts";
import type { Fields } from "../../schema/fields.ts";
import * as reading from "../../features/onix/schema/doors/incoming.ts";
import type { Rejected } from "../../features/onix/schema/doors/incoming.ts";
import { atOnce } from "../../schema/turns.ts";
import * as outgoing from "../../features/onix/schema/doors/outgoing.ts";
import { readStoredRecord, type Received } from "../../features/onix/schema/doors/stored_record.ts";
import { type Part, readMessage } from "../../features/onix/schema/xml/read.ts";
import type { Repaired } from "../../features/onix/schema/valid/repair.ts";
import type { Release, Tags } from "../../features/onix/schema/rules/releases.ts";
import * as write from "../../features/onix/schema/xml/write.ts";
import { fail } from "@std/assert";
import { folder } from "./schemas.ts";

/** Reads a message that arrives in these chunks. */
export async function read(
  chunks: Iterable<string | Uint8Array>,
  charset?: string,
): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of readMessage(bytesOf(chunks), { charset })) {
    parts.push(part);
  }
  return parts;
}

async function* bytesOf(chunks: Iterable<string | Uint8Array>) {
  await Promise.resolve();
  const encoder = new TextEncoder();
  for (const chunk of chunks) {
    yield typeof chunk === "string" ? encoder.encode(chunk) : chunk;
  }
}

/** A message of release 3.1 with these records. */
export function message(...records: string[]): string {
  return `<ONIXMessage release="3.1"><Header><Sender><SenderName>Harbour</SenderName></Sender></Header>${
    records.join("")
  }</ONIXMessage>`;
}

/** The records of a message, with its header. */
export async function recordsOf(text: string | Uint8Array) {
  const records: Element[] = [];
  let header: Element | undefined;
  for (const part of await read([text])) {
    if (part.kind === "header") header = part.header;
    if (part.kind === "product") records.push(part.product);
  }
  return { header: header!, records };
}

/** A record read, as it is stored, and the product that comes of it. */
export interface Imported {
  incoming: RecordContent;
  received: Received;
  book: Book;
}

// deno-lint-ignore no-explicit-any
type Any = any;

/** A record with its values. */
export interface RecordContent extends reading.RecordContent {
  values: Any;
}

/** Reads a record of a message. */
export const readRecord: (
  ...given: Parameters<typeof reading.readRecord>
) => RecordContent | Rejected = reading.readRecord;

export function valuesOf(record: Element) {
  return readStoredRecord(record).values;
}

export function differences(
  book: Book,
  values: Parameters<typeof differencesOf>[1],
) {
  return differencesOf(book, values, new Set(), null).differences;
}

/** The record of a book, at once. */
export function writeRecord(
  ...given: Parameters<typeof outgoing.writeRecord>
): Repaired {
  return atOnce(outgoing.writeRecord(...given));
}

export function notSentOf(record: Element, release: Release) {
  return outgoing.notSentOf(record, release).paths;
}

/** What becomes of a record that is not rejected. */
export function imported(product: Element, header: Element): Imported {
  const incoming = readRecord(product, header);
  if (incoming.kind === "rejected") {
    fail(JSON.stringify(incoming.messages));
  }
  const { record, values } = incoming;
  const book = bookOf(incoming);
  // The elements get the ids of the rows.
  const newId = () => crypto.randomUUID();
  mergeEdits({ update: incoming, incoming, base: null, local: book }, "keep", newId);
  for (const name of ["publisher", "imprint"]) {
    const { block, find } = MAPPING[name]!;
    const container = containerOf(record, block);
    const found = container && find!(container);
    if (found) found.id = String(book.product[`${name}_id`]);
  }
  return {
    incoming,
    book,
    received: { record, differences: differences(book, values) },
  };
}

/** The product that the database would make of a record. */
export function bookOf({ values, reference }: RecordContent): Book {
  const contributors: Record<string, Record<string, unknown>> = {};
  const repeated = repeatedRows(values.contributors);
  const named: Any[] = (values.contributors ?? []).filter((row: Any) => !repeated.has(row));
  const rows = named.map(({ role, ...contributor }) => {
    const id = contributor.name;
    contributors[id] ??= { id, ...contributor };
    return {
      contributor_id: id,
      contributor_name: contributor.name,
      contributor_role_code: role,
    };
  });
  const collections: Any[] = values.collections ?? [];
  const product = {
    id: "0190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d20",
    product_code: "P-0DYSSEY1",
    ...Object.fromEntries(
      MAPPED_FIELDS.filter(([name]) => name in FIELDS).map(([name]) => [
        name,
        values[name] ?? (FIELDS[name]!.kind === "column" ? null : []),
      ]),
    ),
    product_form_id: values.product_form &&
      idOfCode("150", values.product_form),
    publisher_id: values.publisher,
    publisher_name: values.publisher,
    imprint_id: values.imprint,
    imprint_name: values.imprint,
    publishing_status_code: values.publishing_status,
    product_availability_code: values.product_availability,
    contributors: rows,
    collections: collections.map(({ name }) => ({ id: name, name })),
    product_collections: collections.map(({ name, part_number }) => ({
      collection_id: name,
      part_number,
    })),
    collateral: COLLATERAL_TYPES.flatMap((type) => values[type] ?? []),
    product_prices: [],
  };
  const copy = JSON.parse(JSON.stringify(product));
  addIds(copy, ARRAYS);
  return {
    product: copy,
    contributors,
    identifiers: {
      publisher: values.publisher_identifiers ?? [],
      imprint: values.imprint_identifiers ?? [],
    },
    organization: "Harbour Press",
    reference,
  };
}

/** Gives the rows of an object ids, as the database does. */
function addIds(object: Record<string, unknown>, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) {
    const value = object[name];
    if (field.kind === "group" && value) {
      addIds(value as Record<string, unknown>, field.fields);
    }
    if (field.kind !== "rows" || field.isIdHidden) continue;
    for (const row of value as Record<string, unknown>[] ?? []) {
      row.id = crypto.randomUUID();
      addIds(row, field.fields);
    }
  }
}

/** Every value of a record with its path, sorted. Marked-up text counts without white space. */
export function leavesOf(element: Element, at = ""): string[] {
  const path = `${at}/${element.name}`;
  return element.children.length > 0
    ? element.children.flatMap((child) => leavesOf(child, path)).sort()
    : [`${path} = ${(valueOf(element) ?? "").replace(/\s+/g, " ")}`];
}

/** What one list of leaves has more often than the other. */
export function without(leaves: string[], others: string[]): string[] {
  const left = [...others];
  return leaves.filter((leaf) => {
    const i = left.indexOf(leaf);
    if (i >= 0) left.splice(i, 1);
    return i < 0;
  });
}

/** A message with these records as text. */
export async function written(
  records: Element[],
  release: Release,
  tags: Tags = "reference",
): Promise<string> {
  const options = {
    release,
    tags,
    sender: {
      organization: "Harbour Press",
      sender_identifiers: null,
      contact_name: null,
      email_address: null,
    },
    sentAt: new Date(0),
  };
  let text = "";
  for await (const chunk of write.writeMessage(options, records)) text += chunk;
  return text;
}

/** Whole messages: our own, and those of others where there is a folder of them. */
export const SAMPLES = [
  new URL("messages/", import.meta.url),
  folder("ONIX_SAMPLES", "../../../shared/onix/samples/") ?? [],
].flat().flatMap((folder) =>
  Array.from(Deno.readDirSync(folder), ({ name }) => new URL(name, folder))
).filter(({ href }) => href.endsWith(".xml"))
  .sort((a, b) => a.href < b.href ? -1 : 1)
  .map((url) => ({ url, name: url.href.slice(url.href.lastIndexOf("/") + 1) }));
