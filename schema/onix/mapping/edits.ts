import { discriminatorOf, type Entry } from "../../bodies.ts";
import { elementOf, type Field, type Fields, type Rows } from "../../fields.ts";
import { ARRAYS } from "../../product.ts";
// Declares `JSON.isRawJSON`.
import type {} from "../../numbers.ts";
import { isObject } from "../../objects.ts";
import type { Edits } from "./options.ts";
import type { Message } from "../report/report.ts";
import { childrenOf, type Element } from "../xml/element.ts";
import type { Steps } from "../xml/steps.ts";
import { type Book, canonical, isEqual, objectsIn, scalar } from "./codec.ts";
import { type Incoming, replaceTerritories } from "./incoming.ts";
import {
  continuing,
  ENTRIES,
  formOfEntry,
  type Identities,
  identitiesOf,
  isWritten,
  keyForm,
  pairs,
  plain,
} from "./identity.ts";
import {
  COLLATERAL_TYPES,
  containerOf,
  MAPPED,
  MAPPING,
  type RecordValues,
  REFERENCES,
} from "./mapping.ts";
import type { Differences } from "./outgoing.ts";
import { stepsOf } from "./path.ts";

/*
 * What a record changes of a product that was edited here. In: the record last received, the
 * new one, and the product. Out: the new record without what its sender has left alone. Each
 * field, each entry, and each field of an entry is one comparison of three values.
 */

/** A record, without what is not written of its product. */
export interface Merged {
  incoming: Incoming;
  messages: Message[];
  /** The differences of the product from the last record, when that was received. */
  before: Differences | null;
  /** The fields that are not written: the sender has left them alone, or an edit is protected. */
  kept: ReadonlySet<string>;
  /** The fields whose values here differ from those of the record, and stay. */
  edited: ReadonlySet<string>;
  /** The ids of what the values of the record stand for, once they are written to the product. */
  identitiesIn(book: Book): Identities;
}

/** The record last received. */
export interface Last {
  values: RecordValues;
  differences: Differences | null;
  identities: Identities | null;
}

/**
 * Compares the record last received, the new one, and the product. What the sender has left
 * alone stays as it is here. What the sender has changed is written, unless it was edited
 * here and `edits` is `protect`. With `overwrite`, and for a product without a record, the
 * product counts as what the sender said last: it has no edits.
 */
export function* mergeEdits(
  incoming: Incoming,
  last: Last | null,
  book: Book,
  edits: Edits,
): Steps<Merged> {
  const compared = edits === "overwrite" ? null : last;
  const kept = new Set<string>();
  const edited = new Set<string>();
  const arrays = new Map<string, Entry[]>();
  const messages: Message[] = [];
  const values: RecordValues = {};
  const differences = compared?.differences ?? {};

  for (const [name, field] of MAPPED) {
    yield;
    const here = field.valueIn(book);
    const before = compared ? compared.values[name] : here;
    const said = saysField(name, incoming)
      ? saidIn(incoming, name, before)
      : before;
    const projectedBefore = field.project(before);
    const projectedSaid = said === before
      ? projectedBefore
      : field.project(said);
    const isSame = isEqual(projectedSaid, projectedBefore);
    // Most fields say the same: what they stand for is then known.
    const after = isSame && before !== undefined
      ? before
      : continuing(name, last?.values[name], said);
    values[name] = after;
    const projectedHere = before === here
      ? projectedBefore
      : field.project(here);
    const projectedThen = Object.hasOwn(differences, name)
      ? differences[name] ?? undefined
      : projectedBefore;
    const isEdited = !isEqual(projectedHere, projectedThen);
    if (incoming.unreadable.has(name) && !(name in ARRAYS)) {
      // What cannot be read changes nothing.
      if (isEdited) edited.add(name);
      continue;
    }
    const conflict = conflictTeller(name, incoming.record, edits, messages);
    if (isSame) {
      kept.add(name);
      if (isEdited) edited.add(name);
    } else if (name in ENTRIES) {
      const entries = mergeRows(
        ENTRIES[name]!,
        objectsIn(before),
        objectsIn(after),
        objectsIn(here),
        conflict,
      );
      arrays.set(name, entries);
      if (!isEqual(field.project(entries), projectedSaid)) edited.add(name);
    } else if (isEdited && !isEqual(projectedHere, projectedSaid)) {
      if (conflict(after, here)) {
        kept.add(name);
        edited.add(name);
      }
    }
  }
  if (kept.has("supporting_resources") && !kept.has("cover_image_url")) {
    // It is one of their links.
    kept.add("cover_image_url");
    edited.add("cover_image_url");
  }
  return {
    incoming: withoutKept(incoming, kept, arrays, book),
    messages,
    before: compared?.differences ?? null,
    kept: compared ? kept : NONE,
    edited: compared ? edited : NONE,
    identitiesIn: (book) => ({
      ...identitiesOf(book, values, (name) => !compared || !kept.has(name)),
      ...compared && identitiesOfKept(kept, values, compared),
    }),
  };
}

/** The ids of the records that kept fields refer to, if the new record names them like the last one. */
function identitiesOfKept(
  kept: ReadonlySet<string>,
  values: RecordValues,
  last: Last,
): Identities {
  const same = Object.keys(REFERENCES).filter((name) =>
    kept.has(name) && last.identities?.[name] !== undefined &&
    projectsSame(name, last.values[name], values[name])
  );
  return Object.fromEntries(
    same.map((name) => [name, last.identities![name]]),
  );
}

function projectsSame(name: string, a: unknown, b: unknown): boolean {
  const { project } = MAPPING[name]!;
  return isEqual(project(a), project(b));
}

const NONE: ReadonlySet<string> = new Set();

/** Whether the record says the field. A partial update says its blocks. */
function saysField(name: string, incoming: Incoming): boolean {
  const { block } = MAPPING[name]!;
  return incoming.notification !== "04" ||
    block !== null && incoming.blocks.includes(block);
}

/** What the record says of a field. A partial update may say the supply of some markets alone. */
function saidIn(incoming: Incoming, name: string, before: unknown): unknown {
  const said = incoming.values[name];
  return name === "product_territories" && incoming.byMarketReference
    ? replaceTerritories(objectsIn(before), objectsIn(said))
    : said;
}

/** Warns of a value that was changed by the sender and here. Returns whether the one here stays. */
type Conflict = (after: unknown, here: unknown) => boolean;

/** Returns the function that adds the conflicts in a field to `messages`. */
function conflictTeller(
  name: string,
  record: Element,
  edits: Edits,
  messages: Message[],
): Conflict {
  return (after, here) => {
    const isKept = edits === "protect";
    const [theirs, ours] = [shownText(after), shownText(here)];
    messages.push({
      severity: "warning",
      code: isKept ? "edit_kept" : "edit_overwritten",
      path: pathOf(name, record),
      value: typeof scalar(after) === "string" ? theirs : null,
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

/** The path of the first element of a field in the record, or of what would contain it. */
function pathOf(name: string, record: Element): string {
  const { block, place } = MAPPING[name]!;
  const [first] = stepsOf(place);
  const container = containerOf(record, block);
  const above = block && block !== "ProductSupply"
    ? `/Product/${block}`
    : "/Product";
  if (!container || !first) return "/Product";
  const all = childrenOf(container, first.name);
  if (all.length === 0) return above;
  return `${above}/${first.name}${all.length > 1 ? "[1]" : ""}`;
}

/** The entries after the comparison. Those of rows that stay have their ids. */
function mergeRows(
  array: Rows,
  before: readonly Entry[],
  after: readonly Entry[],
  here: readonly Entry[],
  conflict: Conflict,
): Entry[] {
  const { fields } = array;
  const isSame = (a: Entry, b: Entry) =>
    formOfEntry(fields, a) === formOfEntry(fields, b);
  const hereOf = pairs(array, before, here);
  const afterOf = pairs(array, before, after);
  const wasHere = inverse(hereOf);
  const wasAfter = inverse(afterOf);
  const used = new Set<Entry>();
  const merged: Entry[] = [];
  for (const now of after) {
    const was = wasAfter.get(now);
    const own = was ? hereOf.get(was) : here.find((entry) =>
      // Both have added it.
      !wasHere.has(entry) && !used.has(entry) &&
      keyForm(array, entry) === keyForm(array, now)
    );
    if (own) {
      used.add(own);
      const values = mergeFields(fields, was ?? {}, now, own, conflict);
      merged.push({ ...identityOf(array, own), ...values });
      continue;
    }
    // It was removed here.
    if (was && (isSame(was, now) || conflict(now, undefined))) continue;
    merged.push(withoutIds(now));
  }
  for (const entry of here) {
    if (used.has(entry)) continue;
    const was = wasHere.get(entry);
    const isGone = was && !afterOf.has(was);
    const isEdited = was && !isSame(was, entry);
    // The sender has removed it.
    if (isGone && !(isEdited && conflict(undefined, entry))) continue;
    merged.push({
      ...identityOf(array, entry),
      ...bodyOfEntry(fields, entry),
    });
  }
  return merged;
}

function inverse(pairs: ReadonlyMap<Entry, Entry>): Map<Entry, Entry> {
  return new Map(Array.from(pairs, ([one, other]) => [other, one]));
}

/** The entry without ids: the rows that its element stood for are gone. */
function withoutIds<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutIds) as T;
  if (!isObject(value) || JSON.isRawJSON(value)) return value;
  const { id: _, ...entry } = value;
  return Object.fromEntries(
    Object.entries(entry).map(([name, inner]) => [name, withoutIds(inner)]),
  ) as T;
}

/** The id of an entry, and its type in the array that has types. */
function identityOf(array: Rows, { id, ...entry }: Entry): Entry {
  const name = discriminatorOf(ARRAYS.collateral);
  return {
    ...id ? { id } : {},
    ...array.table === ARRAYS.collateral.table && { [name]: entry[name] },
  };
}

/** Merges the fields of an entry. What ONIX does not say stays as it is here. */
function mergeFields(
  fields: Fields,
  before: Entry,
  after: Entry,
  here: Entry,
  conflict: Conflict,
): Entry {
  const merged: Entry = {};
  for (const [name, field] of Object.entries(fields)) {
    if (!isWritten(field)) continue;
    const [was, now, own] = [before[name], after[name], here[name]];
    const form = (value: unknown) => canonical(plain(field, value));
    if (elementOf(name, field) === null || form(was) === form(now)) {
      const stays = bodyOfField(field, own);
      if (stays !== undefined) merged[name] = stays;
    } else if (field.kind === "rows" && !field.isIdHidden) {
      merged[name] = mergeRows(
        field,
        objectsIn(was),
        objectsIn(now),
        objectsIn(own),
        conflict,
      );
    } else if (field.kind === "group" && field.type !== "Territory") {
      merged[name] = mergeFields(
        field.fields,
        (was ?? {}) as Entry,
        (now ?? {}) as Entry,
        (own ?? {}) as Entry,
        conflict,
      );
    } else {
      const isEdited = form(own) !== form(was) && form(own) !== form(now);
      const value = isEdited && conflict(now, own)
        ? bodyOfField(field, own)
        : now;
      if (value !== undefined) merged[name] = value;
      else if (isNullable(field)) merged[name] = null;
    }
  }
  return merged;
}

function isNullable(field: Field): boolean {
  return field.kind === "column" && !field.isRequired &&
    field.fallback === undefined;
}

/** An entry of a response as a body has it: without labels and the like. */
function bodyOfEntry(fields: Fields, entry: Entry): Entry {
  const body: Entry = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = isWritten(field)
      ? bodyOfField(field, entry[name])
      : undefined;
    if (value !== undefined) body[name] = value;
  }
  return body;
}

function bodyOfField(field: Field, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  switch (field.kind) {
    case "group":
      return bodyOfEntry(field.fields, value as Entry);
    case "values":
      return objectsIn(value).map((entry) => bodyOfEntry(field.fields, entry));
    case "rows":
      return objectsIn(value).map((entry) => ({
        ...field.isIdHidden ? {} : identityOf(field, entry),
        ...bodyOfEntry(field.fields, entry),
      }));
    default:
      return value;
  }
}

/** The record without the fields that stay as they are here. */
function withoutKept(
  incoming: Incoming,
  kept: ReadonlySet<string>,
  arrays: ReadonlyMap<string, Entry[]>,
  book: Book,
): Incoming {
  const body = { ...incoming.body };
  const linked = { ...incoming.linked };
  for (const name of kept) {
    delete body[name];
    delete linked[name as keyof typeof linked];
  }
  const reduced: Incoming = { ...incoming, body, linked };
  for (const name of ["product_territories", "product_sales_rights"] as const) {
    if (kept.has(name)) delete reduced[name];
    else if (arrays.has(name)) {
      reduced[name] = arrays.get(name)!;
      if (name === "product_territories") reduced.byMarketReference = false;
    }
  }
  if (body.collateral !== undefined) {
    const isKept = COLLATERAL_TYPES.every((type) => kept.has(type));
    if (isKept) delete body.collateral;
    else body.collateral = COLLATERAL_TYPES.flatMap(collateralOf);
  }
  return reduced;

  function collateralOf(type: typeof COLLATERAL_TYPES[number]): Entry[] {
    if (!kept.has(type)) {
      return arrays.get(type) ?? objectsIn(incoming.values[type]);
    }
    const array = ENTRIES[type]!;
    return objectsIn(MAPPING[type]!.valueIn(book)).map((entry) => ({
      ...identityOf(array, entry),
      ...bodyOfEntry(array.fields, entry),
    }));
  }
}
