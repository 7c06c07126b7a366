import type { Entry } from "../../bodies.ts";
import {
  elementOf,
  type Field,
  type Fields,
  keyOf,
  type Rows,
} from "../../fields.ts";
import { isObject } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import { type Book, canonical, objectsIn, scalar } from "./codec.ts";
import { continuedCollections } from "./collections.ts";
import { continuedContributors } from "./contributors.ts";
import {
  COLLATERAL_TYPES,
  MAPPED,
  MAPPING,
  type RecordValues,
  REFERENCES,
} from "./mapping.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * What the elements of a record stand for. In: the values of a record, and the product that
 * they were written to. Out: the ids of rows and records that belong to the values. They are
 * stored beside the record, so that an element is recognized after all its values have changed.
 */

/** The ids of what values stand for, by field, nested as the values are. */
export type Identities = Readonly<Record<string, unknown>>;

/** The arrays whose entries are merged one by one, by their names in the mapping. */
export const ENTRIES: Readonly<Record<string, Rows>> = {
  ...Object.fromEntries(COLLATERAL_TYPES.map((type) => {
    const { types, ...array } = ARRAYS.collateral;
    const { fields, same } = types![type]!;
    return [type, { ...array, fields, ...same && { same } }];
  })),
  product_territories: ARRAYS.product_territories,
  product_sales_rights: ARRAYS.product_sales_rights,
};

/** How values get the ids of those that they continue, for fields whose entries have ids. */
const CONTINUED: Readonly<
  Record<string, (before: Entry[], after: Entry[]) => Entry[]>
> = {
  ...Object.fromEntries(
    Object.entries(ENTRIES).map(([name, array]) => [
      name,
      (before: Entry[], after: Entry[]) => continued(array, before, after),
    ]),
  ),
  contributors: continuedContributors,
  collections: continuedCollections,
};

/** The value with the ids of what it continues of another, in copies. */
export function continuing(
  name: string,
  before: unknown,
  after: unknown,
): unknown {
  const own = CONTINUED[name];
  return own && Array.isArray(after)
    ? own(objectsIn(before), objectsIn(after))
    : after;
}

/**
 * The ids of what the values of a record stand for, after they were written to the product.
 * `isWritten` says whether a reference was.
 */
export function identitiesOf(
  book: Book,
  values: RecordValues,
  isWritten: (name: string) => boolean,
): Identities {
  const ids: Record<string, unknown> = {};
  for (const name of Object.keys(CONTINUED)) {
    if (values[name] === undefined) continue;
    const here = MAPPING[name]!.valueIn(book);
    ids[name] = idsIn(continuing(name, here, values[name]));
  }
  for (const [name, reference] of Object.entries(REFERENCES)) {
    if (values[name] === undefined || !isWritten(name)) continue;
    ids[name] = book.product[reference];
  }
  return Object.fromEntries(
    Object.entries(ids).filter(([, id]) => id != null),
  );
}

/** The same for a record from which the product was just created, with the entries in their order. */
export function identitiesOfNew(book: Book): Identities {
  const values = MAPPED.map(([name, { valueIn }]) => [name, valueIn(book)]);
  return identitiesOf(book, Object.fromEntries(values), () => true);
}

/** The ids in a value, nested as they are in it, or null without any. */
function idsIn(value: unknown): unknown {
  if (Array.isArray(value)) {
    const all = value.map(idsIn);
    return all.some((ids) => ids !== null) ? all : null;
  }
  if (!isObject(value)) return null;
  const own = Object.entries(value).flatMap(([name, inner]) => {
    const ids = name === "id" ? inner ?? null : idsIn(inner);
    return ids === null ? [] : [[name, ids] as const];
  });
  return own.length > 0 ? Object.fromEntries(own) : null;
}

/**
 * Gives the values of a stored record the ids that are stored beside it, in copies, which
 * come from the same elements.
 */
export function addIdentities(
  values: RecordValues,
  ids: Identities | null,
  reader?: RecordReader,
): void {
  for (const name of Object.keys(CONTINUED)) {
    values[name] = withIds(values[name], ids?.[name], reader);
  }
}

function withIds(value: unknown, ids: unknown, reader?: RecordReader): unknown {
  if (Array.isArray(value)) {
    // Another number of entries may be read of the record than when it was stored.
    return Array.isArray(ids) && ids.length === value.length
      ? value.map((entry, i) => withIds(entry, ids[i], reader))
      : value;
  }
  if (!isObject(value) || !isObject(ids)) return value;
  const copy: Entry = { ...value };
  for (const [name, id] of Object.entries(ids)) {
    copy[name] = name === "id" ? id : withIds(value[name], id, reader);
  }
  const source = reader?.elementOf(value);
  if (source) reader!.tie(source, copy);
  return copy;
}

/** The entries with the ids of those that they continue, in copies. */
function continued(
  array: Rows,
  before: readonly Entry[],
  after: readonly Entry[],
): Entry[] {
  const was = new Map(
    Array.from(pairs(array, before, after), ([was, now]) => [now, was]),
  );
  return after.map((entry) => {
    const from = was.get(entry);
    return from ? continuedEntry(array.fields, from, entry) : entry;
  });
}

function continuedEntry(fields: Fields, before: Entry, after: Entry): Entry {
  const copy: Entry = { ...after };
  if (before.id !== undefined) copy.id = before.id;
  for (const [name, field] of Object.entries(fields)) {
    const [was, now] = [before[name], after[name]];
    if (field.kind === "group" && isObject(was) && isObject(now)) {
      copy[name] = continuedEntry(field.fields, was, now);
    } else if (field.kind === "rows" && !field.isIdHidden && now) {
      copy[name] = continued(field, objectsIn(was), objectsIn(now));
    }
  }
  return copy;
}

/**
 * Pairs each entry with the other that it has become: the one with its id, or the same, or
 * one with its key, or one left over whose id is not known.
 */
export function pairs(
  array: Rows,
  before: readonly Entry[],
  after: readonly Entry[],
): Map<Entry, Entry> {
  const { fields } = array;
  const found = new Map<Entry, Entry>();
  const left = new Set(after);
  const pair = (same: (entry: Entry) => string | undefined) => {
    const forms = Map.groupBy(left, same);
    for (const entry of before) {
      if (found.has(entry)) continue;
      const form = same(entry);
      const other = form === undefined ? undefined : forms.get(form)?.shift();
      if (!other) continue;
      found.set(entry, other);
      left.delete(other);
    }
  };
  pair(({ id }) => id as string | undefined);
  if (left.size === 0) return found;
  pair((entry) => formOfEntry(fields, entry));
  if (left.size === 0) return found;
  pair((entry) => keyForm(array, entry));
  if (left.size === 0 || before.length !== after.length) return found;
  // As many as before: the unpaired entries have another key now.
  const others = [...left];
  for (const entry of before) {
    if (found.has(entry)) continue;
    const i = others.findIndex(({ id }) =>
      entry.id === undefined || id === undefined
    );
    if (i >= 0) found.set(entry, others.splice(i, 1)[0]!);
  }
  return found;
}

/** What tells an entry from others without an id, in one form. */
export function keyForm(array: Rows, entry: Entry): string {
  const { fields } = array;
  return canonical(
    keyOf(array).map((name) => plain(fields[name], entry[name])),
  );
}

/** What an entry says, in one form. */
export function formOfEntry(fields: Fields, entry: Entry): string {
  return canonical(plainEntry(fields, entry));
}

function plainEntry(fields: Fields, entry: Entry): Entry | undefined {
  let said: Entry | undefined;
  for (const name in fields) {
    const value = plain(fields[name], entry[name]);
    const isSaid = value !== undefined && isWritten(fields[name]!) &&
      elementOf(name, fields[name]!) !== null;
    if (!isSaid) continue;
    said ??= {};
    said[name] = value;
  }
  return said;
}

/** A value by which values are compared, or undefined for nothing. */
export function plain(field: Field | undefined, value: unknown): unknown {
  if (!field || value === undefined || value === null) return;
  switch (field.kind) {
    case "group":
      return plainEntry(field.fields, value as Entry);
    case "rows":
    case "values": {
      const all = objectsIn(value).map((entry) =>
        plainEntry(field.fields, entry) ?? {}
      );
      return all.length > 0 ? all : undefined;
    }
    default:
      if (Array.isArray(value)) return value.length > 0 ? value : undefined;
      return scalar(value);
  }
}

/** Whether bodies have the field. */
export function isWritten(field: Field): boolean {
  return field.kind === "column"
    ? field.body !== undefined
    : ["group", "rows", "values", "list"].includes(field.kind);
}
