import { type Entry, outdatedFields } from "../../../schema/bodies.ts";
import { type ApiError, MAX_ERRORS, splitMessage } from "../../../schema/errors.ts";
import { excerpt } from "../../../schema/excerpt.ts";
import { objectsIn } from "../../../schema/objects.ts";
import { FIELDS } from "../../../schema/product.ts";
import { type Cell, textOf } from "./cell.ts";
import { type CellForm, isCellOf, type Read, readCell, TOO_LONG, writeCell } from "./cells.ts";
import { lostInList, remedyInList } from "./lists.ts";
import { columnOfEntry } from "./hints.ts";
import { KeyedEntries, ProductValues, PUBLICATION, type SheetColumn } from "./columns.ts";
import { type CellChange, MAX_VALUE, type SheetMessage } from "./report.ts";
import { SEVERAL, SUPPLY_PRICES, SupplyAmounts } from "./supply_prices.ts";

/*
 * Converts a row to the body of an upsert (`convertRow`), and the errors of that body to messages
 * about cells (`cellFaults`).
 *
 * For example, a cell 9.99 in the column `product_prices[GBP].retail_price` becomes
 * `{ "product_prices": [{ "currency_code": "GBP", "retail_price": 9.99 }] }`. An error at
 * `/product_prices/0/retail_price` is then reported at that cell.
 */

/** The cells of a row, by column. A row that is too short lacks the last ones. */
export type Cells = ReadonlyMap<SheetColumn, Cell>;

export interface RowForm extends CellForm {
  /** The effect of an empty cell. */
  empty: "keep" | "clear";
}

/** A cell that sets its place in the body. */
interface SetCell {
  column: SheetColumn;
  cell: Cell;
  before: unknown;
  value: unknown;
  /** The entry of an array in which the place is. */
  entry: Entry | undefined;
}

/** A row as a body, with the cells that each part of the body comes from. */
export interface ConvertedRow {
  body: Entry;
  /** The cells that have set something in the body. */
  set: SetCell[];
  warnings: SheetMessage[];
  /** The first cells that cannot be read. */
  faults: SheetMessage[];
  /** Names of people as written (`Tarnow, Ines`), with the names that are used (`Ines Tarnow`). */
  turned: Map<string, string>;
  /** The prices of suppliers, which are not in the body: bodies have no supply. */
  supply: SupplyAmounts;
  /** The values that cells have removed from other places, because they are no longer true. */
  lost: CellChange[];
}

/**
 * Converts the cells of a row to a body with what they change of the product, `{}` for a new one. A
 * cell that is as an export would write it changes nothing.
 */
export function convertRow(product: Entry, cells: Cells, form: RowForm): ConvertedRow {
  const stored = new ProductValues(product);
  const supply = new SupplyAmounts(stored.supply);
  const converted: ConvertedRow = {
    body: {},
    set: [],
    warnings: [],
    faults: [],
    turned: new Map(),
    supply,
    lost: supply.lost,
  };
  const arrays = new ArraysOfBody(converted.body, product);
  for (const [column, cell] of cells) {
    const isSupply = column.field === SUPPLY_PRICES;
    if (column.isAssigned || cell === TOO_LONG) continue;
    if (isSupply && textOf(cell).trim() === SEVERAL) continue;
    const before = stored.of(column);
    // The error of a workbook's formula is no text that a product has.
    const isError = typeof cell !== "string" && cell.kind === "error";
    if (!isError && isCellOf(before, cell, column, form)) continue;
    const isEmpty = textOf(cell).trim() === "";
    if (isEmpty && (form.empty === "keep" || before === null)) continue;
    const given = isEmpty ? cleared(column) : readCell(cell, column, form, before);
    const read = isSupply && "value" in given ? supply.set(column, given.value) : given;
    if ("fault" in read) {
      if (converted.faults.length < MAX_ERRORS) {
        converted.faults.push(messageAt(read.fault, column, cell));
      }
      continue;
    }
    if ("warning" in read && read.warning && converted.warnings.length < MAX_ERRORS) {
      converted.warnings.push(messageAt(read.warning, column, cell, "warning"));
    }
    const { value } = read;
    const entry = isSupply ? undefined : setIn(converted.body, product, arrays, column, value);
    converted.set.push({ column, cell, before, value, entry });
  }
  removeEmptied(converted);
  removeOutdated(converted, product);
  return converted;
}

/** The value of an empty cell that clears its place, or the fault if it must not. */
function cleared({ name, kind }: SheetColumn): Read {
  if (name === "title") return { fault: "required: A product has a title" };
  return { value: kind === "list" ? [] : null };
}

/** The arrays in a body, each of which begins as a copy of the product's. */
class ArraysOfBody {
  readonly #body: Entry;
  readonly #product: Entry;
  readonly #stored = new Map<string, KeyedEntries>();
  /** The entries that cells have added, by their keys. */
  readonly #added = new Map<string, Entry>();

  constructor(body: Entry, product: Entry) {
    this.#body = body;
    this.#product = product;
  }

  /** The entries of an array in the body. A position without an entry is a hole. */
  of(field: string): unknown[] {
    return (this.#body[field] ??= structuredClone(this.#product[field] ?? [])) as unknown[];
  }

  /**
   * The entry with a key: one of the product, or one that a cell with the same key has added. So
   * the order of the columns does not matter.
   */
  entryOf(field: string, key: Entry | number): Entry {
    const entries = this.of(field);
    if (typeof key === "number") return (entries[key] ??= {}) as Entry;
    const stored = this.#stored.getOrInsertComputed(
      field,
      // A copy: entries that are added later are not stored.
      () => new KeyedEntries([...entries] as Entry[]),
    );
    return stored.find(key) ??
      this.#added.getOrInsertComputed(JSON.stringify([field, key]), () => {
        const entry = { ...key };
        entries.push(entry);
        return entry;
      });
  }
}

/** Sets one place. Returns the entry of the array in which it is. */
function setIn(
  body: Entry,
  product: Entry,
  arrays: ArraysOfBody,
  { field, key, inner, index, target, name }: SheetColumn,
  value: unknown,
): Entry | undefined {
  if (key === undefined) {
    if (name === "publication_date") setPublication(body, product, value);
    else body[value === null ? target : field] = value;
    return;
  }
  if (inner === undefined) {
    arrays.of(field)[key as number] = value;
    return;
  }
  const entry = arrays.entryOf(field, key);
  if (index !== undefined) ((entry[inner] ??= []) as unknown[])[index] = value;
  else if (value === null) entry[target] = null;
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

/** Removes positions without a value, and entries of which only keys and defaults are left. */
function removeEmptied({ body, set }: ConvertedRow): void {
  for (const { column: { inner = "", index }, entry } of set) {
    if (!entry || index === undefined) continue;
    entry[inner] = Array.from(entry[inner] as unknown[]).filter((value) => value != null);
  }
  const emptied = new Set(set.filter(isEmptying).map(({ entry }) => entry));
  const arrays = set.flatMap(({ column: { field, key } }) => key === undefined ? [] : field);
  for (const field of new Set(arrays)) {
    if (field === SUPPLY_PRICES) continue;
    body[field] = Array.from(body[field] as Entry[])
      .filter((entry) => entry != null && !emptied.has(entry));
  }
}

/** Clears the fields of entries that describe values which cells have changed (`outdatedFields`). */
function removeOutdated({ set, lost }: ConvertedRow, product: Entry): void {
  for (const { column: { field, name }, entry } of set) {
    const array = FIELDS[field];
    if (!entry?.id || array?.kind !== "rows") continue;
    const before = objectsIn(product[field]).find(({ id }) => id === entry.id)!;
    for (const inner of outdatedFields(array, before, entry)) {
      const column = `${name.slice(0, name.lastIndexOf(".") + 1)}${inner}`;
      lost.push({ column, from: before[inner], to: null });
      entry[inner] = null;
    }
  }
}

/** Derived fields: ids, names and labels. An entry with only these is removed. */
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

/** The changes for the report, from the row and its body after validation. */
export function cellChanges(
  { set, lost: removed, turned }: ConvertedRow,
  valid: Entry,
): CellChange[] {
  const changed = new ProductValues(valid);
  /** The text with the names that were used. */
  const used = (text: string) =>
    turned.entries().reduce((all, [name, spoken]) => all.replaceAll(name, () => spoken), text);
  const changes = set.flatMap(({ column, cell, before, value }): CellChange[] => {
    const { name, field, kind } = column;
    if (kind === "list") {
      const lost = lostInList(field, before as Entry[] ?? [], value as Entry[]);
      return [{ column: name, from: writeCell(before, column), to: used(textOf(cell)) }, ...lost];
    }
    const to = value && (changed.of(column) ?? value);
    return [{ column: name, from: before, to: typeof to === "string" ? used(to) : to }];
  });
  return [...changes, ...removed].filter(({ from, to }) =>
    JSON.stringify(from) !== JSON.stringify(to)
  );
}

/** A warning at the cell of the product form, if the row has one. */
export function formWarnings({ set }: ConvertedRow, text: string | undefined): SheetMessage[] {
  const found = set.find(({ column }) => column.target === FORM);
  return text && found ? [messageAt(text, found.column, found.cell, "warning")] : [];
}

/** Removes the product form from a row, because no format of the product can store it. */
export function withoutForm(converted: ConvertedRow): ConvertedRow {
  return { ...converted, set: converted.set.filter(({ column }) => column.target !== FORM) };
}

const FORM = "product_form_id";

/**
 * Returns the errors of a body as messages about the cells that set it. With `createNames`, a row
 * with unreadable cells creates no names. The report omits that these names are unknown.
 */
export function cellFaults(
  error: ApiError,
  converted: ConvertedRow,
  createNames: boolean,
): SheetMessage[] {
  if (error.details.length === 0) {
    return [messageAt(`${error.code.toLowerCase()}: ${error.message}`)];
  }
  const others = error.details.filter(({ message }) => !CREATED.test(message));
  const isWritten = converted.faults.length + others.length === 0;
  const faults = createNames && !isWritten ? others : error.details;
  return faults.map(({ code, message, ...place }) => {
    const pointer = "pointer" in place ? place.pointer : "";
    const { column, cell, named, missing, inList } = cellAt(pointer, converted);
    const remedy = code === "required" && missing ? `: add the column ${missing}` : "";
    const text = code === "required" && inList ? inList : `${named}${message}${remedy}`;
    const fault = messageAt(`${code}: ${text}`, column, cell);
    if (!column) fault.column = pointer.slice(1) || null;
    if (!createNames && CREATED.test(message)) fault.message += ", or send create_names=true";
    return fault;
  });
}

/** The end of the message about a name that an import can create. */
const CREATED = /POST \/(?:contributors|publishers|imprints|collections)$/;

/**
 * Finds the cell of a JSON pointer. If no cell has set that place, it is another cell of the same
 * entry, and `missing` names the column that would set it.
 */
function cellAt(pointer: string, { body, set }: ConvertedRow) {
  const [, field = "", index, inner = "", position] = pointer.split("/");
  const inField = set.filter(({ column: { name, field: own, target } }) =>
    own === field || target === field ||
    name === "publication_date" && field === "publishing_dates"
  );
  const entry = (body[field] as Entry[] | undefined)?.[Number(index)];
  const inEntry = inField.filter((one) => one.entry && one.entry === entry);
  const ofField = inEntry.filter(({ column }) => column.inner === inner || column.target === inner);
  const own = ofField.find(({ column }) => String(column.index) === position) ?? ofField[0];
  const found = own ?? inEntry[0] ?? inField[0];
  const [, label] = /^[^[]*\[(.*)\]/s.exec(inEntry[0]?.column.name ?? "") ?? [];
  const missing = own || !inner || label === undefined
    ? undefined
    : columnOfEntry(field, label, inner);
  // If a cell has several entries, the message names the one at fault.
  const listed = found?.column.kind === "list" ? entry : undefined;
  const value = listed?.[inner];
  const inList = listed && remedyInList(field, listed);
  return { ...found, named: value ? `"${value}": ` : "", missing, inList };
}

/** The most characters of a message. Most have fewer than 200. */
const MAX_MESSAGE = 2_000;

/** A message about a row, or about a cell. `text` is `code: Sentence`. */
export function messageAt(
  text: string,
  column?: SheetColumn,
  cell?: Cell,
  severity: SheetMessage["severity"] = "error",
): SheetMessage {
  const { code, message } = splitMessage(text);
  return {
    severity,
    column: column?.name ?? null,
    code,
    message: excerpt(message, MAX_MESSAGE),
    value: cell === undefined ? null : excerpt(textOf(cell), MAX_VALUE),
  };
}
