import {
  type ApiError,
  type ErrorDetail,
  invalid,
  printable,
  splitMessage,
} from "../../../schema/errors.ts";
import { textOf } from "./cell.ts";
import { ColumnReader, MATCHES, type SheetColumn } from "./columns.ts";
import type { Row } from "./file.ts";
import type { Pace } from "../../../schema/turns.ts";

/* Reads the header of a sheet, and decides which columns are read. */

/** The columns of a sheet, by index, and the names of those that are not read. */
export interface SheetHeader {
  columns: Map<number, SheetColumn>;
  ignored: string[];
  /** The number of columns, with those that are not read. */
  width: number;
}

/** The source of the names of columns. */
export interface HeaderForm {
  /** The names of the columns, in place of those in the header. */
  columns?: string[] | undefined;
  header: "present" | "absent";
}

/**
 * Reads the header of a file, which is its first row, or the columns that the request names in its
 * place. `pace` is awaited between columns, so that other requests run. Throws `VALIDATION_ERROR`.
 */
export async function headerOf(
  { cells, line }: Row,
  { columns, header }: HeaderForm,
  customFields: readonly string[],
  pace: Pace,
): Promise<SheetHeader> {
  const names = cells.map((cell) => textOf(cell));
  if (!columns) {
    if (header === "absent") throw invalidColumns("required: Without a header, name the columns");
    return await readHeader(names, (column) => ({ line, column }), customFields, pace);
  }
  const width = names.findLastIndex((name) => name.trim() !== "") + 1;
  if (columns.length !== width) {
    throw invalidColumns(
      `wrong_length: The file has ${width} columns, and columns= names ${columns.length}: name one that is not to be read #`,
    );
  }
  return await readHeader(columns, () => ({ parameter: "columns" }), customFields, pace);
}

function invalidColumns(text: string): ApiError {
  return invalid("The query", [{ ...splitMessage(text), parameter: "columns" }]);
}

/**
 * Reads the names of columns. A column whose name begins with `#` is a remark, and the column `error` comes
 * from the service. Throws `VALIDATION_ERROR`.
 */
async function readHeader(
  cells: readonly string[],
  placeOf: (column: string) => { line: number; column: string } | { parameter: string },
  customFields: readonly string[],
  pace: Pace,
): Promise<SheetHeader> {
  const faults: ErrorDetail[] = [];
  const fail = (column: string, text: string) =>
    faults.push({ ...splitMessage(text), ...placeOf(column) });
  const reader = new ColumnReader(customFields);
  const named = new Map<number, SheetColumn>();
  const unknown: string[] = [];
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim();
    if (/^(?:#.*|error|)$/is.test(name)) continue;
    await pace();
    const column = reader.find(name);
    if (column) named.set(index, column);
    else unknown.push(name);
  }
  const isFree = freeColumns([...named.values()]);
  for (const name of unknown) {
    await pace();
    fail(printable(name), reader.explain(name, isFree));
  }

  const columns = new Map<number, SheetColumn>();
  const ignored: string[] = [];
  const wholes = new Set([...named.values()].map(({ name }) => name));
  for (const same of Map.groupBy(named, ([, one]) => targetOf(one)).values()) {
    // Of the id, the code and the name of one record, the first takes precedence.
    const [first, ...others] = same.toSorted(([, a], [, b]) => rankOf(a) - rankOf(b));
    const [index, column] = first!;
    const { name, field, key, isAssigned } = column;
    if (isAssigned && !MATCHES.includes(name) && name !== "updated_at") ignored.push(name);
    else columns.set(index, column);
    for (const [, { name: other }] of others) {
      if (other === name) fail(name, `duplicate: Two columns are ${name}${REMEDY}`);
      else ignored.push(other);
    }
    if (key !== undefined && wholes.has(field)) {
      fail(name, `duplicate: The column ${field} has the whole array${REMEDY}`);
    }
  }
  if (faults.length === 0 && ![...columns.values()].some(({ name }) => MATCHES.includes(name))) {
    const names = MATCHES.join(", ");
    fail("", `required: A sheet has a column that finds the product: ${names}`);
  }
  if (faults.length > 0) throw invalid("The header", faults);
  return { columns, ignored, width: cells.length };
}

const REMEDY = ": remove one of them, or begin its name with #";

/** Returns the condition that a sheet may have a column besides these. */
function freeColumns(columns: readonly SheetColumn[]): (column: SheetColumn) => boolean {
  const targets = new Set(columns.map(targetOf));
  const wholes = new Set(columns.map(({ name }) => name));
  const divided = new Set(columns.flatMap(({ field, key }) => key === undefined ? [] : field));
  return (column) =>
    !targets.has(targetOf(column)) &&
    !(column.key === undefined ? divided : wholes).has(column.field);
}

/** The place that only one column may set. */
function targetOf({ field, key, inner, index, target }: SheetColumn): string {
  return JSON.stringify(key === undefined ? target : [field, key, inner && target, index]);
}

function rankOf({ field, inner = field }: SheetColumn): number {
  return inner.endsWith("_id") ? 0 : inner.endsWith("_code") ? 1 : 2;
}
