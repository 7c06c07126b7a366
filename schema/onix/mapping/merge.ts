import { type Entry, NEW_ROW } from "../../bodies.ts";
import {
  elementOf,
  type Field,
  type Fields,
  keysOf,
  type Rows,
  type Rule,
} from "../../fields.ts";
// Declares `JSON.isRawJSON`.
import type {} from "../../numbers.ts";
import { ARRAYS } from "../../product.ts";
import { type Element, saysSame } from "../xml/element.ts";
import { isSameCollection } from "./collections.ts";
import { isSamePerson } from "./contributors.ts";
import { codecOf } from "./fields.ts";
import { coverOf } from "./cover.ts";
import { REFERENCES } from "./linked.ts";
import { type Block, type Book, containerOf, type Mapped } from "./mapped.ts";
import {
  COLLATERAL_TYPES,
  type Differences,
  elementOfField,
  MAPPED,
  MAPPING,
  type Reading,
  type RecordValues,
  repeatedIn,
} from "./mapping.ts";
import { missingAt, stepsOf } from "./path.ts";
import {
  DATES,
  isAnnounced,
  withOneDate,
  withOwnDates,
} from "./publication.ts";
import { rivalPrices } from "./rival_prices.ts";
import { inWords } from "./words.ts";
import { canonical, type Distinct, isEqual, objectsIn } from "../../objects.ts";
import { type Codec, scalar } from "./record_reader.ts";
import type { Message } from "../xml/paths.ts";
import type { Edits } from "./options.ts";
import {
  besideFields,
  type Keys,
  pairEntries,
  traitsOf,
  wholeOf,
} from "./entries.ts";

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

/** An array whose entries have ids, in composites with this name. */
interface Entries extends Keys {
  composite: string;
  fields: Fields;
  /** The fields that are one value. */
  together: readonly string[];
  /** What joins fields: where both sides have changed some, they are one value, too. */
  rules: readonly Rule[];
  /** What no two entries may share. */
  distinct: readonly Distinct[];
  codec: Codec;
}

/** The arrays whose entries are merged one by one. */
const MERGED: Readonly<Record<string, Entries>> = {
  ...Object.fromEntries(COLLATERAL_TYPES.map((type) => {
    const array = ARRAYS.collateral.types![type]!;
    return [type, entriesOf(array, array.element, MAPPING[type]!)];
  })),
  product_territories: entriesOf(
    ARRAYS.product_territories,
    "ProductSupply",
    MAPPING.product_territories!,
  ),
  product_sales_rights: entriesOf(
    ARRAYS.product_sales_rights,
    "SalesRights",
    MAPPING.product_sales_rights!,
  ),
};

function entriesOf(
  array:
    & Parameters<typeof keysOf>[0]
    & Pick<Rows, "together" | "rules" | "distinct">,
  composite: string,
  codec: Codec,
): Entries {
  const { fields, together = [], rules = [], distinct = [] } = array;
  const own = { composite, fields, together, rules, distinct, codec };
  return { ...own, ...keysOf(array) };
}

/** The array in this field of a composite, if its entries have ids. */
function entriesIn(
  name: string,
  field: Field,
  composite: string,
): Entries | undefined {
  if (field.kind !== "rows" || field.isIdHidden) return;
  const codec = codecOf(name, field, composite);
  return codec && entriesOf(field, elementOf(name, field)!, codec);
}

/** Warns of a value that was changed by the sender and here. Returns whether the one here stays. */
type Conflict = (place: Place, theirs: string, ours: string) => boolean;

/** An element of the new record, or what is missing in it, and the entries that it is in, in words. */
interface Place {
  element: Element;
  missing?: string | undefined;
  of?: Way | undefined;
}

/** The entries that something is in, from the outermost. */
type Way = readonly { array: Entries; entry: Entry }[];

interface MergeContext {
  now: Reading["reader"];
  last: Reading["reader"] | undefined;
  conflict: Conflict;
  newId: () => string;
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
  const conflict = conflictTeller(incoming, edits, messages);
  const context = { now: now.reader, last: compared?.reader, conflict, newId };
  const written: RecordValues = {};
  const edited = new Set<string>();
  const own = withOneDate(
    Object.fromEntries(MAPPED.map(([name, field]) => [
      name,
      field.valueIn(book),
    ])),
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
      Object.hasOwn(differences, name)
        ? differences[name] ?? undefined
        : formWas,
    );
    const isLeft = isEqual(form, formWas);
    const array = value === was ? undefined : MERGED[name];
    const merged = array && mergeRows(
      array,
      objectsIn(was),
      objectsIn(value),
      objectsIn(here),
      parentOf(now.record, field),
      [],
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
  if (edited.has("supporting_resources")) {
    // The cover is one of their links.
    delete written.cover_image_url;
    edited.add("cover_image_url");
  }
  if (DATES.some((name) => edited.has(name))) {
    for (const name of DATES) edited.add(name);
  }
  if (DATES.some((name) => name in written)) {
    Object.assign(written, withOwnDates({ ...own, ...written }, now.values));
  }
  if (saysField("product_territories", incoming)) {
    const { product_territories } = { ...own, ...written };
    messages.push(...rivalPrices(product_territories, now.record, incoming));
  }
  return { written, messages, edited };
}

/** Whether the field is the link of a resource, which is told of. */
function isInResources(name: string, { product }: Book): boolean {
  return name === "cover_image_url" &&
    product.cover_image_url === coverOf(product.supporting_resources);
}

/** A value without entries that repeat others. */
function writeOnce(name: string, value: unknown): unknown {
  const repeated = repeatedIn(name, value);
  return repeated.size === 0
    ? value
    : objectsIn(value).filter((entry) => !repeated.has(entry));
}

/** Whether the record says the field. A partial update says its blocks. */
function saysField(name: string, incoming: NewRecord): boolean {
  const { block } = MAPPING[name]!;
  return incoming.notification !== "04" ||
    block !== null && incoming.blocks.includes(block);
}

/** Returns the function that adds the conflicts to `messages`. */
function conflictTeller(
  { reader }: NewRecord,
  edits: Edits,
  messages: Message[],
): Conflict {
  const isKept = edits === "protect";
  return ({ element, missing, of }, theirs, ours) => {
    const entries = of?.map(({ array, entry }) => inWords(array, entry));
    const around = entries?.length ? `${entries.join(", ")}: the` : "The";
    const change = theirs === ""
      ? `${around} sender has removed this`
      : `${around} sender has changed this to ${theirs}`;
    const here = ours === "" ? "its removal" : ours;
    messages.push({
      severity: "warning",
      code: isKept ? "edit_kept" : "edit_overwritten",
      ...reader.placeOf(element, missing),
      message: isKept
        ? `${change}: ${here} stays, which was edited here`
        : theirs === ""
        ? `${change}, and with it ${here}, which was edited here`
        : `${change}: it takes the place of ${here}, which was edited here`,
    });
    return isKept;
  };
}

/** A value in a message. */
function valueInWords(value: unknown): string {
  const plain = scalar(value);
  const isNone = plain === undefined && !(value instanceof Object);
  if (isNone) return "";
  const text = typeof plain === "string" ? plain : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The element of the record that says the new value of a field, or the first new entry of one. */
function placeOf(
  name: string,
  was: unknown,
  value: unknown,
  now: Reading,
): Place {
  const field = MAPPING[name]!;
  const parent = parentOf(now.record, field);
  if (parent.missing) return parent;
  const { element: container } = parent;
  const known = new Set(Array.isArray(was) ? was.map(formIn) : []);
  const changed = Array.isArray(value)
    ? value.findIndex((one) => !known.has(formIn(one)))
    : 0;
  const entry = Array.isArray(value) ? value[changed] : undefined;
  const found = changed < 0
    ? undefined
    : entry instanceof Object
    ? now.reader.elementOf(entry)
    : field.find?.(container, changed);
  if (found) return { element: found };
  return changed < 0
    ? { element: container, missing: stepsOf(field.place)[0]!.name }
    : missingAt(container, field.place);

  function formIn(entry: unknown): string {
    return canonical(field.project([entry]));
  }
}

/** The composite in which a field stands, or where it is missing. */
function parentOf(record: Element, { block }: Mapped): Place {
  const container = containerOf(record, block);
  return container
    ? { element: container }
    : { element: record, missing: block! };
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
    const id = last
      ? elementOfField(last.record, name)?.id
      : book.product[REFERENCES[name]!];
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

/** Pairs the entries of an array, of which those before may have elements in the last record. */
function pairsOf(
  { codec, composite: _, ...array }: Entries,
  before: readonly Entry[],
  after: readonly Entry[],
  { now, last }: Pick<MergeContext, "now" | "last">,
  by: "same" | "place",
): Map<Entry, Entry> {
  const elementIn = (entry: Entry) =>
    last?.elementOf(entry) ?? now.elementOf(entry);
  const haveElements = before.every(elementIn);
  const isSame = (one: Entry, i: number) =>
    haveElements && saysSame(elementIn(before[i]!)!, elementIn(one)!);
  if (before.length === after.length && after.every(isSame)) {
    return new Map(after.map((one, i) => [one, before[i]!]));
  }
  return pairEntries(before, after, (entry) => {
    const form = objectsIn(codec.project([entry]))[0] ?? {};
    const element = haveElements ? elementIn(entry) : undefined;
    if (!element) return traitsOf(form, array);
    const beside = besideFields(element, array.fields);
    return traitsOf(form, array, beside, wholeOf(element));
  }, by);
}

/**
 * The entries after the comparison. Those of rows that stay have their ids, and so have the
 * elements of the new record. `of` are the entries that the array is in.
 */
function mergeRows(
  array: Entries,
  before: readonly Entry[],
  after: readonly Entry[],
  here: readonly Entry[],
  parent: Place,
  of: Way,
  context: MergeContext,
): Entry[] {
  const { conflict, now } = context;
  const isSame = (a: Entry, b: Entry) =>
    isEqual(array.codec.project([a]), array.codec.project([b]));
  const olds = new Map(before.map((one) => [one.id, one]));
  const was = pairsOf(array, before, after, context, "place");
  // Both may have added an entry.
  const added = here.filter(({ id }) => !olds.has(id));
  const news = after.filter((one) => !was.has(one));
  const both = pairsOf(array, added, news, { now, last: undefined }, "same");
  const rows = new Map(here.map((row) => [row.id, row]));
  // The entries of the record, by the rows that come of them.
  const said = new Map<Entry, Entry>();
  for (const entry of after) {
    const row = rowOf(entry);
    if (row) said.set(row, entry);
  }
  const others = [...rows.values()].filter(isKept);
  return withoutTwins(array, [...said.keys(), ...others], said, of, context);

  function rowOf(entry: Entry): Entry | undefined {
    const element = now.elementOf(entry)!;
    const old = was.get(entry);
    const id = old ? old.id : both.get(entry)?.id;
    const row = rows.get(id);
    rows.delete(id);
    if (id) element.id = id as string;
    const own = [...of, { array, entry }];
    if (row) {
      return mergeFields(array, old ?? {}, entry, row, element, own, context);
    }
    // It was removed here.
    const isGone = old &&
      (isSame(old, entry) ||
        conflict({ element, of: own }, valueInWords(entry), ""));
    return isGone ? undefined : asNew(array, entry, context);
  }

  function isKept(row: Entry): boolean {
    const old = olds.get(row.id);
    if (!old) return true;
    // The sender has removed it.
    const edits = [...editsIn(array, old, row)];
    if (edits.length === 0) return false;
    const place = { missing: array.composite, ...parent };
    const own = [...of, { array, entry: old }];
    return conflict({ ...place, of: own }, "", valueInWords(edits.join(", ")));
  }
}

/**
 * The rows without those that share with another what must be distinct, such as a second
 * right for the rest of the world: the sender has one, and one was written here. `said` are
 * the entries of the record, by their rows.
 */
function withoutTwins(
  array: Entries,
  rows: readonly Entry[],
  said: ReadonlyMap<Entry, Entry>,
  of: Way,
  context: MergeContext,
): Entry[] {
  let left = [...rows];
  for (const { keyOf } of array.distinct) {
    for (const [key, twins] of Map.groupBy(rows, keyOf)) {
      if (key === undefined || twins.length < 2) continue;
      const isTheirs = (row: Entry) => {
        const entry = said.get(row);
        return entry !== undefined && keyOf(entry) === key;
      };
      const theirs = twins.find(isTheirs);
      if (!theirs) continue;
      const entry = said.get(theirs)!;
      const element = context.now.elementOf(entry)!;
      for (const ours of twins) {
        if (ours === theirs) continue;
        const isKept = context.conflict(
          { element, of },
          inWords(array, entry),
          inWords(array, ours),
        );
        left = left.flatMap((row) => {
          if (row !== (isKept ? theirs : ours)) return [row];
          const back = said.get(row);
          if (isKept || !back) return [];
          // What was written here goes: the row is again what the sender says.
          const at = context.now.elementOf(back)!;
          return [mergeFields(array, row, back, row, at, of, context)];
        });
      }
    }
  }
  return left;
}

/** The values that were edited of a row, in it and in the rows below. */
function* editsIn(
  { fields, composite }: Pick<Entries, "fields" | "composite">,
  before: Entry,
  row: Entry,
): Generator<string> {
  for (const [name, field] of Object.entries(fields)) {
    const [was, is] = [before[name], row[name]];
    const codec = codecOf(name, field, composite);
    const array = entriesIn(name, field, composite);
    if (!codec) {
      const isSaid = field.kind === "column" && field.body &&
        scalar(is) !== scalar(was ?? field.fallback);
      if (isSaid) yield valueInWords(is) || "nothing";
    } else if (array) {
      const olds = new Map(objectsIn(was).map((one) => [one.id, one]));
      for (const one of objectsIn(is)) {
        const old = olds.get(one.id);
        olds.delete(one.id);
        if (old) yield* editsIn(array, old, one);
        else yield valueInWords(one);
      }
      for (const _ of olds) yield "a removal";
    } else if (!isEqual(codec.project(was), codec.project(is))) {
      yield valueInWords(is) || "nothing";
    }
  }
}

/** An entry without a row, and the id of the row that it becomes. */
function asNew(array: Entries, entry: Entry, context: MergeContext): Entry {
  const id = context.now.elementOf(entry)!.id ??= context.newId();
  const made: Entry = { ...entry, id, [NEW_ROW]: true };
  for (const [name, field] of Object.entries(array.fields)) {
    const below = entriesIn(name, field, array.composite);
    if (!below) continue;
    made[name] = objectsIn(entry[name]).map((one) =>
      asNew(below, one, context)
    );
  }
  return made;
}

/** Merges the fields of an object. What ONIX does not say stays as it is here. */
function mergeFields(
  { fields, composite, together, rules }: Pick<
    Entries,
    "fields" | "composite" | "together" | "rules"
  >,
  before: Entry,
  after: Entry,
  here: Entry,
  at: Element,
  of: Way,
  context: MergeContext,
): Entry {
  const merged: Entry = { ...here };
  for (const [name, field] of Object.entries(fields)) {
    const codec = codecOf(name, field, composite);
    if (!codec || together.includes(name) && name !== together[0]) continue;
    const [was, now, own] = [before[name], after[name], here[name]];
    const array = entriesIn(name, field, composite);
    if (array) {
      const [a, b, c] = [was, now, own].map(objectsIn);
      const parent = { element: at };
      merged[name] = mergeRows(array, a!, b!, c!, parent, of, context);
    } else if (field.kind === "group" && hasRows(field.fields)) {
      const group = {
        fields: field.fields,
        composite: elementOf(name, field)!,
        together: [],
        rules: [],
      };
      const [a, b, c] = [was, now, own].map((each) => (each ?? {}) as Entry);
      const found = codec.find?.(at) ?? at;
      merged[name] = mergeFields(group, a!, b!, c!, found, of, context);
    } else {
      const names = together.includes(name) ? together : [name];
      const parts = names.map((name) => partOf(name, fields[name]!, composite));
      const differ = (a: Entry, b: Entry) =>
        parts.filter(({ name, codec }) =>
          !isEqual(codec.project(a[name]), codec.project(b[name]))
        );
      if (differ(before, after).length === 0) continue;
      const conflicting = differ(here, before).length > 0
        ? differ(here, after)
        : [];
      const shownIn = (entry: Entry) =>
        conflicting.map(({ name }) => valueInWords(entry[name])).filter(Boolean)
          .join(" ");
      const isKept = conflicting.length > 0 && context.conflict(
        { ...placeIn(at, conflicting[0]!, after, here), of },
        shownIn(after),
        shownIn(here),
      );
      if (isKept) continue;
      for (const { name, field } of parts) {
        merged[name] = valueAfter(after[name], field);
      }
    }
  }
  for (const { fields: names, check } of rules) {
    if (check(merged) === undefined) continue;
    // What either says is right, but not a part of each.
    const shownIn = (entry: Entry) =>
      names.map((name) => valueInWords(entry[name])).filter(Boolean).join(" ");
    const isKept = context.conflict(
      { element: at, of },
      shownIn(after),
      shownIn(here),
    );
    for (const name of names) {
      merged[name] = isKept
        ? here[name]
        : valueAfter(after[name], fields[name]!);
    }
  }
  return merged;
}

/** A value that a record says, or what a row has without it. */
function valueAfter(value: unknown, field: Field): unknown {
  if (value !== undefined) return value;
  return field.kind === "rows"
    ? []
    : field.kind === "column"
    ? field.fallback ?? null
    : null;
}

/** Whether rows stand in an object, so that its fields are merged one by one. */
function hasRows(fields: Fields): boolean {
  return Object.values(fields).some(({ kind }) => kind === "rows");
}

/** A field with the way in which it stands in its composite. */
interface MergedPart {
  name: string;
  field: Field;
  codec: Codec;
}

function partOf(name: string, field: Field, composite: string): MergedPart {
  return { name, field, codec: codecOf(name, field, composite)! };
}

/** The element that says the new value of a field, or the first that differs of an object. */
function placeIn(
  at: Element,
  { name, field, codec }: MergedPart,
  after: Entry,
  here: Entry,
): Place {
  const found = codec.find?.(at);
  const place = elementOf(name, field)!;
  if (!found) {
    return at.children.length > 0 ? missingAt(at, place) : { element: at };
  }
  if (field.kind !== "group") return { element: found };
  const [theirs, ours] = [after, here].map((each) =>
    (each[name] ?? {}) as Entry
  );
  const inner = Object.entries(field.fields)
    .map(([name, inner]) => partOf(name, inner, found.name))
    .find(({ name, codec }) =>
      codec &&
      !isEqual(codec.project(theirs![name]), codec.project(ours![name]))
    );
  return inner ? placeIn(found, inner, theirs!, ours!) : { element: found };
}

/**
 * The fields in which a product differs from the record that was just written to it although
 * nobody has edited them, such as the name of a contributor that was found by ISNI, and
 * whether others differ, too.
 */
export function differencesOf(
  book: Book,
  values: RecordValues,
  edited: ReadonlySet<string>,
  before: Differences | null,
): { differences: Differences | null; isEdited: boolean } {
  const differing: Record<string, unknown> = {};
  let isEdited = false;
  for (const [name, field] of MAPPED) {
    const is = field.project(field.valueIn(book));
    if (isEqual(is, field.project(values[name]))) continue;
    if (!edited.has(name) && !(name in MERGED)) differing[name] = is ?? null;
    else {
      isEdited = true;
      const known = before?.[name];
      if (known !== undefined && edited.has(name)) differing[name] = known;
    }
  }
  const hasAny = Object.keys(differing).length > 0;
  return { differences: hasAny ? differing : null, isEdited };
}
