import type { Entry } from "../bodies.ts";
import { type ApiError, splitMessage } from "../errors.ts";
import { isEqual, objectsIn } from "../objects.ts";
import {
  type CellForm,
  isCellOf,
  type Read,
  readCell,
  textOfSafe,
  TOO_LONG,
  writeCell,
} from "./cells.ts";
import { meantEntry, PUBLICATION, type SheetColumn, valueOfColumn } from "./columns.ts";
import type { CellChange, SheetMessage } from "./report.ts";

/* A row becomes the body of an upsert, and faults of the body become faults of cells. */

/** The cells of a row, by column. A row that is too short lacks the last ones. */
export type Cells = ReadonlyMap<SheetColumn, string>;

export interface RowForm extends CellForm {
  /** What an empty cell does. */
  empty: "keep" | "clear";
}

/** A cell that sets its place in the body. */
interface SetCell {
  column: SheetColumn;
  cell: string;
  before: unknown;
  value: unknown;
  /** The entry of an array in which the place is. */
  entry: Entry | undefined;
}

/** What a row makes of a product. */
export interface Draft {
  body: Entry;
  /** The cells that have set something in the body. */
  set: SetCell[];
  warnings: SheetMessage[];
  /** The cells that cannot be read. */
  faults: SheetMessage[];
}

/**
 * Sets in a body what the cells change of the product, `{}` for a new one. A cell that an export
 * would write changes nothing.
 */
export function draftOf(product: Entry, cells: Cells, form: RowForm): Draft {
  const draft: Draft = { body: {}, set: [], warnings: [], faults: [] };
  for (const [column, cell] of cells) {
    if (column.isAssigned || cell === TOO_LONG) continue;
    const before = valueOfColumn(product, column);
    if (isCellOf(before, cell, column)) continue;
    const isEmpty = cell.trim() === "";
    if (isEmpty && (form.empty === "keep" || before === null)) continue;
    const read = isEmpty ? cleared(column) : readCell(cell, column, form, before);
    if ("fault" in read) {
      draft.faults.push(messageAt(read.fault, column, cell));
      continue;
    }
    if ("warning" in read && read.warning) {
      draft.warnings.push(messageAt(read.warning, column, cell, "warning"));
    }
    const { value } = read;
    const entry = setIn(draft, product, column, value);
    draft.set.push({ column, cell, before, value, entry });
  }
  removeEmptied(draft);
  return draft;
}

/** What an empty cell means that clears its place. */
function cleared({ name, kind }: SheetColumn): Read {
  if (name === "title") return { fault: "required: A product has a title" };
  return { value: kind === "list" ? [] : null };
}

/**
 * Sets one place. Returns the entry of the array in which it is: one of the product, or one that a
 * cell with the same key has added. So the order of the columns says nothing.
 */
function setIn(
  { body, set }: Draft,
  product: Entry,
  { field, key, inner, target, name }: SheetColumn,
  value: unknown,
): Entry | undefined {
  if (key === undefined) {
    if (name === "publication_date") setPublication(body, product, value);
    else body[value === null ? target : field] = value;
    return;
  }
  const entries = (body[field] ??= structuredClone(product[field] ?? [])) as unknown[];
  if (inner === undefined) {
    entries[key as number] = value;
    return;
  }
  const isOfEntry = ({ column }: SetCell) => column.field === field && isEqual(column.key, key);
  const stored = entries.slice(0, objectsIn(product[field]).length) as Entry[];
  let entry = typeof key === "number"
    ? entries[key] as Entry | undefined
    : set.find(isOfEntry)?.entry ?? meantEntry(stored, key);
  if (!entry) {
    entry = typeof key === "number" ? {} : { ...key };
    entries[typeof key === "number" ? key : entries.length] = entry;
  }
  if (value === null) entry[target] = null;
  else {
    // A name counts only where the id and the code are absent.
    if (target !== inner) delete entry[target];
    if (/_name$/.test(inner)) delete entry[inner.replace(/_name$/, "_code")];
    entry[inner] = value;
  }
  return entry;
}

/** Sets the day of publication. A year or a month announces it, and takes its place. */
function setPublication(body: Entry, product: Entry, value: unknown): void {
  const isDay = !/^\d{4}(?:-\d\d)?$/.test(String(value));
  body.publication_date = isDay ? value : null;
  const dates = objectsIn(body.publishing_dates ?? product.publishing_dates);
  const others = dates.filter((one) => one.publishing_date_role !== PUBLICATION);
  if (isDay && others.length === dates.length) return;
  body.publishing_dates = isDay ? others : [
    ...others,
    { publishing_date_role: PUBLICATION, date: value },
  ];
}

/** Removes the positions without an entry, and the entries of which cells have left nothing. */
function removeEmptied({ body, set }: Draft): void {
  const emptied = new Set(set.filter(isEmptying).map(({ entry }) => entry));
  const arrays = set.flatMap(({ column: { field, key } }) => key === undefined ? [] : field);
  for (const field of new Set(arrays)) {
    body[field] = Array.from(body[field] as Entry[])
      .filter((entry) => entry != null && !emptied.has(entry));
  }
}

/** The fields that follow from others: ids, names and labels. They alone do not keep an entry. */
const FOLLOWING = /^id$|^field_id$|_(?:name|label)$/;

/** Whether the cell has cleared a field of an entry that now has only its key and defaults. */
function isEmptying({ column: { key }, entry, value }: SetCell): boolean {
  if (!entry || value !== null) return false;
  const keyFields = typeof key === "object" ? key : {};
  return Object.entries(entry).every(([name, value]) =>
    name in keyFields || FOLLOWING.test(name) || value === null || value === false ||
    Array.isArray(value) && value.length === 0
  );
}

/** What the row changes, where its body is valid. */
export function cellChanges({ set }: Draft, valid: Entry): CellChange[] {
  return set.map(({ column, cell, before, value }) => ({
    column: column.name,
    ...column.kind === "list"
      ? { from: writeCell(before, column), to: textOfSafe(cell) }
      : { from: before, to: value && (valueOfColumn(valid, column) ?? value) },
  })).filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}

/** The errors of a body, at the cells that set it. */
export function cellFaults(error: ApiError, draft: Draft): SheetMessage[] {
  if (error.details.length === 0) {
    return [messageAt(`${error.code.toLowerCase()}: ${error.message}`)];
  }
  return error.details.map(({ code, message, ...place }) => {
    const pointer = "pointer" in place ? place.pointer : "";
    const { column, cell, named } = cellAt(pointer, draft);
    const fault = messageAt(`${code}: ${named}${message}`, column, cell);
    if (!column) fault.column = pointer.slice(1) || null;
    if (CREATED.test(message)) fault.message += ", or send create_names=true";
    return fault;
  });
}

/** The end of the message about a name that an import can create. */
const CREATED = /POST \/(?:contributors|publishers|imprints|collections)$/;

/** The cell that has set the place of a pointer, and what it names there. */
function cellAt(pointer: string, { body, set }: Draft) {
  const [, field = "", index, inner = ""] = pointer.split("/");
  const here = set.filter(({ column: { name, field: own, target } }) =>
    own === field || target === field ||
    name === "publication_date" && field === "publishing_dates"
  );
  const entry = (body[field] as Entry[] | undefined)?.[Number(index)];
  const inEntry = here.filter((one) => one.entry && one.entry === entry);
  const found = inEntry.find(({ column }) => column.inner === inner || column.target === inner) ??
    inEntry[0] ?? here[0];
  // If a cell has several entries, the message names the one at fault.
  const value = found?.column.kind === "list" ? entry?.[inner] : undefined;
  return { ...found, named: value ? `"${value}": ` : "" };
}

/** A message about a row, or about a cell. `text` is `code: Sentence`. */
export function messageAt(
  text: string,
  column?: SheetColumn,
  cell?: string,
  severity: SheetMessage["severity"] = "error",
): SheetMessage {
  const { code, message } = splitMessage(text);
  const value = cell?.slice(0, 200) ?? null;
  return { severity, column: column?.name ?? null, code, message, value };
}
