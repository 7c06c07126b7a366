import type { Entry } from "../../bodies.ts";
import { isEqual, objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import type { Message } from "../xml/paths.ts";
import { isSameCollection } from "./collections.ts";
import { conflictTeller } from "./conflicts.ts";
import { isSamePerson } from "./contributors.ts";
import { coverOf } from "./cover.ts";
import { REFERENCES } from "./linked.ts";
import type { Block, Book } from "./mapped.ts";
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
    Object.fromEntries(
      MAPPED.map(([name, { valueIn }]) => [name, valueIn(book)]),
    ),
  );
  const lastValues = compared ? withOneDate(compared.values) : own;
  const newValues = withOneDate(now.values);

  for (const [name, field] of MAPPED) {
    const here = own[name];
    const was = lastValues[name];
    const value = newValues[name];
    const formHere = field.project(here);
    const formWas = was === here ? formHere : field.project(was);
    const form = value === was ? formWas : field.project(value);
    const isEdited = !isEqual(
      formHere,
      Object.hasOwn(differences, name) ? differences[name] ?? undefined : formWas,
    );
    const isLeft = isEqual(form, formWas);
    const array = value === was ? undefined : MERGED[name];
    const merged = array && mergeRows(
      array,
      { before: objectsIn(was), after: objectsIn(value), here: objectsIn(here) },
      parentOf(now.record, field),
      context,
    );
    // What cannot be read changes nothing.
    const isUnread = incoming.unreadable.has(name) && !(name in ARRAYS) &&
      !isAnnounced(name, here);
    const isKept = () =>
      isEdited && !isEqual(formHere, form) && !isInResources(name, book) &&
      context.conflict(
        placeOf(name, was, value, now),
        valueInWords(value),
        valueInWords(here),
      );
    if (isLeft || isUnread || !saysField(name, incoming)) {
      if (isEdited) edited.add(name);
    } else if (merged) written[name] = merged;
    else if (isKept()) edited.add(name);
    else written[name] = writeOnce(name, value);
    if (!(name in written) && !array) {
      keepIds(name, isLeft, was, value, now, compared, book);
    }
  }
  settleCover(written, edited);
  settleDates(written, edited, own, now.values);
  if (saysField("product_territories", incoming)) {
    const { product_territories } = { ...own, ...written };
    messages.push(...rivalPrices(product_territories, now.record, incoming));
  }
  return { written, messages, edited };
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

/** Whether the record says the field. A partial update says its blocks. */
function saysField(name: string, incoming: NewRecord): boolean {
  const { block } = MAPPING[name]!;
  return incoming.notification !== "04" ||
    block !== null && incoming.blocks.includes(block);
}

/** Gives elements of a field that stays as it is here the ids of what they stood for before. */
function keepIds(
  name: string,
  isLeft: boolean,
  was: unknown,
  value: unknown,
  now: Reading,
  last: Last | null,
  book: Book,
): void {
  if (name in REFERENCES) {
    const found = elementOfField(now.record, name);
    const id = last ? elementOfField(last.record, name)?.id : book.product[REFERENCES[name]!];
    if (isLeft && found && id) found.id = id as string;
  }
  const isSame = IS_SAME[name];
  if (!isSame || value === was) return;
  const free = new Set(objectsIn(was));
  for (const entry of objectsIn(value)) {
    const known = free.values().find((one) => isSame(one, entry));
    if (!known) continue;
    free.delete(known);
    if (known.id) now.reader.elementOf(entry)!.id = known.id as string;
  }
}

/** The arrays that name records, and when two of their entries name the same. */
const IS_SAME: Readonly<Record<string, (a: Entry, b: Entry) => boolean>> = {
  contributors: isSamePerson,
  collections: isSameCollection,
};
