import type { Entry } from "../../bodies.ts";
import { isEqual, objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import type { Element } from "../xml/element.ts";
import type { Message } from "../xml/paths.ts";
import { isSameCollection } from "./collections.ts";
import { conflictTeller } from "./conflicts.ts";
import { isSamePerson } from "./person.ts";
import { coverOf } from "./cover.ts";
import { REFERENCES } from "./linked.ts";
import type { Block, Book, Mapped } from "./mapped.ts";
import {
  type Differences,
  elementOfField,
  MAPPED,
  MAPPING,
  type Reading,
  type RecordValues,
  repeatedIn,
} from "./mapping.ts";
import { mergeRows } from "./merge_entries.ts";
import { MERGED } from "./merged_arrays.ts";
import type { Edits } from "./options.ts";
import { parentOf, placeOf } from "./places.ts";
import { DATES, isAnnounced, withOneDate, withOwnDates } from "./publication.ts";
import type { RecordReader } from "./record_reader.ts";
import { rivalPrices } from "./rival_prices.ts";
import { valueInWords } from "./words.ts";

/*
 * What a record changes of a product that was edited here. In: the last record of its
 * sender, the new one, and the product. Out: the values to write, which are those that the
 * sender has changed, and ids on the elements of the new record. Entries of the last record
 * are told from each other by the ids of the rows that their elements stand for.
 */

/** What is written of a product because of a record. */
export interface Merged {
  /** The values that are written, by field. Undefined: the record has none. */
  written: RecordValues;
  messages: Message[];
  /** The fields that stay as they are here, where they were edited. */
  edited: ReadonlySet<string>;
}

/** What merging needs to know of a record. */
interface NewRecord extends Reading {
  notification: string;
  blocks: readonly Block[];
  /** The fields of which it says what cannot be read. */
  unreadable: ReadonlySet<string>;
}

/** The last record of the sender. The elements of its entries have ids. */
export interface Last extends Reading {
  differences: Differences | null;
}

/**
 * Compares the last record of the sender, the new one, and the product. What the sender has
 * left alone stays as it is here. What the sender has changed is written, unless it was
 * edited here and `edits` is `protect`. With `overwrite`, and for a product without a record,
 * the product counts as what the sender said last: it has no edits.
 */
export function mergeEdits(
  incoming: NewRecord,
  now: Reading,
  last: Last | null,
  book: Book,
  edits: Edits,
  newId: () => string,
): Merged {
  const compared = edits === "overwrite" ? null : last;
  const differences = withOneDate(compared?.differences ?? {});
  const messages: Message[] = [];
  const conflict = conflictTeller(incoming.reader, edits, messages);
  const context = { now: now.reader, last: compared?.reader, conflict, newId };
  const written: RecordValues = {};
  const edited = new Set<string>();
  const own = withOneDate(
    Object.fromEntries(MAPPED.map(([name, { valueIn }]) => [name, valueIn(book)])),
  );
  const lastValues = compared ? withOneDate(compared.values) : own;
  const newValues = withOneDate(now.values);

  for (const [name, field] of MAPPED) {
    const versions = { before: lastValues[name], after: newValues[name], here: own[name] };
    const { before, after, here } = versions;
    const { isLeft, isEdited, isDisputed } = compare(name, field, versions, differences);
    const array = after === before ? undefined : MERGED[name];
    const rows = array && mergeRows(
      array,
      { before: objectsIn(before), after: objectsIn(after), here: objectsIn(here) },
      parentOf(now.record, field),
      context,
    );
    const isKept = () =>
      isDisputed && !isInResources(name, book) && conflict(
        placeOf(name, before, after, now),
        valueInWords(after),
        valueInWords(here),
      );
    if (isLeft || !saysField(name, incoming, here)) {
      if (isEdited) edited.add(name);
    } else if (rows) written[name] = rows;
    else if (isKept()) edited.add(name);
    else written[name] = writeOnce(name, after);
    if (name in written || array) continue;
    if (isLeft) keepReference(name, now.record, compared, book);
    keepIds(name, before, after, now.reader);
  }
  settleCover(written, edited);
  settleDates(written, edited, own, now.values);
  const { product_territories } = { ...own, ...written };
  if (saysField("product_territories", incoming, product_territories)) {
    messages.push(...rivalPrices(product_territories, now.record, incoming));
  }
  return { written, messages, edited };
}

/** A value as the sender said it last, as they say it now, and as it is here. */
interface Versions {
  before: unknown;
  after: unknown;
  here: unknown;
}

/** What the sender and the users here have done to a field since the sender's last record. */
function compare(
  name: string,
  { project }: Mapped,
  { before, after, here }: Versions,
  differences: Differences,
): { isLeft: boolean; isEdited: boolean; isDisputed: boolean } {
  const formHere = project(here);
  const formBefore = before === here ? formHere : project(before);
  const formAfter = after === before ? formBefore : project(after);
  const known = Object.hasOwn(differences, name) ? differences[name] ?? undefined : formBefore;
  const isLeft = isEqual(formAfter, formBefore);
  const isEdited = !isEqual(formHere, known);
  return { isLeft, isEdited, isDisputed: isEdited && !isLeft && !isEqual(formHere, formAfter) };
}

/** The cover is a link of the resources, so it stays with them. */
function settleCover(written: RecordValues, edited: Set<string>): void {
  if (!edited.has("supporting_resources")) return;
  delete written.cover_image_url;
  edited.add("cover_image_url");
}

/** The date of publication was compared as one value: a product has it in two fields. */
function settleDates(
  written: RecordValues,
  edited: Set<string>,
  own: RecordValues,
  said: RecordValues,
): void {
  if (DATES.some((name) => edited.has(name))) {
    for (const name of DATES) edited.add(name);
  }
  if (DATES.some((name) => name in written)) {
    Object.assign(written, withOwnDates({ ...own, ...written }, said));
  }
}

/** Whether the field is the link of a resource, which is told of. */
function isInResources(name: string, { product }: Book): boolean {
  return name === "cover_image_url" &&
    product.cover_image_url === coverOf(product.supporting_resources);
}

/** A value without entries that repeat others. */
function writeOnce(name: string, value: unknown): unknown {
  const repeated = repeatedIn(name, value);
  return repeated.size === 0 ? value : objectsIn(value).filter((entry) => !repeated.has(entry));
}

/** Whether the record says the field. A partial update says its blocks, and what cannot be read says nothing. */
function saysField(name: string, incoming: NewRecord, here: unknown): boolean {
  const { block } = MAPPING[name]!;
  const isUnread = incoming.unreadable.has(name) && !(name in ARRAYS) && !isAnnounced(name, here);
  return !isUnread &&
    (incoming.notification !== "04" || block !== null && incoming.blocks.includes(block));
}

/** Gives the element that names a record the id of the one that it has named before. */
function keepReference(name: string, record: Element, last: Last | null, { product }: Book): void {
  const reference = REFERENCES[name];
  if (reference === undefined) return;
  const found = elementOfField(record, name);
  const id = last ? elementOfField(last.record, name)?.id : product[reference];
  if (found && id) found.id = id as string;
}

/** Gives the elements of an array that names records the ids of those that they have named before. */
function keepIds(name: string, before: unknown, after: unknown, reader: RecordReader): void {
  const isSame = IS_SAME[name];
  if (!isSame || after === before) return;
  const free = new Set(objectsIn(before));
  for (const entry of objectsIn(after)) {
    const known = free.values().find((one) => isSame(one, entry));
    if (!known) continue;
    free.delete(known);
    if (known.id) reader.elementOf(entry)!.id = known.id as string;
  }
}

/** The arrays that name records, and when two of their entries name the same. */
const IS_SAME: Readonly<Record<string, (a: Entry, b: Entry) => boolean>> = {
  contributors: isSamePerson,
  collections: isSameCollection,
};
