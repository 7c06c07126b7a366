import type { Entry } from "../../bodies.ts";
import { isEqual, objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import { PARTIAL } from "../rules/notifications.ts";
import { isSameCollection } from "./collections.ts";
import type { TellConflict } from "./conflicts.ts";
import { repeatedRows } from "./contributors.ts";
import { coverOf } from "./cover.ts";
import type { Differences } from "./differences.ts";
import { PARTY_REFERENCES } from "./linked.ts";
import type { Block, Book } from "./mapped.ts";
import { MAPPING } from "./mapping.ts";
import { mergeRows } from "./merge_entries.ts";
import { MERGED_ARRAYS } from "./merged_arrays.ts";
import { isSamePerson } from "./person.ts";
import { parentOf, placeOfChange } from "./places.ts";
import { isAnnounced } from "./publication.ts";
import { elementOfField, type Reading } from "./reading.ts";
import type { RecordReader } from "./record_reader.ts";
import { valueInWords } from "./words.ts";

/*
 * What a record changes of one field. In: its value as the sender said it last, as they say it
 * now, and as it is here. Out: the value to write, or that the one here stays. The elements of
 * the record get the ids of what they stand for.
 */

/** What merging needs to know of a record. */
interface NewRecord extends Reading {
  notification: string;
  blocks: readonly Block[];
}

/** The last record of the sender. The elements of its entries have ids. */
export interface Last extends Reading {
  differences: Differences | null;
}

/** What is merged. */
export interface Sources {
  /** The new record, as its sender wrote it. */
  incoming: NewRecord;
  /** The record that is stored afterwards: the new one, or the last one with the blocks of a partial update. */
  now: Reading;
  last: Last | null;
  /** The product. */
  book: Book;
}

/** What is merged, and what merging a field needs besides. */
export interface Merging extends Sources {
  /** What the product says otherwise than the last record, although nobody has edited it. */
  differences: Differences;
  tellConflict: TellConflict;
  newId: () => string;
}

/** A value as the sender said it last, as they say it now, and as it is here. */
export interface Versions {
  before: unknown;
  after: unknown;
  here: unknown;
}

/** The value to write, or whether the one that stays was edited here. */
type MergedField = { value: unknown } | { isEdited: boolean };

/** Merges a field. What the sender has left alone stays as it is here. */
export function mergeField(name: string, versions: Versions, merging: Merging): MergedField {
  const { before, after, here } = versions;
  const { incoming, now, differences } = merging;
  const { isLeftAlone, isEdited, isDisputed } = changeSince(name, versions, differences);
  // Merged even where nothing is written: merging gives the elements of the record their ids.
  const rows = mergedRows(name, versions, merging);
  if (!isLeftAlone && saysField(name, incoming, here)) {
    if (rows) return { value: rows };
    const isKept = isDisputed && isEditKept(name, versions, merging);
    if (!isKept) return { value: withoutRepeats(name, after) };
  }
  if (rows) return { isEdited };
  if (isLeftAlone) keepReference(name, merging);
  keepIds(name, before, after, now.reader);
  return { isEdited };
}

/** Warns of a value that both sides have changed. Returns whether the one here stays. */
function isEditKept(
  name: string,
  { before, after, here }: Versions,
  { now, book, tellConflict }: Merging,
): boolean {
  if (isInResources(name, book)) return false;
  return tellConflict(
    placeOfChange(name, before, after, now),
    valueInWords(after),
    valueInWords(here),
  );
}

/**
 * What the sender and the users here have done to a field since the sender's last record. It is
 * disputed if both have changed it, and not to the same.
 */
function changeSince(
  name: string,
  { before, after, here }: Versions,
  differences: Differences,
): { isLeftAlone: boolean; isEdited: boolean; isDisputed: boolean } {
  const { project } = MAPPING[name]!;
  const formHere = project(here);
  const formBefore = before === here ? formHere : project(before);
  const formAfter = after === before ? formBefore : project(after);
  const known = Object.hasOwn(differences, name) ? differences[name] ?? undefined : formBefore;
  const isLeftAlone = isEqual(formAfter, formBefore);
  const isEdited = !isEqual(formHere, known);
  const isDisputed = isEdited && !isLeftAlone && !isEqual(formHere, formAfter);
  return { isLeftAlone, isEdited, isDisputed };
}

/** The rows of an array whose entries are merged one by one, or undefined if nothing has changed. */
function mergedRows(
  name: string,
  { before, after, here }: Versions,
  { now, last, tellConflict, newId }: Merging,
): Entry[] | undefined {
  const array = MERGED_ARRAYS[name];
  if (!array || after === before) return;
  return mergeRows(
    array,
    { before: objectsIn(before), after: objectsIn(after), here: objectsIn(here) },
    parentOf(now.record, MAPPING[name]!),
    { now: now.reader, last: last?.reader, tellConflict, newId },
  );
}

/** Whether the record says the field. A partial update says its blocks, and what cannot be read says nothing. */
export function saysField(name: string, incoming: NewRecord, here: unknown): boolean {
  const { block } = MAPPING[name]!;
  const isDayUnknown = name === "publication_date" && isAnnounced(here);
  const isUnread = incoming.reader.unreadableFields.has(name) && !(name in ARRAYS) &&
    !isDayUnknown;
  return !isUnread &&
    (incoming.notification !== PARTIAL || block !== null && incoming.blocks.includes(block));
}

/** Whether the field is the cover, and a resource links to it: the warning is about that resource. */
function isInResources(name: string, { product }: Book): boolean {
  return name === "cover_image_url" &&
    product.cover_image_url === coverOf(product.supporting_resources);
}

/** A value without rows that repeat others. */
function withoutRepeats(name: string, value: unknown): unknown {
  if (name !== "contributors") return value;
  const repeated = repeatedRows(value);
  return repeated.size === 0 ? value : objectsIn(value).filter((row) => !repeated.has(row));
}

/** Gives the element that names a record the id of the one that it has named before. */
function keepReference(name: string, { now, last, book }: Sources): void {
  const reference = PARTY_REFERENCES[name];
  if (reference === undefined) return;
  const found = elementOfField(now.record, name);
  const id = last ? elementOfField(last.record, name)?.id : book.product[reference];
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
