import { ApiError } from "../../schema/errors.ts";
import { type Decimal, decimalOf } from "../../schema/sheets/cells.ts";
import { readHeader, type SheetHeader } from "../../schema/sheets/header.ts";
import {
  type ByteForm,
  byteFormOf,
  ENCODING,
  faultAt,
  isBlank,
  readSheetRows,
  type SheetBytes,
} from "../../schema/sheets/read.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { keyName } from "../products/keys.ts";
import { readCustomFields } from "./export.ts";
import {
  areMeant,
  type MeantProduct,
  meantProducts,
  productsByAddress,
  SheetRow,
} from "./sheet_row.ts";
import { type Twin, Twins } from "./twins.ts";

/*
 * A sheet is read through before its first row is written: a fault of the whole sheet is an error,
 * and each row knows of the other rows of its product.
 */

/** The rows whose products are found at once. */
const BLOCK_ROWS = 500;

/** The most rows of a sheet, as in spreadsheet programs. Something of each stays in memory. */
const MAX_SHEET_ROWS = 1_048_576;

/** A sheet that is read through. */
export interface Sheet extends SheetHeader {
  form: ByteForm;
  headerLine: number;
  decimal: Decimal | undefined;
  skipped: number;
  /** The rows that have another row of their product, by their lines. */
  twins: ReadonlyMap<number, Twin>;
}

export interface SheetReadOptions {
  charset?: string | undefined;
  decimal?: Decimal | undefined;
  /** Awaited between the steps of the work, so that other requests run. May throw. */
  pace: () => Promise<void>;
}

/** Reads a sheet through. Throws `VALIDATION_ERROR` for a fault of the whole sheet. */
export async function readThrough(
  queries: () => Queries,
  source: SheetBytes,
  options: SheetReadOptions,
): Promise<Sheet> {
  const form = await byteFormOf(source, options.charset);
  return await readAs(form, queries, source, options).catch((error) => {
    // Bytes that are not UTF-8 are read as Windows-1252, unless a charset is declared.
    const isOther = error instanceof ApiError && error.details[0]?.code === ENCODING;
    if (form.isDeclared || !isOther) throw error;
    return readAs({ ...form, charset: "windows-1252" }, queries, source, options);
  });
}

async function readAs(
  form: ByteForm,
  queries: () => Queries,
  source: SheetBytes,
  { pace, decimal: given }: SheetReadOptions,
): Promise<Sheet> {
  const rows = readSheetRows(source, form);
  const { value: first } = await rows.next();
  if (!first) throw faultAt(1, "required: The sheet is empty: its first line names the columns");
  const header = readHeader(first.cells, first.line, await readCustomFields(queries()));
  const twins = new Twins();
  const signs = new DecimalSigns();
  let block: SheetRow[] = [];
  let [count, skipped] = [0, 0];

  /** Finds the products of the block, and so the rows of one product. */
  async function findTwins(): Promise<void> {
    const addresses = block.flatMap(({ address }) => address ?? []);
    const products = productsByAddress(
      await queries().scan(sql<MeantProduct>`
        ${meantProducts} where p.organization_id = ${organization} and ${areMeant(addresses)}
      `),
    );
    for (const row of block) twins.add(row, products.get(keyName(row.address!))?.[0]?.id);
    block = [];
  }

  for await (const { line, cells } of rows) {
    await pace();
    // Blank lines count: they take time, too.
    if (++count > MAX_SHEET_ROWS) {
      throw faultAt(line, `too_many: A sheet has at most ${MAX_SHEET_ROWS} rows: divide it`);
    }
    if (isBlank(cells)) {
      skipped++;
      continue;
    }
    const row = new SheetRow(line, cells, header);
    if (!given) signs.add(row);
    if (row.address && block.push(row) === BLOCK_ROWS) await findTwins();
  }
  await findTwins();
  const decimal = given ?? signs.only();
  return { ...header, form, headerLine: first.line, decimal, skipped, twins: twins.byLine() };
}

/** The decimal signs in the amounts of a sheet, which may have only one of them. */
class DecimalSigns {
  /** The first line with each sign. */
  readonly #lines = new Map<Decimal, number>();

  add({ line, cells }: SheetRow): void {
    for (const [{ kind }, cell] of cells) {
      const sign = kind === "amount" ? decimalOf(cell) : undefined;
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
