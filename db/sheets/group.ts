import { validBody } from "../../schema/batch.ts";
import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { ApiError } from "../../schema/errors.ts";
import { Named } from "../../schema/named.ts";
import { parseExact } from "../../schema/numbers.ts";
import { objectsIn } from "../../schema/objects.ts";
import { readCell } from "../../schema/sheets/cells.ts";
import type { Column } from "../../schema/sheets/columns.ts";
import {
  type Cells,
  type Draft,
  draftOf,
  matchOf,
  messagesOf,
} from "../../schema/sheets/draft.ts";
import type { SheetImportQuery } from "../../schema/sheets/query.ts";
import type { RowOutcome, SheetMessage } from "../../schema/sheets/report.ts";
import { isUuid } from "../../schema/values.ts";
import {
  isOneOf,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { linkRecords } from "../onix/links.ts";
import type { Change, Write } from "../products/change.ts";
import { readInGroups, sizeOfStored } from "../products/read.ts";
import {
  hasKey,
  isbnKeys,
  isFoundBy,
  type KeyedProduct,
  type ProductKey,
} from "../products/keys.ts";
import { findNamed } from "../products/names.ts";
import { changedFields } from "../products/upsert.ts";
import {
  type Cause,
  lockAndFind,
  writeTogether,
} from "../products/write_together.ts";
import { uuidv7 } from "../uuid.ts";

/*
 * Writes a group of rows in one transaction. A row becomes an upsert: it finds its product, its
 * cells become a body, and `write_together.ts` writes what the body changes.
 */

/** A row of a sheet with the cells of its columns, and what was said of it so far. */
export interface SheetRow {
  line: number;
  cells: Cells;
  messages: SheetMessage[];
}

export interface RowOptions extends SheetImportQuery {
  pace: () => Promise<void>;
  /** The line that has written a product, by id. */
  written: Map<string, number>;
}

interface FoundProduct extends KeyedProduct {
  id: string;
  bytes: number | null;
}

/** How a row finds its product. */
interface Addressed {
  row: SheetRow;
  column?: Column;
  id?: string;
  key?: ProductKey;
}

type RowWrite = Write & Pick<Change, "source">;

/** A row that changes its product, or creates one. */
interface RowChange extends Cause {
  row: SheetRow;
  draft: Draft;
  /** The product before. Absent for a new one. */
  product: Entry | undefined;
  change: RowWrite;
}

const DRY_RUN = new Error("A dry run is rolled back");

/** Writes the rows, and returns what became of them, in their order. */
export async function importRows(
  queries: () => Queries,
  rows: readonly SheetRow[],
  options: RowOptions,
): Promise<RowOutcome[]> {
  const outcomes = new Map<SheetRow, RowOutcome>();
  const addressed = rows.flatMap((row) => {
    const found = addressOf(row);
    if (!("fault" in found)) return [found];
    outcomes.set(row, refusedRow(row, found.fault));
    return [];
  });
  // Rows that change nothing lock nothing.
  const found = await queries().scan(sql<FoundProduct>`
    ${SELECT} where p.organization_id = ${organization} and ${
    areMeant(addressed)
  }
  `);
  const changing = await changingRows(
    queries(),
    addressed,
    found,
    outcomes,
    options,
  );
  if (changing.length > 0) {
    await queries().transaction(async (tx) => {
      for (const { row } of changing) outcomes.delete(row);
      await writeRows(tx, changing, outcomes, options);
      if (options.dry_run) throw DRY_RUN;
      await tx.commit();
    }).catch((error) => {
      if (error !== DRY_RUN) throw error;
      // The product that a row creates is rolled back.
      for (const one of outcomes.values()) {
        if (one.outcome === "created") one.id = null;
      }
    });
  }
  for (const { line, id } of outcomes.values()) {
    if (id) options.written.set(id, line);
  }
  return rows.map((row) => outcomes.get(row)!);
}

const SELECT = sql<FoundProduct>`
  select p.id, p.isbn13, p.isbn10, p.product_code, ${sizeOfStored} as bytes
  from products p
`;

function areMeant(addressed: readonly Addressed[]): Statement {
  const ids = addressed.flatMap(({ id }) => id ?? []);
  const keys = addressed.flatMap(({ key }) => key ?? []);
  return sql`(p.id ${isOneOf(ids)} or ${hasKey(keys)})`;
}

function addressOf(row: SheetRow): Addressed | { fault: SheetMessage } {
  const found = matchOf(row.cells);
  if (!found) return { row };
  const { match, column, cell } = found;
  const fault = (code: string, message: string) => ({
    fault: messageAt(column, code, message, cell),
  });
  if (match === "id") {
    const id = cell.trim().toLowerCase();
    return isUuid(id)
      ? { row, column, id }
      : fault("invalid_uuid", "Expected the id of a product, a UUID");
  }
  if (match === "product_code") {
    return { row, column, key: { match, value: cell.trim() } };
  }
  const read = readCell(cell, column, { dates: "ymd" });
  if ("fault" in read) {
    const [, code = "", message = ""] = /^(\w+): (.*)$/s.exec(read.fault)!;
    return fault(code, message);
  }
  const body = validBody("update", { [match]: read.value });
  if (body instanceof ApiError) {
    const { code, message } = body.details[0]!;
    return fault(code, message);
  }
  const [key] = isbnKeys(body);
  return { row, column, key: key! };
}

function messageAt(
  column: Column | undefined,
  code: string,
  message: string,
  value?: string,
): SheetMessage {
  return {
    severity: "error",
    column: column?.name ?? null,
    code,
    message,
    value: value?.slice(0, 200) ?? null,
  };
}

function isMeant({ id, key }: Addressed, product: FoundProduct): boolean {
  return id ? product.id === id : key ? isFoundBy(key, product) : false;
}

/** The rows that would change something, or create a product. The others get their outcomes. */
async function changingRows(
  database: Queries,
  addressed: readonly Addressed[],
  found: readonly FoundProduct[],
  outcomes: Map<SheetRow, RowOutcome>,
  options: RowOptions,
): Promise<Addressed[]> {
  const read = async (ids: readonly string[]) => {
    const products = new Map<string, Entry>();
    const sized = found.filter(({ id }) => ids.includes(id));
    const tx = {
      send: async (statement: Statement) => [await database.scan(statement)],
    };
    for await (
      const group of readInGroups(tx as unknown as Transaction, sized)
    ) {
      for (const { id, product } of group) {
        products.set(id, parseExact(product) as Entry);
      }
    }
    return products;
  };
  const meant = await match(addressed, found, read, outcomes, options);
  const changing: Addressed[] = [];
  for (const { one, product } of meant) {
    await options.pace();
    const draft = draftOf(
      product ?? {},
      one.row.cells,
      formOf(options),
      new Set(),
    );
    if (product && draft.changes.length === 0 && draft.messages.length === 0) {
      outcomes.set(one.row, outcome(one.row, "unchanged", product));
    } else changing.push(one);
  }
  return changing;
}

const formOf = ({ decimal, dates, empty }: RowOptions) => ({
  decimal,
  dates,
  isCleared: empty === "clear",
});

/** The rows with their products. Those of none or of several are refused, unless they create one. */
async function match(
  addressed: readonly Addressed[],
  found: readonly FoundProduct[],
  read: (ids: readonly string[]) => Promise<Map<string, Entry>>,
  outcomes: Map<SheetRow, RowOutcome>,
  { create, written }: RowOptions,
): Promise<{ one: Addressed; product: Entry | undefined }[]> {
  const known: { one: Addressed; id: string | undefined }[] = [];
  const lines = new Map<string, number>();
  for (const one of addressed) {
    const { row, column, key } = one;
    const meant = found.filter((product) => isMeant(one, product));
    const id = meant[0]?.id;
    const cell = column && row.cells.get(column);
    const fault = (code: string, message: string) =>
      outcomes.set(
        row,
        refusedRow(row, messageAt(column, code, message, cell)),
      );
    const other = id && (lines.get(id) ?? written.get(id));
    if (meant.length > 1) {
      fault(
        "ambiguous",
        `Several products have this ${column!.name}: name one by its id`,
      );
    } else if (other) {
      fault(
        "duplicate",
        `Line ${other} has another row of the same product: keep one of them`,
      );
    } else if (!id && (one.id || key?.match === "product_code")) {
      fault("not_found", `No product has this ${column!.name}`);
    } else if (!id && !create) {
      fault(
        "not_found",
        column
          ? `No product has this ${column.name}: with create=true the row creates one`
          : "The row names no product: with create=true it creates one",
      );
    } else {
      if (id) lines.set(id, row.line);
      known.push({ one, id });
    }
  }
  const products = await read(known.flatMap(({ id }) => id ?? []));
  return known.map(({ one, id }) => ({
    one,
    product: id === undefined ? undefined : products.get(id),
  }));
}

/** Locks the products of the rows, and writes what the rows change of them now. */
async function writeRows(
  tx: Transaction,
  addressed: readonly Addressed[],
  outcomes: Map<SheetRow, RowOutcome>,
  options: RowOptions,
): Promise<void> {
  const keys = addressed.flatMap(({ key }) => key ?? []);
  const found = await lockAndFind(tx, keys, areMeant(addressed), SELECT);
  const read = async (ids: readonly string[]) => {
    const products = new Map<string, Entry>();
    const sized = found.filter(({ id }) => ids.includes(id));
    for await (const group of readInGroups(tx, sized)) {
      for (const { id, product } of group) {
        products.set(id, parseExact(product) as Entry);
      }
    }
    return products;
  };
  const drafted: RowChange[] = [];
  for (
    const { one, product } of await match(
      addressed,
      found,
      read,
      outcomes,
      options,
    )
  ) {
    await options.pace();
    const drafting = draftRow(one, product, options);
    drafted.push(drafting);
  }
  if (options.create_names) await createNames(tx, drafted);
  const named = await findNamed(tx, drafted.map(({ change }) => change));
  const changes = drafted.flatMap((one, i): RowChange[] => {
    const change = named[i]!;
    const { row, draft, product } = one;
    if (change instanceof ApiError) {
      draft.messages.push(...toldIn(change, draft, row));
    }
    if (draft.messages.some(({ severity }) => severity === "error")) {
      outcomes.set(row, refusedRow(row, ...draft.messages));
      return [];
    }
    if (change instanceof ApiError || !product) {
      return [{ ...one, change: change as RowWrite }];
    }
    const body = changedFields(product, change.body);
    if (Object.keys(body).length === 0) {
      outcomes.set(row, outcome(row, "unchanged", product, draft.messages));
      return [];
    }
    const stale = staleness(row, product, options);
    if (stale) {
      outcomes.set(row, {
        ...outcome(row, stale.code === "stale" ? "stale" : "refused", product, [
          stale,
        ]),
        changes: draft.changes,
      });
      return [];
    }
    return [{ ...one, change: { ...change, body } }];
  });
  const { done, faults } = await writeTogether(tx, changes);
  for (const { row, draft, product, change } of done) {
    const shown = product ?? { id: change.id, ...change.body };
    outcomes.set(row, {
      ...outcome(row, product ? "updated" : "created", shown, draft.messages),
      changes: draft.changes,
    });
  }
  for (const [{ row, draft }, error] of faults) {
    outcomes.set(row, refusedRow(row, ...toldIn(error, draft, row)));
  }
}

function toldIn(
  error: ApiError,
  draft: Draft,
  { cells }: SheetRow,
): SheetMessage[] {
  const { messages } = messagesOf(error.details, draft, cells);
  return messages.length > 0
    ? messages
    : [messageAt(undefined, error.code.toLowerCase(), error.message)];
}

/**
 * The change that a row makes. What the rules refuse is told, and the rest is checked without
 * it: all faults of a row are told at once.
 */
function draftRow(
  { row, key, column }: Addressed,
  product: Entry | undefined,
  options: RowOptions,
): RowChange {
  const source = { line: row.line };
  const method = product ? "update" : "create";
  const told: SheetMessage[] = [];
  const without = new Set<Column>();
  for (;;) {
    const draft = draftOf(product ?? {}, row.cells, formOf(options), without);
    const sent = product || draft.body.title !== undefined || told.length > 0
      ? draft.body
      : { title: undefined, ...draft.body };
    // A row at fault is checked as a change: it creates nothing.
    const isFaulty = told.length > 0 ||
      draft.messages.some(({ severity }) => severity === "error");
    const body = validBody(isFaulty ? "update" : method, sent);
    if (!(body instanceof ApiError)) {
      draft.messages.unshift(...told);
      const id = product ? String(product.id) : uuidv7();
      const change: RowWrite = product
        ? { method: "update", id, body, isWhole: true, source }
        : { method: "create", id, body, source, ...key && column && { key } };
      return { row, draft, product, change };
    }
    const { messages, columns } = messagesOf(body.details, draft, row.cells);
    told.push(...messages);
    const size = without.size;
    for (const one of columns) without.add(one);
    if (without.size === size) {
      draft.messages.unshift(...told);
      const id = product ? String(product.id) : uuidv7();
      return {
        row,
        draft,
        product,
        change: { method: "update", id, body: {} },
      };
    }
  }
}

/** Creates the contributors, publishers, imprints and collections that nobody has, as ONIX does. */
async function createNames(
  tx: Transaction,
  drafted: readonly RowChange[],
): Promise<void> {
  const nameOf = (id: unknown) =>
    id instanceof Named && id.column === "name" ? id.value : undefined;
  const namesIn = (body: ProductBody, array: string, reference: string) =>
    objectsIn(body[array]).flatMap((entry) => {
      const name = nameOf(entry[reference]);
      return name === undefined ? [] : [{ name }];
    });
  const wanted = drafted
    .filter(({ draft }) =>
      draft.messages.every(({ severity }) => severity === "warning")
    )
    .map(({ change: { body } }) => ({
      publisher: nameOf(body.publisher_id),
      imprint: nameOf(body.imprint_id),
      contributors: namesIn(body, "contributors", "contributor_id"),
      collections: namesIn(body, "product_collections", "collection_id"),
    }));
  if (wanted.length > 0) await linkRecords(tx, wanted);
}

/** Why a row is not written: its product is newer, or the time in the row is none. */
function staleness(
  { cells }: SheetRow,
  product: Entry,
  { stale }: RowOptions,
): SheetMessage | undefined {
  const [column, cell = ""] =
    [...cells].find(([{ name }]) => name === "updated_at") ?? [];
  if (stale === "apply" || cell.trim() === "") return;
  const time = Date.parse(cell);
  if (Number.isNaN(time)) {
    return messageAt(
      column,
      "invalid_date",
      "Expected the time of the export, such as 2027-01-31T12:00:00.000Z",
      cell,
    );
  }
  if (Date.parse(String(product.updated_at)) <= time) return;
  return messageAt(
    column,
    "stale",
    `The product was changed at ${product.updated_at}, after this sheet was made: export it again, or send it with stale=apply`,
    cell,
  );
}

function refusedRow(row: SheetRow, ...messages: SheetMessage[]): RowOutcome {
  return outcome(row, "refused", null, messages);
}

function outcome(
  { line, cells, messages: before }: SheetRow,
  outcome: RowOutcome["outcome"],
  product: Entry | null,
  messages: readonly SheetMessage[] = [],
): RowOutcome {
  const isbn = [...cells].find(([{ name }]) => name === "isbn13")?.[1];
  return {
    line,
    id: (product?.id as string | undefined) ?? null,
    isbn13: (product ? product.isbn13 as string | null : isbn || null) ?? null,
    outcome,
    changes: [],
    messages: [...before, ...messages],
  };
}
