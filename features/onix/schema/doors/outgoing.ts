import type { Entry } from "../../../../schema/bodies.ts";
import { isEqual, isObject } from "../../../../schema/objects.ts";
import type { InTurns } from "../../../../schema/turns.ts";
import { projected, type View } from "../../../../schema/view.ts";
import { CONFIRMED, DELETION } from "../rules/notifications.ts";
import type { Release } from "../rules/releases.ts";
import { copyOf, type Element, element, setChild } from "../xml/element.ts";
import { repair, type Repaired } from "../valid/repair.ts";
import type { Paths } from "../xml/paths.ts";
import { withhold, withholdMarketRemovals } from "../withheld/withhold.ts";
import { withholdFrom } from "../withheld/withhold_from.ts";
import type { Differences } from "../merge/differences.ts";
import { IDENTIFIERS } from "../mapping/linked.ts";
import { type Book, containerOf, isParty, type MappedField } from "../mapping/mapped.ts";
import { MAPPED_FIELDS, MAPPING, PRODUCT_CODE } from "../mapping/mapping.ts";
import { contributorReferencesIn, updateContributorReferences } from "./contributor_references.ts";
import { ownReference } from "../mapping/own_reference.ts";
import { addOwnSupply } from "./own_supply.ts";
import { readValues, type RecordValues } from "../mapping/reading.ts";
import { RecordReader } from "../codecs/record_reader.ts";
import type { Received } from "./stored_record.ts";

/*
 * Writes the record of a product. In: the product, and the record that it received last. Out: that
 * record, changed where the product has changed since, and valid in the release.
 */

/**
 * The product as a record: the record last received, changed where the product has changed
 * since, without what a view leaves out. Always valid by EDItEUR's schema of the release. Yields
 * between its steps: each takes some tens of milliseconds for the largest product.
 */
export function* writeRecord(
  book: Book,
  received: Received | null,
  release: Release,
  view?: View,
): InTurns<Repaired> {
  const record = received ? copyOf(received.record) : element("Product", [
    element("RecordReference", ""),
    element("NotificationType", CONFIRMED),
  ]);
  withhold(record);
  yield;
  yield* writeDifferingFields(book, record, received);
  withholdMarketRemovals(record);
  writeIdentifiers(book, record);
  const { product, reference, organization } = book;
  setChild(record, "RecordReference", reference ?? ownReference(String(product.id)));
  addOwnSupply(record, view ? projected(product, view) : product);
  if (view) withholdFrom(record, view);
  yield;
  return repair(record, release, {
    organization,
    identifier: proprietary(PRODUCT_CODE, String(product.product_code)),
  });
}

/** Without checks, reading takes less time. */
const LENIENT = { isSilent: true, isLenient: true };

/** Writes the fields in which the product differs from the record into the record. */
function* writeDifferingFields(
  book: Book,
  record: Element,
  received: Received | null,
): InTurns<void> {
  const differences = received?.differences ?? {};
  const fields = fieldsOfBook(book);
  // Most products equal their records, so nothing needs a check.
  const inRecord = readValues(record, new RecordReader(record, LENIENT));
  yield;
  if (!fields.some((one) => isChanged(one, inRecord, differences))) return;
  const reader = new RecordReader(record, { isSilent: true });
  const values = readValues(record, reader);
  yield;
  for (const one of fields) {
    // A cover is written in any case: writing `supporting_resources` may have removed its link.
    const isCover = one.name === "cover_image_url" && one.projection !== undefined;
    if (!isCover && !isChanged(one, values, differences)) continue;
    const before = Object.hasOwn(differences, one.name)
      ? tiedToElements(differences[one.name], values[one.name], reader)
      : values[one.name];
    writeField(one, before, book, record, reader);
    yield;
  }
}

/** A field with its value in the product. */
interface FieldOfBook {
  name: string;
  field: MappedField;
  value: unknown;
  /** The projection of the value that is compared. */
  projection: unknown;
}

function fieldsOfBook(book: Book): FieldOfBook[] {
  return MAPPED_FIELDS.map(([name, field]) => {
    const value = field.valueIn(book);
    return { name, field, value, projection: field.project(value) };
  });
}

/** Whether a field has another value than the record, or than its stored difference. */
function isChanged(
  { name, field, projection }: FieldOfBook,
  values: RecordValues,
  differences: Differences,
): boolean {
  const before = Object.hasOwn(differences, name)
    ? differences[name] ?? undefined
    : field.project(values[name]);
  return !isEqual(projection, before);
}

/**
 * Writes a field into its block. If the product now refers to another publisher or imprint, the
 * content about the former one is removed first.
 */
function writeField(
  { name, field, value }: FieldOfBook,
  before: unknown,
  book: Book,
  record: Element,
  reader: RecordReader,
): void {
  const block = blockOf(record, field);
  const isOfAnotherParty = isParty(name) && book.product[field.field] !== field.find?.(block)?.id;
  if (isOfAnotherParty) field.forgetParty?.(block);
  const references = name === "contributors" ? contributorReferencesIn(record) : [];
  field.write(block, value, before, reader);
  updateContributorReferences(references, record);
}

/** Writes the identifiers of the parties in the record. */
function writeIdentifiers(book: Book, record: Element): void {
  const reader = new RecordReader(record, LENIENT);
  for (const name of Object.keys(IDENTIFIERS)) {
    const field = MAPPING[name]!;
    const identifiers = field.valueIn(book) as Entry[];
    const block = containerOf(record, field.block);
    if (block && identifiers.length > 0) {
      field.write(block, identifiers, [], reader);
    }
  }
}

/** The earlier value of the product, tied to the elements of the record's value, with their ids. */
function tiedToElements(earlier: unknown, value: unknown, reader: RecordReader): unknown {
  if (Array.isArray(earlier) && Array.isArray(value)) {
    if (earlier.length !== value.length) return value;
    return earlier.map((entry, i) => tiedToElements(entry, value[i], reader));
  }
  if (!isObject(earlier) || !isObject(value)) return earlier;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(earlier).map(([name, inner]) => [
      name,
      tiedToElements(inner, value[name], reader),
    ]),
  );
  if (value.id !== undefined) copy.id = value.id;
  const found = reader.elementOf(value);
  return found ? reader.tie(found, copy) : copy;
}

/** The composite in which a field stands, which is added where it is missing. */
function blockOf(record: Element, { block }: MappedField): Element {
  const known = containerOf(record, block);
  if (known) return known;
  const added = element(block!, []);
  record.children.push(added);
  return added;
}

/** Returns the paths, without positions, of elements that would make a message invalid. */
export function notSentOf(
  record: Element,
  release: Release,
): Paths {
  const substitutes = { organization: "-", identifier: proprietary("-", "-") };
  const { notSent } = repair(record, release, substitutes);
  return notSent;
}

/** The record of a deleted product (NotificationType 05). */
export function deletionRecord(
  { reference, id, isbn13, product_code: code }: {
    reference: string;
    id: string;
    isbn13: string | null;
    product_code: string | null;
  },
): Element {
  return element("Product", [
    element("RecordReference", reference),
    element("NotificationType", DELETION),
    ...isbn13 === null ? [] : [
      element("ProductIdentifier", [
        element("ProductIDType", "15"),
        element("IDValue", isbn13),
      ]),
    ],
    ...code === null ? [] : [proprietary(PRODUCT_CODE, code)],
    proprietary("product_id", id),
  ]);
}

/** An identifier of our own. */
function proprietary(name: string, value: string): Element {
  return element("ProductIdentifier", [
    element("ProductIDType", "01"),
    element("IDTypeName", name),
    element("IDValue", value),
  ]);
}
