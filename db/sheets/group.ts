import { validBody } from "../../schema/batch.ts";
import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { failure, guarded } from "../../schema/defects.ts";
import { ApiError, detailAt, type ErrorDetail, invalid } from "../../schema/errors.ts";
import { Named } from "../../schema/named.ts";
import { objectsIn } from "../../schema/objects.ts";
import { isRecordName, MAX_NAME } from "../../schema/records.ts";
import type { SheetImportQuery } from "../../schema/sheets/query.ts";
import type { CellChange, SheetMessage } from "../../schema/sheets/report.ts";
import {
  cellChanges,
  cellFaults,
  type Draft,
  draftOf,
  messageAt,
} from "../../schema/sheets/draft.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { transactionOrDryRun } from "../dry_run.ts";
import { MAX_BYTES } from "../long_text.ts";
import { linkRecords } from "../onix/links.ts";
import type { Write } from "../products/change.ts";
import { parseProduct } from "../products/document.ts";
import { keyName, type ProductKey, sharedBy } from "../products/keys.ts";
import { resolveNames } from "../products/names.ts";
import { readInGroups } from "../products/read_many.ts";
import { changedFields } from "../products/changed_fields.ts";
import { lockAndFind, writeTogether } from "../products/write_together.ts";
import { uuidv7 } from "../uuid.ts";
import {
  areMeant,
  type MeantProduct,
  meantProducts,
  productsByAddress,
  type SheetRow,
} from "./sheet_row.ts";

/*
 * Writes a group of rows in one transaction, as a batch of upserts: the product of each row is
 * locked and found, the cells become a body, and what the bodies change is written together.
 */

export interface RowOptions extends SheetImportQuery {
  pace: () => Promise<void>;
}

/** What a row makes of its product, or of a new one. */
interface RowPlan {
  row: SheetRow;
  draft: Draft;
  /** The product before. Absent for a new one. */
  product: Entry | undefined;
  change: Write | ApiError;
}

/** Writes the first rows, as many as there is memory for their products. The rest have no outcome. */
export async function importRows(
  queries: () => Queries,
  rows: readonly SheetRow[],
  options: RowOptions,
): Promise<void> {
  await transactionOrDryRun(queries(), options.dry_run, async (tx) => {
    // The pool may repeat the transaction.
    for (const row of rows) row.outcome = undefined;
    const plans = await planRows(tx, rows, options);
    await writePlans(tx, plans, options);
  });
}

/** Locks and finds the products of rows, and plans the rows. Ends those that cannot be written. */
async function planRows(
  tx: Transaction,
  rows: readonly SheetRow[],
  options: RowOptions,
): Promise<RowPlan[]> {
  const addresses = rows.flatMap(({ address }) => address ?? []);
  const found = productsByAddress(
    await lockAndFind(tx, addresses, areMeant(addresses), meantProducts),
  );
  const plans: RowPlan[] = [];
  const meant = new Map<string, { row: SheetRow; product: MeantProduct }>();
  let bytes = 0;
  for (const row of rows) {
    const products = row.address ? found.get(keyName(row.address)) ?? [] : [];
    const fault = matchFault(row, products, options);
    const [product] = products;
    if (fault) row.refuse(fault, row.address);
    else if (!product) plans.push(planRow(row, undefined, options));
    else {
      bytes += product.bytes ?? 0;
      if (bytes > MAX_BYTES && meant.size > 0) break;
      meant.set(product.id, { row, product });
    }
  }
  const sized = [...meant.values()].map(({ product }) => product);
  for await (const group of readInGroups(tx, sized)) {
    for (const { id, product } of group) {
      await options.pace();
      const { row } = meant.get(id)!;
      plans.push(planRow(row, parseProduct(product), options));
    }
  }
  return plans;
}

/** Why a row cannot be written to the products that it has found, as `code: Sentence`. */
function matchFault(
  { address }: SheetRow,
  products: readonly MeantProduct[],
  { create }: RowOptions,
): string | undefined {
  if (products.length === 1) return;
  if (products.length > 1) {
    return `ambiguous: ${sharedBy(address!.column.name, products)}: name one by its id`;
  }
  const what = address ? `No product has this ${address.column.name}` : "The row names no product";
  if (address && address.kind !== "isbn") return `not_found: ${what}`;
  if (!create) return `not_found: ${what}: with create=true the row creates one`;
}

function planRow(row: SheetRow, product: Entry | undefined, options: RowOptions): RowPlan {
  const { line, cells, address } = row;
  const draft = draftOf(product ?? {}, cells, options);
  // A row with unreadable cells creates nothing, so no field is required of it.
  const isNew = !product && draft.faults.length === 0;
  const body = guarded(() => validBody(isNew ? "create" : "update", draft.body), failure);
  if (body instanceof ApiError) return { row, draft, product, change: body };
  const long = options.create_names ? longNames(body) : [];
  if (long.length > 0) return { row, draft, product, change: invalid("The body", long) };
  const change = { id: String(product?.id ?? uuidv7()), body, source: { line } };
  const write: Write = product
    ? { ...change, method: "update", isWhole: true }
    : { ...change, method: "create", ...address && { key: address as ProductKey } };
  return { row, draft, product, change: write };
}

/** Writes what is planned. Names are created only for rows that are written. */
async function writePlans(
  tx: Transaction,
  plans: readonly RowPlan[],
  options: RowOptions,
): Promise<void> {
  const names = new Map(options.create_names ? plans.flatMap(namesToCreate) : []);
  if (names.size > 0) {
    await tx.send(sql`savepoint names`);
    await linkRecords(tx, [...names.values()]);
  }
  const { done, faults } = await writeTogether(tx, await withChanges(tx, plans, options));
  for (const [{ row, draft }, error] of faults) row.end("refused", cellFaults(error, draft));
  for (const { row, draft, product, change, changes } of done) {
    // A dry run creates no product.
    const created = { ...change.body, id: options.dry_run ? undefined : change.id };
    const what = { product: product ?? created, changes };
    row.end(product ? "updated" : "created", draft.warnings, what);
  }
  const written = new Set(done.map(({ row }) => row));
  if ([...names.keys()].every((row) => written.has(row))) return;
  // Names were created for rows that are not written: all is done again for the written ones.
  await tx.send(sql`rollback to savepoint names`);
  await writePlans(tx, plans.filter(({ row }) => written.has(row)), options);
}

/** The faults of names that no record can have: to look one up, a body may have a longer one. */
function longNames(body: ProductBody): ErrorDetail[] {
  const faultOf = (id: unknown, at: string) => {
    const isLong = id instanceof Named && id.column === "name" && !isRecordName(id.value);
    return isLong ? [detailAt(`${at}/${id.field}`, TOO_LONG_NAME)] : [];
  };
  const inEntries = (array: string, reference: string) =>
    objectsIn(body[array]).flatMap((entry, i) => faultOf(entry[reference], `/${array}/${i}`));
  return [
    ...faultOf(body.publisher_id, ""),
    ...faultOf(body.imprint_id, ""),
    ...inEntries("contributors", "contributor_id"),
    ...inEntries("product_collections", "collection_id"),
  ];
}

const TOO_LONG_NAME = `too_long: The name of a record has at most ${MAX_NAME} characters`;

/** The names in a change whose records can be created, as an import of ONIX creates them. */
function namesToCreate({ row, draft, change }: RowPlan): [SheetRow, Entry][] {
  if (change instanceof ApiError || draft.faults.length > 0) return [];
  const { body } = change;
  const nameIn = (id: unknown) => id instanceof Named && id.column === "name" ? [id.value] : [];
  const namesOf = (array: string, reference: string) =>
    objectsIn(body[array]).flatMap((entry) => nameIn(entry[reference]).map((name) => ({ name })));
  const [publisher] = nameIn(body.publisher_id);
  const [imprint] = nameIn(body.imprint_id);
  const contributors = namesOf("contributors", "contributor_id");
  const collections = namesOf("product_collections", "collection_id");
  const isNone = !publisher && !imprint && contributors.length + collections.length === 0;
  return isNone ? [] : [[row, { publisher, imprint, contributors, collections }]];
}

/** What is to be written of a plan. */
interface ChangingRow extends RowPlan {
  change: Write;
  changes: CellChange[];
}

/** The plans that change something. Ends the other rows. */
async function withChanges(
  tx: Transaction,
  plans: readonly RowPlan[],
  options: RowOptions,
): Promise<ChangingRow[]> {
  const named = await resolveNames(tx, plans.map(({ change }) => change));
  const changing: ChangingRow[] = [];
  for (const [i, plan] of plans.entries()) {
    const { row, draft, product } = plan;
    const resolved = named[i]!;
    const change = resolved instanceof ApiError ? resolved : differing(resolved, product);
    if (resolved instanceof ApiError || change instanceof ApiError || draft.faults.length > 0) {
      const faults = change instanceof ApiError ? cellFaults(change, draft) : [];
      row.end("refused", [...draft.faults, ...faults]);
      continue;
    }
    if (product && Object.keys(change.body).length === 0) {
      row.end("unchanged", draft.warnings, { product });
      continue;
    }
    const changes = cellChanges(draft, resolved.body);
    const stale = product && staleness(row, product, options);
    if (!stale) changing.push({ ...plan, change, changes });
    else row.end(stale.code === "stale" ? "stale" : "refused", [stale], { product, changes });
  }
  return changing;
}

/** The change with only what differs from the product. A creation stays whole. */
function differing(change: Write, product: Entry | undefined): Write | ApiError {
  if (!product) return change;
  const body = guarded(() => changedFields(product, change.body), failure);
  return body instanceof ApiError ? body : { ...change, body };
}

/**
 * The time of an export, also as a spreadsheet program writes it. A number would be read as a
 * year that is later than all changes, and the day and month of other forms have any order.
 */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]|$)/;

/** Why a row is not written: its product is newer, or its time cannot be read. */
function staleness(
  row: SheetRow,
  { updated_at }: Entry,
  { stale }: RowOptions,
): SheetMessage | undefined {
  const [column, cell] = row.cellOf("updated_at");
  const time = TIME.test(cell.trim()) ? Date.parse(cell) : NaN;
  if (stale === "apply" || cell.trim() === "" || Date.parse(`${updated_at}`) <= time) return;
  return messageAt(
    Number.isNaN(time)
      ? "invalid_date: Expected the time of the export, such as 2027-01-31T12:00:00.000Z"
      : `stale: The product was changed at ${updated_at}, after this sheet was made: export it again, or send it with stale=apply`,
    column,
    cell,
  );
}
