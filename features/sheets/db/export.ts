import { invalid, printable, splitMessage } from "../../../schema/errors.ts";
import type { ListQuery } from "../../../schema/list_query.ts";
import type { Pace } from "../../../schema/turns.ts";
import {
  isLeftOut,
  isOwnAmountSeen,
  isPriceSeen,
  isTypeLeftOut,
  leftOutDetail,
  projected,
  type View,
} from "../../../schema/view.ts";
import type { Cell } from "../schema/cell.ts";
import { SUPPLY_PRICES } from "../schema/supply_prices.ts";
import { writeCell } from "../schema/cells.ts";
import {
  ColumnReader,
  defaultColumns,
  ProductValues,
  type SheetColumn,
} from "../schema/columns.ts";
import type { FilePart, RowWriter } from "../schema/file.ts";
import type { WorkbookQuery } from "../schema/query.ts";
import { viewConditions } from "../../../db/products/lists/view.ts";
import {
  isOneOf,
  isOneOfTexts,
  organization,
  raw,
  sql,
  type Statement,
} from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { parseProduct, type ProductJson } from "../../../db/products/documents/document.ts";
import { selectProducts } from "../../../db/products/read.ts";
import { groupsOf, type SizedProduct, sizeOfStored } from "../../../db/products/read_many.ts";
import { listIds } from "../../../db/products/lists/selected.ts";
import { readAhead } from "../../../db/read_ahead.ts";
import { SHEET_PART_BYTES } from "../../../db/sizes.ts";

/* Exports products as a sheet, in groups that bound the memory. */

/**
 * The length of 500 ids, each of 36 characters and a comma: the sizes of so many products are read
 * at once. All ids stay one text, which takes a fraction of the memory of an array.
 */
const IDS_LENGTH = 500 * 37;

/**
 * The maximum number of cells that are written at once, and approximately of characters of
 * products.
 */
const CELLS_AT_ONCE = 2_000;
const LENGTH_AT_ONCE = 262_144;

/**
 * Writes the products that a query finds, group by group. Their ids are read first, so that no
 * transaction waits for a slow client. A product that is deleted meanwhile has no row. `queries`
 * begins a new time limit for each group, and throws if the credentials have ended. `pace` is
 * awaited before each column and row, so that other requests run. Throws `VALIDATION_ERROR` for an
 * unknown or repeated column.
 */
export async function exportSheet(
  queries: () => Promise<SheetReader>,
  { columns: names, ...query }: WorkbookQuery,
  write: RowWriter,
  pace: Pace,
  view?: View,
): Promise<AsyncGenerator<FilePart>> {
  const columns = await findColumns(await queries(), names, pace, view);
  const ids = await listIds(await queries(), query as ListQuery, view);

  /** The products, in groups that bound the memory. */
  async function* groups(): AsyncGenerator<ProductJson[], void> {
    for (let from = 0; from < ids.length; from += IDS_LENGTH) {
      const page = ids.slice(from, from + IDS_LENGTH - 1).split(",");
      const sized = await (await queries()).scan(sql<SizedProduct>`
        select p.id, ${sizeOfStored} as bytes from products p
        where p.organization_id = ${organization} and p.id ${isOneOf(page)}
      `);
      for (const { ids, bytes } of groupsOf(inOrderOf(sized, page), SHEET_PART_BYTES)) {
        const database = await queries();
        // One group is read while the one before it is written.
        await database.memory?.reserve(Math.max(SHEET_PART_BYTES, 2 * bytes));
        yield inOrderOf(await database.scan(selectProducts(ids, view)), ids);
      }
    }
  }

  async function rowOf({ product }: ProductJson): Promise<Cell[]> {
    const parsed = await parseProduct(product, pace);
    const values = new ProductValues(view ? projected(parsed, view) : parsed);
    return columns.map((column) => writeCell(values.of(column), column));
  }

  async function* rows(): AsyncGenerator<Cell[][]> {
    yield [columns.map(({ name }) => name)];
    for await (const group of readAhead(groups())) {
      let rows: Cell[][] = [];
      let length = 0;
      for (const product of group) {
        await pace();
        rows.push(await rowOf(product));
        length += product.product.length;
        if (rows.length * columns.length < CELLS_AT_ONCE && length < LENGTH_AT_ONCE) continue;
        yield rows;
        [rows, length] = [[], 0];
      }
      if (rows.length > 0) yield rows;
    }
  }

  return write(rows());
}

/** The products in the order of the ids. */
function inOrderOf<P extends { id: string }>(products: readonly P[], ids: readonly string[]): P[] {
  const byId = new Map(products.map((product) => [product.id, product]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The queries of an export. */
type SheetReader = Pick<Queries, "lookUp" | "scan"> & Partial<Pick<Queries, "memory">>;

async function findColumns(
  database: SheetReader,
  names: readonly string[] | undefined,
  pace: Pace,
  view: View | undefined,
): Promise<SheetColumn[]> {
  const customFields = await readCustomFields(database, view);
  const reader = new ColumnReader(customFields);
  const columns = new Map<string, SheetColumn>();
  const faults: string[] = [];
  const hidden: string[] = [];
  const wanted = names ?? defaultColumns([
    ...await readPriceColumns(database, view),
    ...await readSupplyColumns(database, view),
  ], customFields);
  for (const name of wanted) {
    await pace();
    if (view && isOfLeftOutField(name, view)) {
      hidden.push(printable(name));
      continue;
    }
    const column = reader.find(name);
    if (!column) faults.push(reader.explain(name, (near) => !view || !isHidden(near, view)));
    else if (view && isHidden(column, view)) hidden.push(column.name);
    else if (!columns.has(column.name)) columns.set(column.name, column);
    else faults.push(`duplicate: Two columns are ${printable(column.name)}`);
  }
  // Nobody has named a default column that cannot be: a currency that SQL has written is on no list.
  if (!names || faults.length + hidden.length === 0) return [...columns.values()];
  throw invalid("The query", [
    ...faults.map((text) => ({ ...splitMessage(text), parameter: "columns" })),
    ...hidden.map((name) => leftOutDetail("columns", name)),
  ]);
}

/**
 * Whether a name is that of a column of a field that a view leaves out. It is not looked up: the
 * response must not tell whether a custom field with the name exists, or suggest a similar one.
 */
function isOfLeftOutField(name: string, view: View): boolean {
  return isLeftOut(view, name.split("[", 1)[0]!.trim().toLowerCase());
}

/** Whether a view leaves out what a column has. */
function isHidden({ field, inner, key }: SheetColumn, view: View): boolean {
  const place = field === SUPPLY_PRICES ? "product_territories.supply_details.prices" : field;
  if (isLeftOut(view, inner ? `${place}.${inner}` : place)) return true;
  if (typeof key !== "object") return false;
  const { currency_code, price_type, collateral_type } = key;
  if (field === SUPPLY_PRICES) return !isPriceSeen(view, currency_code, price_type);
  if (field === "product_prices") return !isOwnAmountSeen(view, currency_code, inner);
  return isTypeLeftOut(view, field, collateral_type);
}

/** The condition that product `id` is in the view. Always true without one. */
function isSeen(id: Statement, view: View | undefined): Statement[] {
  const conditions = viewConditions(view);
  return conditions.length === 0 ? [] : [sql`and exists (
    select from products p
    where p.organization_id = ${organization} and p.id = ${id} ${conditions}
  )`];
}

/** The condition that a price has one of these values. Always true without any. */
function isAmong(column: string, values: readonly string[] | null | undefined): Statement[] {
  return values ? [sql`and r.${raw(column)} ${isOneOfTexts(values)}`] : [];
}

/** The names of the organization's custom fields, each of which can be a column. */
export async function readCustomFields(
  database: Pick<SheetReader, "lookUp">,
  view?: View,
): Promise<string[]> {
  // A recipient does not learn of fields that only other products have.
  const isUsed = view
    ? [sql`and exists (
    select from custom_field_values x
    where x.organization_id = ${organization} and x.field_id = f.id
      ${isSeen(sql`x.product_id`, view)}
  )`]
    : [];
  const fields = await database.lookUp(sql<{ name: string }>`
    select distinct f.name from custom_fields f
    where f.organization_id = ${organization} ${isUsed}
    order by f.name
  `);
  return fields.map(({ name }) => name);
}

/**
 * The columns of the prices in use. A currency without retail prices has the column of the price
 * without tax.
 *
 * This and `readSupplyColumns` read the prices of all products, also for a sheet of few: those of a
 * million products take half a second. A sheet of books without prices needs the columns, too. An
 * index by currency would cost every write of a price, and a change of an amount could no longer
 * leave the indexes as they are. A sheet that names its columns does without.
 */
async function readPriceColumns(
  database: SheetReader,
  view: View | undefined,
): Promise<string[]> {
  const rows = await database.scan(sql<{ currency_code: string; bare: boolean; taxed: boolean }>`
    select r.currency_code, bool_or(r.retail_price is not null) as bare,
      bool_or(r.retail_price_inc_tax is not null) as taxed
    from product_prices r
    where r.organization_id = ${organization} ${isSeen(sql`r.product_id`, view)}
    group by r.currency_code
    order by r.currency_code
  `);
  return rows.flatMap(({ currency_code: code, bare, taxed }) => [
    ...bare || !taxed ? [`product_prices[${code}].retail_price`] : [],
    ...taxed ? [`product_prices[${code}].retail_price_inc_tax`] : [],
  ]);
}

/** The maximum number of columns of supply prices in an export that names no columns. */
const MAX_SUPPLY_COLUMNS = 20;

/** The columns of the supply prices in use: those that most products have. */
async function readSupplyColumns(
  database: SheetReader,
  view: View | undefined,
): Promise<string[]> {
  const rows = await database.scan(sql<{ currency_code: string; price_type: string }>`
    select u.currency_code, u.price_type
    from (
      select r.currency_code, r.price_type
      from supply_prices r
      where r.organization_id = ${organization}
        and r.currency_code is not null and r.price_type is not null and r.price_qualifier is null
        ${isAmong("currency_code", view?.currencies)}
        ${isAmong("price_type", view?.price_types)}
        ${isSeen(sql`r.product_id`, view)}
      group by r.currency_code, r.price_type
      order by count(*) desc, r.currency_code, r.price_type
      limit ${MAX_SUPPLY_COLUMNS}
    ) u
    order by u.currency_code, u.price_type
  `);
  return rows.map(({ currency_code, price_type }) =>
    `supply_prices[${currency_code} ${price_type}].price_amount`
  );
}
