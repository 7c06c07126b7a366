import { validBody } from "../../../schema/accepted.ts";
import type { Entry, ProductBody } from "../../../schema/bodies.ts";
import { catchDefect, defectError } from "../../../schema/defects.ts";
import { ApiError, detailAt, type ErrorDetail, invalid } from "../../../schema/errors.ts";
import { codesIn } from "../../../schema/onix_codes.ts";
import { idOfCode } from "../../../schema/code_ids.ts";
import { Named, visibleName } from "../../../schema/named.ts";
import { objectsIn } from "../../../schema/objects.ts";
import { isRecordName, MAX_NAME } from "../../../schema/records.ts";
import { textOf } from "../schema/cell.ts";
import { withAvailability } from "../schema/supply_prices.ts";
import type { SheetImportQuery } from "../schema/query.ts";
import type { CellChange, SheetMessage } from "../schema/report.ts";
import {
  cellChanges,
  cellFaults,
  type ConvertedRow,
  convertRow,
  formWarnings,
  messageAt,
  withoutForm,
} from "../schema/convert_row.ts";
import { UNUSED_FORM } from "../../../schema/ignored.ts";
import { sharedFormText } from "../../../schema/shared_form.ts";
import { organization, sql, unprepared } from "../../../db/connections/sql.ts";
import { mayBeNamed, RecordsByName } from "../../../db/record_names.ts";
import { turnedName } from "../schema/lists.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Queries } from "../../../db/database.ts";
import { transactionOrDryRun } from "../../../db/dry_run.ts";
import { linkRecords } from "../../onix/db/links/links.ts";
import type { Write } from "../../../db/products/change/change.ts";
import { parseProduct } from "../../../db/products/documents/document.ts";
import { keyName, type ProductKey, sharedKeyMessage } from "../../../db/products/change/keys.ts";
import { resolveNames } from "../../../db/products/names.ts";
import { isFormUnused } from "../../../db/products/statements/product_forms.ts";
import { readInGroups, sizeOf } from "../../../db/products/read_many.ts";
import { changedFields } from "../../../db/products/change/changed_fields.ts";
import { lockAndFind, writeTogether } from "../../../db/products/write_together.ts";
import { uuidv7 } from "../../../db/uuid.ts";
import {
  hasAddress,
  productsByAddress,
  type SheetRow,
  type TargetProduct,
  targetProducts,
} from "./sheet_row.ts";
import { MAX_RESPONSE_BYTES } from "../../../db/sizes.ts";
import type { Pace } from "../../../schema/turns.ts";

/*
 * Writes a group of rows in one transaction, like a batch of upserts: locks and finds the product of
 * each row, converts the cells to a body, and writes the differences of all products together.
 */

export interface RowOptions extends SheetImportQuery {
  keepsGuards: boolean;
  pace: Pace;
}

/** A row with the write that it becomes, or the error that refuses it. */
interface RowPlan {
  row: SheetRow;
  converted: ConvertedRow;
  /** The stored product. Absent if the row creates one. */
  product: Entry | undefined;
  change: Write | ApiError;
}

/**
 * Writes the first rows, as many as there is memory for their products. The other rows get no
 * outcome.
 */
export async function importRows(
  queries: () => Queries,
  rows: readonly SheetRow[],
  options: RowOptions,
): Promise<void> {
  await transactionOrDryRun(queries(), options.dry_run, async (tx) => {
    // The pool may repeat the transaction.
    for (const row of rows) row.outcome = undefined;
    const plans = await planRows(tx, rows, options);
    await turnNames(tx, plans);
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
    await lockAndFind(tx, addresses, hasAddress(addresses), targetProducts),
  );
  const plans: RowPlan[] = [];
  const targets = new Map<string, { row: SheetRow; product: TargetProduct }>();
  let bytes = 0;
  for (const row of rows) {
    const products = row.address ? found.get(keyName(row.address)) ?? [] : [];
    const fault = matchFault(row, products, options);
    const [product] = products;
    if (fault) row.refuse(fault, row.address);
    else if (!product) plans.push(planRow(row, undefined, options));
    else {
      bytes += sizeOf(product);
      if (bytes > MAX_RESPONSE_BYTES && targets.size > 0) break;
      targets.set(product.id, { row, product });
    }
  }
  const sized = [...targets.values()].map(({ product }) => product);
  for await (const group of readInGroups(tx, sized)) {
    for (const { id, product } of group) {
      await options.pace();
      const { row } = targets.get(id)!;
      plans.push(planRow(row, await parseProduct(product, options.pace), options));
    }
  }
  return plans;
}

/** Returns why a row cannot be written to the products that it matches, as `code: Sentence`. */
function matchFault(
  { address }: SheetRow,
  products: readonly TargetProduct[],
  { create }: RowOptions,
): string | undefined {
  if (products.length === 1) return;
  if (products.length > 1) {
    return `ambiguous: ${sharedKeyMessage(address!.column.name, products)}: name one by its id`;
  }
  const what = address ? `No product has this ${address.column.name}` : "The row names no product";
  if (address && address.kind !== "isbn") return `not_found: ${what}`;
  if (!create) return `not_found: ${what}: with create=true the row creates one`;
}

function planRow(row: SheetRow, product: Entry | undefined, options: RowOptions): RowPlan {
  const { line, cells, address } = row;
  const converted = convertRow(product ?? {}, cells, options);
  // A row with unreadable cells creates nothing, so no field is required of it.
  const isNew = !product && converted.faults.length === 0;
  const body = catchDefect(
    () => validBody(isNew ? "create" : "update", converted.body),
    defectError,
  );
  if (body instanceof ApiError) return { row, converted, product, change: body };
  const long = options.create_names ? longNames(body) : [];
  if (long.length > 0) return { row, converted, product, change: invalid("The body", long) };
  const { territories } = converted.supply;
  const whole = territories ? { ...body, product_territories: territories } : body;
  const change = { id: String(product?.id ?? uuidv7()), body: whole, source: { line } };
  const write: Write = product
    ? { ...change, method: "update", isWhole: true }
    : { ...change, method: "create", ...address && { key: address as ProductKey } };
  return { row, converted, product, change: write };
}

/**
 * Turns names of people that are written surname first (`Tarnow, Ines`), unless a contributor has
 * exactly that name.
 */
async function turnNames(tx: Transaction, plans: readonly RowPlan[]): Promise<void> {
  const written = plans.flatMap(({ converted, change }) =>
    change instanceof ApiError ? [] : objectsIn(change.body.contributors).flatMap((entry) => {
      const { contributor_id: id } = entry;
      const isName = id instanceof Named && id.column === "name";
      const turned = isName ? turnedName(id.value) : undefined;
      return isName && turned ? [{ converted, entry, id, turned }] : [];
    })
  );
  if (written.length === 0) return;
  const names = written.map(({ id }) => id.value);
  const [known] = await tx.send(unprepared(sql<{ name: string }>`
    select r.name
    from contributors r
    where r.organization_id = ${organization} and ${mayBeNamed("contributors", names)}
  `));
  const records = new RecordsByName(known);
  for (const { converted, entry, id, turned } of written) {
    if (records.named(id.value).length > 0) continue;
    entry.contributor_id = new Named(id.field, id.column, turned);
    converted.turned.set(id.value, turned);
  }
}

/** Writes the plans. Names are created only for rows that are written. */
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
  for (const [{ row, converted }, error] of faults) {
    row.end("refused", cellFaults(error, converted, options.create_names));
  }
  for (const { row, converted, product, change, changes } of done) {
    // A dry run creates no product.
    const created = { ...change.body, id: options.dry_run ? undefined : change.id };
    const what = { product: product ?? created, changes };
    const { sharedForm } = change;
    const shared = formWarnings(converted, sharedForm && sharedFormText(sharedForm));
    row.end(product ? "updated" : "created", [...converted.warnings, ...shared], what);
  }
  const written = new Set(done.map(({ row }) => row));
  if ([...names.keys()].every((row) => written.has(row))) return;
  // Names were created for rows that are refused, so the group is written again without these rows.
  await tx.send(sql`rollback to savepoint names`);
  await writePlans(tx, plans.filter(({ row }) => written.has(row)), options);
}

/** The faults of names that are too long for a record to be created. A look-up may have longer ones. */
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

/** Returns the names in a change for which records can be created, as in an import of ONIX. */
function namesToCreate({ row, converted, change }: RowPlan): [SheetRow, Entry][] {
  if (change instanceof ApiError || converted.faults.length > 0) return [];
  const { body } = change;
  const nameIn = (id: unknown) =>
    id instanceof Named && id.column === "name" ? [visibleName(id.value)] : [];
  const namesOf = (array: string, reference: string) =>
    objectsIn(body[array]).flatMap((entry) => nameIn(entry[reference]).map((name) => ({ name })));
  const [publisher] = nameIn(body.publisher_id);
  const [imprint] = nameIn(body.imprint_id);
  const contributors = namesOf("contributors", "contributor_id");
  const collections = namesOf("product_collections", "collection_id");
  const isNone = !publisher && !imprint && contributors.length + collections.length === 0;
  return isNone ? [] : [[row, { publisher, imprint, contributors, collections }]];
}

/** A plan that changes its product. */
interface ChangingRow extends RowPlan {
  change: Write;
  changes: CellChange[];
}

/** Returns the plans that change their product. Ends the other rows. */
async function withChanges(
  tx: Transaction,
  plans: readonly RowPlan[],
  options: RowOptions,
): Promise<ChangingRow[]> {
  const named = await resolveNames(tx, plans.map(({ change }) => change));
  const changing: ChangingRow[] = [];
  for (const [i, plan] of plans.entries()) {
    await options.pace();
    const { row, product } = plan;
    const resolved = named[i]!;
    const converted = resolved instanceof ApiError
      ? plan.converted
      : withFormUnused(plan.converted, resolved.body, product);
    const change = resolved instanceof ApiError
      ? resolved
      : differing(withMirroredSupply(resolved, product), product);
    if (resolved instanceof ApiError || change instanceof ApiError || converted.faults.length > 0) {
      const faults = change instanceof ApiError
        ? cellFaults(change, converted, options.create_names)
        : [];
      row.end("refused", [...converted.faults, ...faults]);
      continue;
    }
    if (product && Object.keys(change.body).length === 0) {
      row.end("unchanged", converted.warnings, { product });
      continue;
    }
    const changes = cellChanges(converted, resolved.body);
    const stale = product && (staleness(row, product, options) ?? endedPrice(converted, options));
    if (!stale) changing.push({ ...plan, converted, change, changes });
    else row.end(stale.code === "stale" ? "stale" : "refused", [stale], { product, changes });
  }
  return changing;
}

/** The row, with a warning in place of a product form that no format can store. */
function withFormUnused(
  converted: ConvertedRow,
  body: ProductBody,
  product: Entry | undefined,
): ConvertedRow {
  if (!isFormUnused(body, () => product?.format_id ?? null)) return converted;
  const text = `ignored: ${UNUSED_FORM}`;
  return withoutForm({
    ...converted,
    warnings: [...converted.warnings, ...formWarnings(converted, text)],
  });
}

/** Makes the supply follow the availability of the change. A row sets only amounts in the supply. */
function withMirroredSupply(change: Write, product: Entry | undefined): Write {
  const { product_territories: territories, product_availability_id: id } = change.body;
  const code = codesIn(65).find((code) => idOfCode("65", code) === id);
  if (!product || !territories || !code) return change;
  const { product_availability_code: before } = product;
  const product_territories = withAvailability(territories as Entry[], before, code);
  return { ...change, body: { ...change.body, product_territories } };
}

/** The change reduced to the fields that differ from the product. A creation keeps all. */
function differing(change: Write, product: Entry | undefined): Write | ApiError {
  if (!product) return change;
  const body = catchDefect(() => changedFields(product, change.body), defectError);
  return body instanceof ApiError ? body : { ...change, body };
}

/**
 * The time of an export, also in the form of a spreadsheet program. A number would be read as a
 * year after all changes, and in other forms the order of day and month is unknown.
 */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]|$)/;

/** Returns why a row is not written: its product is newer, or its time cannot be read. */
function staleness(
  row: SheetRow,
  { updated_at }: Entry,
  { stale }: RowOptions,
): SheetMessage | undefined {
  const [column, cell] = row.cellOf("updated_at");
  const text = textOf(cell).trim();
  const time = TIME.test(text) ? Date.parse(text) : NaN;
  if (stale === "apply" || text === "" || Date.parse(`${updated_at}`) <= time) return;
  return messageAt(
    Number.isNaN(time)
      ? "invalid_date: Expected the time of the export, such as 2027-01-31T12:00:00.000Z"
      : `stale: The product was changed at ${updated_at}, after this sheet was made: export it again, or send it with stale=apply`,
    column,
    cell,
  );
}

/**
 * Returns why a row is not written, if it repeats a price whose last day has passed since the
 * export.
 */
function endedPrice(
  { supply: { ended }, set }: ConvertedRow,
  { stale }: RowOptions,
): SheetMessage | undefined {
  const [first] = ended;
  if (!first || stale === "apply") return;
  const [column, day] = first;
  const cell = set.find((one) => one.column === column)?.cell;
  return messageAt(
    `stale: This was the price until ${day}: export the sheet again, or send it with stale=apply`,
    column,
    cell,
  );
}
