import { type Decimal, decimalOf, guarded } from "../../schema/sheets/cells.ts";
import { type Header, readHeader } from "../../schema/sheets/columns.ts";
import type { SheetImportQuery } from "../../schema/sheets/query.ts";
import {
  type ByteForm,
  faultAt,
  formOf,
  isBlank,
  readRows,
  type Row,
  type Source,
} from "../../schema/sheets/read.ts";
import {
  type RowOutcome,
  type SheetReport,
  SheetTally,
} from "../../schema/sheets/report.ts";
import { type Cells, messageAt } from "../../schema/sheets/row.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import {
  addressOf,
  areMeant,
  type MeantProduct,
  nameOf,
  productsByAddress,
  Rivals,
} from "./address.ts";
import { BYTE_ORDER_MARK, readCustomFields, writeRows } from "./export.ts";
import { importRows, outcomeOf, type SheetRow } from "./group.ts";

/** The rows of a group, which is written in one transaction. */
const GROUP = 100;

/** The rows whose products are looked for at once, to find those of one product. */
const BLOCK = 500;

/** The most rows of a sheet, as in spreadsheet programs: each is remembered. */
const MAX_ROWS = 1_048_576;

export interface SheetOptions extends SheetImportQuery {
  charset?: string | undefined;
  /** Awaited between the steps of the work, so that other requests run. May throw. */
  pace: () => Promise<void>;
  /** Awaited before a group is written. The result is disposed of afterwards. May throw. */
  admit?: () => Promise<Disposable>;
  /** Called after each group with the number of rows so far. */
  progress?: (rows: number) => void;
}

/** A sheet that is read through. */
interface Sheet extends Header {
  form: ByteForm;
  /** The line of the header. */
  start: number;
  decimal: Decimal | undefined;
  skipped: number;
  rivals: Rivals;
}

/** An import that has ended before the end of its sheet. Its cause is the reason. */
export class SheetEnded extends Error {
  override readonly name = "SheetEnded";
  readonly report: SheetReport;

  constructor(report: SheetReport, cause: unknown) {
    super("The import has ended before the end of its sheet", { cause });
    this.report = report;
  }
}

/** What became of a sheet: the report, and the refused and stale rows as a sheet to be mended. */
export interface ImportedSheet {
  report: SheetReport;
  refused(): AsyncGenerator<string>;
}

/**
 * Writes the rows of a sheet in groups, each row by itself. The whole sheet is read through
 * before the first row is written. Throws `SheetEnded` if the rest cannot be written.
 */
export async function importSheet(
  queries: () => Queries,
  source: Source,
  options: SheetOptions,
): Promise<ImportedSheet> {
  const { pace, admit, progress, dry_run: dryRun } = options;
  const sheet = await readThrough(queries, source, options);
  const { form, start, decimal, ignored, skipped } = sheet;
  const tally = new SheetTally(dryRun, ignored, skipped);
  /** What is wrong with each row that is not written. */
  const errors = new Map<number, string>();
  let group: SheetRow[] = [];
  let rows = 0;

  function add(...outcomes: RowOutcome[]): void {
    for (const one of outcomes) {
      tally.add(one);
      if (one.outcome !== "refused" && one.outcome !== "stale") continue;
      const told = one.messages.map(({ column, message }) =>
        column ? `${column}: ${message}` : message
      );
      errors.set(one.line, told.join("; ").slice(0, 500));
    }
    progress?.(rows += outcomes.length);
  }

  async function write(): Promise<void> {
    while (group.length > 0) {
      using _permit = await admit?.();
      const outcomes = await importRows(queries, group, {
        ...options,
        decimal,
      });
      group = group.slice(outcomes.length);
      add(...outcomes);
    }
  }

  try {
    let { isGuess } = form;
    for await (const row of readRows(source, form)) {
      if (row.line <= start || isBlank(row)) continue;
      await pace();
      const read = readRow(row, sheet);
      if ("outcome" in read) {
        add(read);
        continue;
      }
      const [word] = isGuess &&
          /[\w\x80-\uffff]*[\x80-\uffff][\w\x80-\uffff]*/.exec(
            row.cells.join(" "),
          ) || [];
      if (word) {
        isGuess = false;
        read.messages.push(messageAt(
          `windows_1252: The sheet is no UTF-8: it was read as Windows-1252, such as "${
            word.slice(0, 50)
          }"`,
          undefined,
          word,
          "warning",
        ));
      }
      if (group.push(read) === GROUP) await write();
    }
    await write();
  } catch (error) {
    throw new SheetEnded(tally.report(), error);
  }
  return {
    report: tally.report(),
    refused: () => mendable(source, sheet, errors),
  };
}

/** A row with its address, or why it is not looked at further. */
function readRow(
  { line, cells: all }: Row,
  { columns, width, rivals }: Sheet,
): SheetRow | RowOutcome {
  const cells = cellsOf(all, columns);
  const address = addressOf(cells);
  const isFaulty = address && "severity" in address;
  const row: SheetRow = {
    line,
    cells,
    messages: [],
    ...!isFaulty && { address },
  };
  const refuse = (text: string) =>
    outcomeOf(row, "refused", null, [messageAt(text)]);
  if (all.slice(width).some((cell) => cell.trim() !== "")) {
    return refuse(
      `too_many: The row has ${all.length} cells, and the sheet ${width} columns`,
    );
  }
  if (isFaulty) return outcomeOf(row, "refused", null, [address]);
  const other = address && rivals.of(line, address);
  if (!other) return row;
  return other.isEqual ? outcomeOf(row, "unchanged", null) : refuse(
    `duplicate: Line ${other.line} has another row of the same product: keep one of them`,
  );
}

function cellsOf(cells: readonly string[], columns: Header["columns"]): Cells {
  return new Map(
    [...columns].flatMap(([index, column]) =>
      index < cells.length ? [[column, cells[index]!]] : []
    ),
  );
}

/** Reads a sheet through. Throws `VALIDATION_ERROR` for what concerns all of it. */
async function readThrough(
  queries: () => Queries,
  source: Source,
  { charset, pace, decimal: given }: SheetOptions,
): Promise<Sheet> {
  const form = await formOf(source, charset, pace);
  const rows = readRows(source, form);
  const { value: first } = await rows.next();
  if (!first) {
    throw faultAt(
      1,
      "required: The sheet is empty: its first line names the columns",
    );
  }
  const header = readHeader(
    first.cells,
    first.line,
    await readCustomFields(queries()),
  );
  const rivals = new Rivals();
  const decimals = new Map<Decimal, number>();
  let block: Pick<SheetRow, "line" | "cells" | "address">[] = [];
  let [count, skipped] = [0, 0];

  /** Finds the products of the rows, so that two of one product are found. */
  async function remember(): Promise<void> {
    const addresses = block.flatMap(({ address }) => address ?? []);
    const products = productsByAddress(
      await queries().scan(sql<MeantProduct>`
      select p.id, p.isbn13, p.isbn10, p.product_code from products p
      where p.organization_id = ${organization} and ${areMeant(addresses)}
    `),
    );
    for (const { line, cells, address } of block) {
      rivals.add(
        line,
        cells,
        address!,
        products.get(nameOf(address!))?.[0]?.id,
      );
    }
    block = [];
  }

  for await (const row of rows) {
    await pace();
    // Blank lines take their time, too.
    if (++count > MAX_ROWS) {
      throw faultAt(
        row.line,
        `too_many: A sheet has at most ${MAX_ROWS} rows: divide it`,
      );
    }
    if (isBlank(row)) {
      skipped++;
      continue;
    }
    const cells = cellsOf(row.cells, header.columns);
    for (const [{ kind }, cell] of given ? [] : cells) {
      const sign = kind === "amount" ? decimalOf(cell) : undefined;
      if (sign && !decimals.has(sign)) decimals.set(sign, row.line);
    }
    const address = addressOf(cells);
    if (!address || "severity" in address) continue;
    if (block.push({ line: row.line, cells, address }) === BLOCK) {
      await remember();
    }
  }
  await remember();
  const [point, comma] = [decimals.get("point"), decimals.get("comma")];
  if (point && comma) {
    throw faultAt(
      Math.max(point, comma),
      `invalid_number: Line ${point} has a decimal point, line ${comma} a decimal comma: write all amounts in one form, or say decimal`,
    );
  }
  const [decimal = given] = decimals.keys();
  return { ...header, form, start: first.line, decimal, skipped, rivals };
}

/** The rows that are not written, with what is wrong with them, as they were. */
async function* mendable(
  source: Source,
  { form, start }: Sheet,
  errors: ReadonlyMap<number, string>,
): AsyncGenerator<string> {
  /** The column that an earlier import has added. */
  let old = -1;
  for await (const { line, cells } of readRows(source, form)) {
    const error = line === start ? "error" : errors.get(line);
    if (error === undefined) continue;
    if (line === start) {
      old = cells.findIndex((cell) => cell.trim().toLowerCase() === "error");
      yield BYTE_ORDER_MARK;
    }
    const rest = cells.filter((_, i) => i !== old);
    yield writeRows([[guarded(error), ...rest]], form.delimiter);
  }
}
