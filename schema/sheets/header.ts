import { type ErrorDetail, invalid, printable, splitMessage } from "../errors.ts";
import { columnOf, MATCHES, type SheetColumn } from "./columns.ts";

/* The header of a sheet: which of its columns are read. */

/** The columns of a sheet, by index, and the names of those that are not read. */
export interface SheetHeader {
  columns: Map<number, SheetColumn>;
  ignored: string[];
  /** The number of columns, with those that are not read. */
  width: number;
}

/**
 * Reads a header. A column whose name begins with `#` is a remark, and the column `error` comes
 * from the service. Throws `VALIDATION_ERROR`.
 */
export function readHeader(
  cells: readonly string[],
  line: number,
  customFields: readonly string[],
): SheetHeader {
  const faults: ErrorDetail[] = [];
  const fail = (column: string, text: string) =>
    faults.push({ ...splitMessage(text), line, column });
  const named = new Map<number, SheetColumn>();
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim();
    if (/^(?:#.*|error|)$/is.test(name)) continue;
    const column = columnOf(name, customFields);
    if (typeof column === "string") fail(printable(name), column);
    else named.set(index, column);
  }

  const columns = new Map<number, SheetColumn>();
  const ignored: string[] = [];
  const wholes = new Set([...named.values()].map(({ name }) => name));
  for (const same of Map.groupBy(named, ([, one]) => targetOf(one)).values()) {
    // Of the id, the code and the name of one record, the first counts.
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

/** The place that only one column may set. */
function targetOf({ field, key, inner, target }: SheetColumn): string {
  return JSON.stringify(key === undefined ? target : [field, key, inner && target]);
}

function rankOf({ field, inner = field }: SheetColumn): number {
  return inner.endsWith("_id") ? 0 : inner.endsWith("_code") ? 1 : 2;
}
