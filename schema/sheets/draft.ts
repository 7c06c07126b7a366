import type { Entry } from "../bodies.ts";
import type { ErrorDetail } from "../errors.ts";
import { objectsIn } from "../objects.ts";
import {
  type CellForm,
  cellOf,
  readCell,
  sameLines,
  TOO_LONG,
} from "./cells.ts";
import {
  type Column,
  entryOf,
  MATCHES,
  PUBLICATION,
  valueAt,
} from "./columns.ts";
import { bareCell } from "./cells.ts";
import { readList } from "./lists.ts";
import type { CellChange, SheetMessage } from "./report.ts";

/** What the cells of a row set, by column. Cells without a column in the row are absent. */
export type Cells = ReadonlyMap<Column, string>;

export interface DraftForm extends CellForm {
  /** Whether an empty cell clears its place. */
  isCleared: boolean;
}

/** The body that a row makes of a product. */
export interface Draft {
  body: Entry;
  changes: CellChange[];
  messages: SheetMessage[];
  /** The column of the place to which a pointer leads. */
  columnAt(pointer: string): Column | undefined;
}

/** A place that a row sets: a field of the body, or of an entry. */
interface Place {
  column: Column;
  entry: Entry | undefined;
  isCleared: boolean;
}

/**
 * Sets in a body what the cells change of the product, `{}` for a new one. A cell that an export
 * would write changes nothing. Columns in `without` are left out.
 */
export function draftOf(
  product: Entry,
  cells: Cells,
  form: DraftForm,
  without: ReadonlySet<Column>,
): Draft {
  const body: Entry = {};
  const places: Place[] = [];
  const draft: Draft = {
    body,
    changes: [],
    messages: [],
    columnAt: (pointer) => columnAt(pointer, body, places),
  };
  for (const [column, cell] of cells) {
    if (column.isAssigned || without.has(column) || cell === TOO_LONG) continue;
    const before = valueAt(product, column);
    if (isSameCell(cell, before, column)) continue;
    const isCleared = cell.trim() === "";
    if (isCleared && (!form.isCleared || before === null)) continue;
    const read = isCleared
      ? { value: column.kind === "list" ? [] : null }
      : column.kind === "list"
      ? {
        value: readList(column.field, guardless(cell), listOf(product, column)),
      }
      : readCell(cell, column, form);
    if ("fault" in read) {
      draft.messages.push(messageOf(read.fault, column, cell));
      continue;
    }
    if ("warning" in read && read.warning) {
      draft.messages.push(messageOf(read.warning, column, cell, "warning"));
    }
    const value = asBefore(read.value, before, column);
    const shown = column.kind === "list"
      ? [cellOf(before, column), guardless(cell)]
      : [before, shownOf(value, column)];
    draft.changes.push({ column: column.name, from: shown[0], to: shown[1] });
    places.push(set(body, product, column, value, isCleared));
  }
  for (const { column: { field, entry: place } } of places) {
    if (!place) continue;
    // Positions without an entry, and entries of which nothing is left.
    body[field] = (body[field] as (Entry | null)[]).filter((entry) =>
      entry !== null && entry !== undefined && !isLeft(entry, places, place.key)
    );
  }
  return draft;
}

function guardless(cell: string): string {
  return cell.replace(/^'(?='*[=+\-@\t\r])/, "");
}

function listOf(product: Entry, { field }: Column): Entry[] {
  return product[field] as Entry[] ?? [];
}

function messageOf(
  text: string,
  column: Column,
  cell: string,
  severity: SheetMessage["severity"] = "error",
): SheetMessage {
  const [, code = "invalid", message = text] = /^(\w+): (.*)$/s.exec(text) ??
    [];
  return {
    severity,
    column: column.name,
    code,
    message,
    value: cell.slice(0, 200),
  };
}

/** Whether the cell is what an export writes, in any form of amounts and line ends. */
function isSameCell(cell: string, value: unknown, column: Column): boolean {
  if (column.kind === "isbn") return bareCell(cell) === (value ?? "");
  if (column.kind === "list" && value === null) return cell.trim() === "";
  const same = sameLines(cell);
  return same === sameLines(cellOf(value, column)) ||
    column.kind === "amount" && same === cellOf(value, column, "comma");
}

/** A typed custom value keeps its type, where the text has it. */
function asBefore(value: unknown, before: unknown, { entry }: Column): unknown {
  if (entry?.field !== "field_value" || typeof value !== "string") return value;
  const isNumber = typeof before === "number" &&
    /^-?\d+(?:\.\d+)?$/.test(value);
  if (isNumber && String(Number(value)) === value) return Number(value);
  return typeof before === "boolean" && /^(?:true|false)$/.test(value)
    ? value === "true"
    : value;
}

function shownOf(value: unknown, { kind, name }: Column): unknown {
  const isNumber =
    (kind === "amount" || /_count$|_number$|quantity$/.test(name)) &&
    typeof value === "string" && /^-?\d{1,12}(?:\.\d{1,4})?$/.test(value);
  return isNumber ? Number(value) : value;
}

/** Sets one place. */
function set(
  body: Entry,
  product: Entry,
  column: Column,
  value: unknown,
  isCleared: boolean,
): Place {
  const { field, entry: place, clears, name } = column;
  if (!place) {
    if (name === "publication_date") setPublication(body, product, value);
    else body[isCleared ? clears : field] = value;
    return { column, entry: undefined, isCleared };
  }
  const entries = (body[field] ??= structuredClone(product[field] ?? [])) as (
    | Entry
    | null
  )[];
  if (place.field === undefined) {
    entries[place.key as number] = value as Entry;
    return { column, entry: undefined, isCleared };
  }
  let entry = entryOf(entries as Entry[], place.key);
  if (!entry) {
    entry = typeof place.key === "number" ? {} : { ...place.key };
    if (typeof place.key === "number") entries[place.key] = entry;
    else entries.push(entry);
  }
  if (isCleared) entry[clears] = null;
  else {
    // A name or a code counts where the id is absent.
    if (clears !== place.field) delete entry[clears];
    if (/_name$/.test(place.field)) {
      delete entry[place.field.replace(/_name$/, "_code")];
    }
    entry[place.field] = value;
  }
  return { column, entry, isCleared };
}

/** A year or a month announces the day of publication, and takes its place. */
function setPublication(body: Entry, product: Entry, value: unknown): void {
  const isDay = !/^\d{4}(?:-\d\d)?$/.test(String(value));
  body.publication_date = isDay ? value : null;
  const dates = objectsIn(body.publishing_dates ?? product.publishing_dates);
  const others = dates.filter((one) =>
    one.publishing_date_role !== PUBLICATION
  );
  if (!isDay || others.length < dates.length) {
    body.publishing_dates = isDay ? others : [
      ...others,
      { publishing_date_role: PUBLICATION, date: value },
    ];
  }
}

/** Whether an entry that a cell has cleared has nothing but its key and defaults. */
function isLeft(
  entry: Entry,
  places: readonly Place[],
  key: Entry | number,
): boolean {
  if (!places.some((one) => one.entry === entry && one.isCleared)) return false;
  const keys = typeof key === "number" ? {} : key;
  return Object.entries(entry).every(([name, value]) =>
    name in keys || name === "id" || name === "field_id" ||
    /_(?:name|label)$/.test(name) || value === null ||
    value === false || Array.isArray(value) && value.length === 0
  );
}

function columnAt(
  pointer: string,
  body: Entry,
  places: readonly Place[],
): Column | undefined {
  const [, field = "", index, name] = pointer.split("/");
  const here = places.filter(({ column }) => column.field === field);
  const entry = (body[field] as Entry[] | undefined)?.[Number(index)];
  const found =
    here.find((one) =>
      one.entry !== undefined && one.entry === entry &&
      [one.column.entry!.field, one.column.clears].includes(name!)
    ) ?? here.find((one) => one.entry !== undefined && one.entry === entry) ??
      here[0] ?? places.find(({ column }) => column.clears === field);
  return (found ??
    places.find(({ column }) =>
      field === "publishing_dates" && column.name === "publication_date"
    ))?.column;
}

/** The messages of errors at the places of a row. */
export function messagesOf(
  details: readonly ErrorDetail[],
  draft: Draft,
  cells: Cells,
): { messages: SheetMessage[]; columns: Column[] } {
  const columns: Column[] = [];
  const messages = details.map((detail): SheetMessage => {
    const column = "pointer" in detail
      ? draft.columnAt(detail.pointer)
      : undefined;
    if (column) columns.push(column);
    const { code, message } = detail;
    return {
      severity: "error",
      column: column?.name ??
        ("pointer" in detail ? detail.pointer.slice(1) || null : null),
      code,
      message,
      value: column ? (cells.get(column) ?? "").slice(0, 200) : null,
    };
  });
  return { messages, columns };
}

/** The value by which a row finds its product, of the first column that has one. */
export function matchOf(
  cells: Cells,
): { match: typeof MATCHES[number]; column: Column; cell: string } | undefined {
  for (const match of MATCHES) {
    for (const [column, cell] of cells) {
      if (column.name === match && cell.trim() !== "") {
        return { match, column, cell };
      }
    }
  }
}
