import { ApiError } from "../../../schema/errors.ts";
import { type Decimal, decimalOf } from "../schema/cells.ts";
import { type HeaderForm, headerOf, type SheetHeader } from "../schema/header.ts";
import { isBlank, textOf } from "../schema/cell.ts";
import { ENCODING, faultAt, type Row, type SheetFile } from "../schema/file.ts";
import { organization, sql } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { keyName } from "../../../db/products/change/keys.ts";
import { readCustomFields } from "./export.ts";
import {
  hasAddress,
  productsByAddress,
  SheetRow,
  type TargetProduct,
  targetProducts,
} from "./sheet_row.ts";
import { DuplicateRows } from "./duplicate_rows.ts";
import type { Pace } from "../../../schema/turns.ts";

/*
 * The validation pass over a sheet, before its first row is written. In: a file. Out: its header, its
 * decimal sign, and which rows have the same product. A fault of the whole sheet, such as an unknown
 * column or two decimal signs, is an error, and nothing is written.
 */

/** The most rows whose products are found at once, and about how many characters they have. */
const BLOCK_ROWS = 500;
const BLOCK_LENGTH = 2 ** 20;

/** The most rows of a sheet, as in spreadsheet programs. Each takes `ROW_BYTES` of memory. */
const MAX_SHEET_ROWS = 1_048_576;

/** A sheet that has passed validation. */
export interface Sheet extends SheetHeader {
  file: SheetFile;
  hasHeader: boolean;
  decimal: Decimal | undefined;
  skipped: number;
  duplicates: DuplicateRows;
}

export interface SheetReadOptions extends HeaderForm {
  decimal?: Decimal | undefined;
  /** Awaited between the steps of the work, so that other requests run. May throw. */
  pace: Pace;
  /** Awaited before more rows are read: reserves the memory for so many in all. May throw. */
  holdRows?: (rows: number) => Promise<void>;
}

/** Reads all rows once. Throws `VALIDATION_ERROR` for a fault of the whole sheet. */
export async function validateSheet(
  queries: () => Queries,
  file: SheetFile,
  options: SheetReadOptions,
): Promise<Sheet> {
  return await validateAs(file, queries, options).catch((error) => {
    const isOther = error instanceof ApiError && error.details[0]?.code === ENCODING;
    if (!file.otherwise || !isOther) throw error;
    return validateAs(file.otherwise, queries, options);
  });
}

/** The rows of a file but its header, counted from 1. */
export async function* bodyRows(
  { file, hasHeader }: Pick<Sheet, "file" | "hasHeader">,
): AsyncGenerator<Row> {
  for await (const row of file.rows()) {
    if (!hasHeader) yield { ...row, index: row.index + 1 };
    else if (row.index > 0) yield row;
  }
}

async function validateAs(
  file: SheetFile,
  queries: () => Queries,
  { pace, holdRows, decimal: given, ...names }: SheetReadOptions,
): Promise<Sheet> {
  const hasHeader = names.header === "present";
  const first = await firstRow(file);
  if (!first) throw faultAt(1, "required: The sheet is empty: its first line names the columns");
  const header = await headerOf(first, names, await readCustomFields(queries()), pace);
  const duplicates = new DuplicateRows();
  const signs = new DecimalSigns();
  let block: SheetRow[] = [];
  let [count, held, skipped, length] = [0, 0, 0, 0];

  /** Looks up the products of the block, and so finds rows with the same product. */
  async function findDuplicates(): Promise<void> {
    const addresses = block.flatMap(({ address }) => address ?? []);
    const products = productsByAddress(
      await queries().scan(sql<TargetProduct>`
        ${targetProducts} where p.organization_id = ${organization} and ${hasAddress(addresses)}
      `),
    );
    for (const row of block) duplicates.add(row, products.get(keyName(row.address!))?.[0]?.id);
    [block, length] = [[], 0];
  }

  for await (const one of bodyRows({ file, hasHeader })) {
    await pace();
    // Blank lines count: they take time, too.
    if ((count += one.count) > MAX_SHEET_ROWS) {
      const line = one.line + MAX_SHEET_ROWS - (count - one.count);
      throw faultAt(line, `too_many: A sheet has at most ${MAX_SHEET_ROWS} rows: divide it`);
    }
    if (count >= held) await holdRows?.(held = count + BLOCK_ROWS);
    if (isBlank(one.cells)) {
      skipped += one.count;
      continue;
    }
    const row = new SheetRow(one, header);
    if (!given) signs.add(row);
    if (!row.address) continue;
    block.push(row);
    length += one.cells.reduce((sum, cell) => sum + textOf(cell).length, 0);
    if (block.length === BLOCK_ROWS || length >= BLOCK_LENGTH) await findDuplicates();
  }
  await findDuplicates();
  const decimal = given ?? signs.only();
  return { ...header, file, hasHeader, decimal, skipped, duplicates };
}

/** The header of a file, or its first row if it has none. */
export async function firstRow(file: SheetFile): Promise<Row | undefined> {
  for await (const row of file.rows()) return row;
}

/** The decimal signs in the amounts of a sheet, which may have only one of them. */
class DecimalSigns {
  /** The first line with each sign. */
  readonly #lines = new Map<Decimal, number>();

  add({ line, cells }: SheetRow): void {
    for (const [{ kind }, cell] of cells) {
      const isText = kind === "amount" && typeof cell === "string";
      const sign = isText ? decimalOf(cell) : undefined;
      if (sign) this.#lines.getOrInsert(sign, line);
    }
  }

  /** The sign, if an amount shows it. Throws `VALIDATION_ERROR` if the sheet has both. */
  only(): Decimal | undefined {
    const [point, comma] = [this.#lines.get("point"), this.#lines.get("comma")];
    if (point && comma) {
      throw faultAt(
        Math.max(point, comma),
        `invalid_number: Line ${point} has a decimal point, line ${comma} a decimal comma: write all amounts in one form, or send decimal=point or decimal=comma`,
      );
    }
    const [sign] = this.#lines.keys();
    return sign;
  }
}
