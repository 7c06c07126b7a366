import { type Decimal, decimalOf, guarded } from "../../schema/sheets/cells.ts";
import { type Header, readHeader } from "../../schema/sheets/columns.ts";
import type { SheetImportQuery } from "../../schema/sheets/query.ts";
import {
  type ByteForm,
  faultAt,
  formOf,
  isBlank,
  readRows,
  type Source,
} from "../../schema/sheets/read.ts";
import {
  type RowOutcome,
  type SheetMessage,
  type SheetReport,
  SheetTally,
} from "../../schema/sheets/report.ts";
import { messageAt } from "../../schema/sheets/row.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { BYTE_ORDER_MARK, readCustomFields, writeRows } from "./export.ts";
import { importRows } from "./group.ts";
import { Rivals } from "./rivals.ts";
import { areMeant, type MeantProduct, nameOf, productsByAddress, SheetRow } from "./rows.ts";

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
  const { form, start, width, decimal, ignored, skipped } = sheet;
  const tally = new SheetTally(dryRun, ignored, skipped);
  /** What is wrong with each row that is not written. */
  const errors = new Map<number, string>();
  let group: SheetRow[] = [];
  let rows = 0;

  function add(one: RowOutcome): void {
    rows++;
    tally.add(one);
    if (one.outcome !== "refused" && one.outcome !== "stale") return;
    const told = one.messages.map(({ column, message }) =>
      column ? `${column}: ${message}` : message
    );
    errors.set(one.line, told.join("; ").slice(0, 500));
  }

  async function write(): Promise<void> {
    while (group.length > 0) {
      using _permit = await admit?.();
      await importRows(queries, group, { ...options, decimal });
      for (const { outcome } of group) if (outcome) add(outcome);
      group = group.filter(({ outcome }) => !outcome);
      progress?.(rows);
    }
  }

  try {
    let { isGuess } = form;
    for await (const { line, cells } of readRows(source, form)) {
      if (line <= start || isBlank(cells)) continue;
      await pace();
      const row = rowOf(line, cells, sheet);
      const text = isGuess && cells.find((cell) => /[^\0-\x7f]/.test(cell));
      if (text) row.warnings.push(guessed(text));
      isGuess &&= !text;
      if (cells.slice(width).some((cell) => cell.trim() !== "")) {
        row.refuse(
          `too_many: The row has ${cells.length} cells, and the sheet ${width} columns`,
        );
      } else if (!row.outcome) sheet.rivals.end(row);
      if (row.outcome) add(row.outcome);
      else if (group.push(row) === GROUP) await write();
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

function rowOf(
  line: number,
  cells: readonly string[],
  { columns }: Header,
): SheetRow {
  const given = [...columns].flatMap(([index, column]) =>
    index < cells.length ? [[column, cells[index]!] as const] : []
  );
  return new SheetRow(line, new Map(given));
}

/** What is said of the first word that is read as Windows-1252. */
function guessed(text: string): SheetMessage {
  const [word = ""] = /\S*[^\0-\x7f]\S*/.exec(text) ?? [];
  return messageAt(
    `windows_1252: The sheet is no UTF-8: it was read as Windows-1252, such as "${
      word.slice(0, 50)
    }"`,
    undefined,
    word,
    "warning",
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
  let block: SheetRow[] = [];
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
    for (const row of block) {
      rivals.add(row, products.get(nameOf(row.address!))?.[0]?.id);
    }
    block = [];
  }

  for await (const { line, cells } of rows) {
    await pace();
    // Blank lines take their time, too.
    if (++count > MAX_ROWS) {
      throw faultAt(
        line,
        `too_many: A sheet has at most ${MAX_ROWS} rows: divide it`,
      );
    }
    if (isBlank(cells)) {
      skipped++;
      continue;
    }
    const row = rowOf(line, cells, header);
    for (const [{ kind }, cell] of given ? [] : row.cells) {
      const sign = kind === "amount" ? decimalOf(cell) : undefined;
      if (sign && !decimals.has(sign)) decimals.set(sign, line);
    }
    if (row.address && block.push(row) === BLOCK) await remember();
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
