import type { Entry } from "../../bodies.ts";
import { elementOf, type Field, type Fields, keyOf } from "../../fields.ts";
// Declares `JSON.isRawJSON`.
import type {} from "../../numbers.ts";
import { ARRAYS } from "../../product.ts";
import type { Element } from "../xml/element.ts";
import { codecOf } from "./fields.ts";
import { type Incoming, repeatedIn } from "./incoming.ts";
import {
  type Book,
  COLLATERAL_TYPES,
  containerOf,
  MAPPED,
  MAPPING,
  type RecordValues,
  REFERENCES,
} from "./mapping.ts";
import type { Differences, Reading } from "./outgoing.ts";
import { canonical, isEqual, objectsIn } from "../../objects.ts";
import { type Codec, scalar } from "./record_reader.ts";
import type { Message } from "../xml/paths.ts";
import type { Edits } from "./options.ts";

/*
 * What a record changes of a product that was edited here. In: the record last received, the
 * new one, and the product. Out: the new record without what its sender has left alone, and
 * ids on its elements. Entries of the three are told apart by the ids of their rows alone:
 * an element has the id of its row, and what the new record says of a row gets that id here.
 */

/** What is written of a product because of a record. */
export interface Merged {
  /** The values that are written, by field. Undefined: the record has none. */
  said: RecordValues;
  messages: Message[];
  /** The fields that stay as they are here, where they were edited. */
  edited: ReadonlySet<string>;
}

/** The record last received. The elements of its entries have ids. */
export interface Last extends Reading {
  differences: Differences | null;
}

/** An array whose entries have ids, in composites with this name. */
interface Entries {
  composite: string;
  fields: Fields;
  /** The fields by which entries are told apart that have no ids yet. */
  key: readonly string[];
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
  array: Parameters<typeof keyOf>[0],
  composite: string,
  codec: Codec,
): Entries {
  return { composite, fields: array.fields, key: keyOf(array), codec };
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
type Conflict = (at: Element, theirs: unknown, ours: unknown) => boolean;

/** What is known of the elements of the new record. */
interface Context {
  reader: Reading["reader"];
  conflict: Conflict;
  newId: () => string;
}

/**
 * Compares the record last received, the new one, and the product. What the sender has left
 * alone stays as it is here. What the sender has changed is written, unless it was edited
 * here and `edits` is `protect`. With `overwrite`, and for a product without a record, the
 * product counts as what the sender said last: it has no edits.
 */
export function mergeEdits(
  incoming: Incoming,
  now: Reading,
  last: Last | null,
  book: Book,
  edits: Edits,
  newId: () => string,
): Merged {
  const compared = edits === "overwrite" ? null : last;
  const differences = compared?.differences ?? {};
  const messages: Message[] = [];
  const conflict = conflictTeller(incoming, edits, messages);
  const context: Context = { reader: now.reader, conflict, newId };
  const said: RecordValues = {};
  const edited = new Set<string>();

  for (const [name, field] of MAPPED) {
    const here = field.valueIn(book);
    const was = compared ? compared.values[name] : here;
    const value = now.values[name];
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
    const [before, after, ours] = [was, value, here].map(objectsIn);
    const at = containerOf(now.record, field.block) ?? now.record;
    const array = value === was ? undefined : MERGED[name];
    const merged = array &&
      mergeRows(array, before!, after!, ours!, at, context);
    // What cannot be read changes nothing.
    const isUnread = incoming.unreadable.has(name) && !(name in ARRAYS);
    const isConflict = () =>
      isEdited && !isEqual(formHere, form) &&
      conflict(
        elementOfField(now.record, name) ??
          (after![0] && now.reader.elementOf(after![0])) ?? at,
        value,
        here,
      );
    if (isLeft && !array) {
      const referred = compared
        ? elementOfField(compared.record, name)?.id
        : book.product[REFERENCES[name] ?? ""];
      keepIds(name, before!, after!, now, referred);
    }
    if (isLeft || isUnread || !saysField(name, incoming)) {
      if (isEdited) edited.add(name);
    } else if (merged) said[name] = merged;
    else if (isConflict()) edited.add(name);
    else said[name] = once(name, value);
  }
  if (compared && !("supporting_resources" in said)) {
    // It is one of their links.
    delete said.cover_image_url;
    edited.add("cover_image_url");
  }
  return { said, messages, edited };
}

/** A value without entries that repeat others. */
function once(name: string, value: unknown): unknown {
  const repeated = repeatedIn(name, value);
  return repeated.size === 0
    ? value
    : objectsIn(value).filter((entry) => !repeated.has(entry));
}

/** Whether the record says the field. A partial update says its blocks. */
function saysField(name: string, incoming: Incoming): boolean {
  const { block } = MAPPING[name]!;
  return incoming.notification !== "04" ||
    block !== null && incoming.blocks.includes(block);
}

/** Returns the function that adds the conflicts to `messages`. */
function conflictTeller(
  { reader }: Incoming,
  edits: Edits,
  messages: Message[],
): Conflict {
  const isKept = edits === "protect";
  return (at, after, here) => {
    const [theirs, ours] = [shownText(after), shownText(here)];
    messages.push({
      severity: "warning",
      code: isKept ? "edit_kept" : "edit_overwritten",
      ...reader.placeOf(at),
      message: isKept
        ? `The sender has changed this to ${theirs}: ${ours} stays, which was edited here`
        : `The sender has changed this to ${theirs}: it takes the place of ${ours}, which was edited here`,
    });
    return isKept;
  };
}

/** A value in a message. */
function shownText(value: unknown): string {
  const plain = scalar(value);
  const text = plain === undefined && !(value instanceof Object)
    ? "nothing"
    : typeof plain === "string"
    ? plain
    : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Gives elements that say what others said the ids of these: they refer to the same records. */
function keepIds(
  name: string,
  before: readonly Entry[],
  after: readonly Entry[],
  now: Reading,
  referred: unknown,
): void {
  before.forEach(({ id }, i) => {
    const element = now.reader.elementOf(after[i]!);
    if (id && element) element.id = id as string;
  });
  const found = name in REFERENCES ? elementOfField(now.record, name) : null;
  if (found && referred) found.id = referred as string;
}

/** The element of a field that is one value. */
function elementOfField(record: Element, name: string): Element | undefined {
  const { block, find } = MAPPING[name]!;
  const container = containerOf(record, block);
  return container && find?.(container);
}

/**
 * Pairs entries that say the same, then those with the same key, and then, if there are as
 * many as before, the others: they have another key now.
 */
function pairs(
  { codec, key }: Entries,
  from: readonly Entry[],
  to: readonly Entry[],
  isSameArray: boolean,
): Map<Entry, Entry> {
  const found = new Map<Entry, Entry>();
  if (from.length === 0) return found;
  const formOf = (entry: Entry) => objectsIn(codec.project([entry]))[0] ?? {};
  const forms = new Map([...from, ...to].map((one) => [one, formOf(one)]));
  const left = new Set(from);
  const pair = (same: (form: Entry) => unknown) => {
    const by = Map.groupBy(left, (one) => canonical(same(forms.get(one)!)));
    for (const entry of to) {
      if (found.has(entry)) continue;
      const one = by.get(canonical(same(forms.get(entry)!)))?.shift();
      if (!one) continue;
      found.set(entry, one);
      left.delete(one);
    }
  };
  pair((form) => form);
  pair((form) => key.map((name) => form[name]));
  if (!isSameArray || from.length !== to.length) return found;
  const others = left.values();
  for (const entry of to) {
    if (!found.has(entry)) found.set(entry, others.next().value!);
  }
  return found;
}

/**
 * The entries after the comparison, and ids for the elements of the new record. Entries of
 * rows that stay have their ids.
 */
function mergeRows(
  array: Entries,
  before: readonly Entry[],
  after: readonly Entry[],
  here: readonly Entry[],
  at: Element,
  context: Context,
): Entry[] {
  const { conflict, reader } = context;
  const ownId = (entry: Entry) => reader.elementOf(entry)?.id ?? entry.id;
  // An earlier release has stored no ids.
  const unknown = before.filter((entry) => !ownId(entry));
  const found = pairs(array, unknown.length > 0 ? here : [], unknown, true);
  const idOf = (entry: Entry) => ownId(entry) ?? found.get(entry)?.id;
  const isSame = (a: Entry, b: Entry) =>
    isEqual(array.codec.project([a]), array.codec.project([b]));
  const olds = new Map(before.map((one) => [idOf(one), one]));
  const was = pairs(array, before, after, true);
  // Both may have added an entry.
  const added = here.filter(({ id }) => !olds.has(id));
  const both = pairs(array, added, after.filter((one) => !was.has(one)), false);
  const rows = new Map(here.map((row) => [row.id, row]));
  const merged = after.flatMap((entry): Entry[] => {
    const element = reader.elementOf(entry)!;
    const old = was.get(entry);
    const id = old ? idOf(old) : both.get(entry)?.id;
    const row = rows.get(id);
    rows.delete(id);
    if (id) element.id = id as string;
    if (row) {
      return [mergeFields(array, old ?? {}, entry, row, element, context)];
    }
    // It was removed here.
    const isGone = old &&
      (isSame(old, entry) || conflict(element, entry, null));
    return isGone ? [] : [asNew(array, entry, context)];
  });
  const others = [...rows.values()].filter((row) => {
    const old = olds.get(row.id);
    // The sender has removed it.
    return !old || !isSame(old, row) && conflict(at, undefined, row);
  });
  return [...merged, ...others];
}

/** An entry without a row, and the id of the row that it becomes. */
function asNew(array: Entries, entry: Entry, context: Context): Entry {
  const id = context.reader.elementOf(entry)!.id ??= context.newId();
  const made: Entry = { ...entry, id, is_new: true };
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
  { fields, composite }: Pick<Entries, "fields" | "composite">,
  before: Entry,
  after: Entry,
  here: Entry,
  at: Element,
  context: Context,
): Entry {
  const merged: Entry = { ...here };
  for (const [name, field] of Object.entries(fields)) {
    const codec = codecOf(name, field, composite);
    if (!codec) continue;
    const [was, now, own] = [before[name], after[name], here[name]];
    const said = codec.project(now);
    const array = entriesIn(name, field, composite);
    if (!array && isEqual(said, codec.project(was))) continue;
    if (array) {
      const [a, b, c] = [was, now, own].map(objectsIn);
      merged[name] = mergeRows(array, a!, b!, c!, at, context);
    } else if (field.kind === "group" && field.type !== "Territory") {
      const group = {
        fields: field.fields,
        composite: elementOf(name, field)!,
      };
      const [a, b, c] = [was, now, own].map((each) => (each ?? {}) as Entry);
      const found = codec.find?.(at) ?? at;
      merged[name] = mergeFields(group, a!, b!, c!, found, context);
    } else {
      const is = codec.project(own);
      const isEdited = !isEqual(is, codec.project(was)) && !isEqual(is, said);
      if (isEdited && context.conflict(codec.find?.(at) ?? at, now, own)) {
        continue;
      }
      merged[name] = now ?? (field.kind === "rows" ? [] : null);
    }
  }
  return merged;
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
