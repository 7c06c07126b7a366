import { validBody } from "../../schema/batch.ts";
import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { failure, guarded, UNRULED } from "../../schema/defects.ts";
import { ApiError } from "../../schema/errors.ts";
import { Named } from "../../schema/named.ts";
import { parseExact } from "../../schema/numbers.ts";
import { objectsIn } from "../../schema/objects.ts";
import type { Column } from "../../schema/sheets/columns.ts";
import type { SheetImportQuery } from "../../schema/sheets/query.ts";
import type {
  CellChange,
  RowOutcome,
  SheetMessage,
} from "../../schema/sheets/report.ts";
import {
  type Cells,
  changesOf,
  type Draft,
  draftOf,
  faultsOf,
  messageAt,
} from "../../schema/sheets/row.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { MAX_BYTES } from "../long_text.ts";
import { linkRecords } from "../onix/links.ts";
import type { Write } from "../products/change.ts";
import { readInGroups, sizeOfStored } from "../products/read.ts";
import type { ProductKey } from "../products/keys.ts";
import { findNamed } from "../products/names.ts";
import { changedFields } from "../products/upsert.ts";
import {
  type Cause,
  lockAndFind,
  writeTogether,
} from "../products/write_together.ts";
import { uuidv7 } from "../uuid.ts";
import {
  type Address,
  areMeant,
  type MeantProduct,
  nameOf,
  productsByAddress,
} from "./address.ts";

/*
 * Writes a group of rows in one transaction. A row is an upsert of the batch: its product is
 * locked and found, its cells become a body, and what the body changes is written with that of
 * the other rows.
 */

/** A row of a sheet, and what was said of it so far. */
export interface SheetRow {
  line: number;
  cells: Cells;
  /** How it finds its product. Absent if all its match cells are empty. */
  address?: Address | undefined;
  messages: SheetMessage[];
}

export interface RowOptions extends SheetImportQuery {
  pace: () => Promise<void>;
}

/** What a row makes of its product, or of a new one. */
interface Planned extends Cause {
  row: SheetRow;
  draft: Draft;
  /** The product before. Absent for a new one. */
  product: Entry | undefined;
  change: Write & { source: Entry };
  changes: CellChange[];
}

type Outcomes = Map<SheetRow, RowOutcome>;

const DRY_RUN = new Error("A dry run is rolled back");

/**
 * Writes the first of the rows whose products fit into the memory of a group. Returns what became
 * of these.
 */
export async function importRows(
  queries: () => Queries,
  rows: readonly SheetRow[],
  options: RowOptions,
): Promise<RowOutcome[]> {
  let outcomes: Outcomes = new Map();
  await queries().transaction(async (tx) => {
    outcomes = new Map();
    await planAndWrite(tx, rows, outcomes, options);
    if (options.dry_run) throw DRY_RUN;
    await tx.commit();
  }).catch((error) => {
    if (error !== DRY_RUN) throw error;
    for (const one of outcomes.values()) {
      if (one.outcome === "created") one.id = null;
    }
  });
  return rows.flatMap((row) => outcomes.get(row) ?? []);
}

async function planAndWrite(
  tx: Transaction,
  rows: readonly SheetRow[],
  outcomes: Outcomes,
  options: RowOptions,
): Promise<void> {
  const addresses = rows.flatMap(({ address }) => address ?? []);
  const found = productsByAddress(
    await lockAndFind(
      tx,
      addresses,
      areMeant(addresses),
      sql<SizedProduct>`
        select p.id, p.isbn13, p.isbn10, p.product_code, ${sizeOfStored} as bytes
        from products p
      `,
    ),
  );
  const planned: Planned[] = [];
  const plan = (row: SheetRow, product?: Entry) =>
    guarded(
      () => void planned.push(planOf(row, product, options)),
      () =>
        void outcomes.set(
          row,
          outcomeOf(row, "refused", null, [messageAt(UNRULED)]),
        ),
    );
  const meant = new Map<string, SheetRow>();
  const sized: SizedProduct[] = [];
  let bytes = 0;
  for (const row of rows) {
    const { address } = row;
    const products = address ? found.get(nameOf(address)) ?? [] : [];
    const fault = faultOf(address, products, options);
    const [product] = products;
    if (fault) {
      const { column, cell } = address ?? {};
      outcomes.set(
        row,
        outcomeOf(row, "refused", null, [messageAt(fault, column, cell)]),
      );
    } else if (!product) plan(row);
    else {
      bytes += product.bytes ?? 0;
      if (bytes > MAX_BYTES && sized.length > 0) break;
      meant.set(product.id, row);
      sized.push(product);
    }
  }
  for await (const group of readInGroups(tx, sized)) {
    for (const { id, product } of group) {
      await options.pace();
      plan(meant.get(id)!, parseExact(product) as Entry);
    }
  }
  await write(tx, planned, outcomes, options);
}

interface SizedProduct extends MeantProduct {
  bytes: number | null;
}

/** Why a row has no product to write, as `code: Sentence`. */
function faultOf(
  address: Address | undefined,
  products: readonly MeantProduct[],
  { create }: RowOptions,
): string | undefined {
  if (products.length === 1) return;
  if (!address) {
    return create
      ? undefined
      : "not_found: The row names no product: with create=true it creates one";
  }
  const { name } = address.column;
  if (products.length > 1) {
    return `ambiguous: Several products have this ${name}: name one by its id`;
  }
  if (address.match !== "isbn") return `not_found: No product has this ${name}`;
  return create
    ? undefined
    : `not_found: No product has this ${name}: with create=true the row creates one`;
}

/**
 * What a row makes of its product. What the rules refuse is told, and the rest is checked
 * without it: all faults of a row are told at once.
 */
function planOf(
  row: SheetRow,
  product: Entry | undefined,
  options: RowOptions,
  without: ReadonlySet<Column> = new Set(),
): Planned {
  const { line, cells, address } = row;
  const draft = draftOf(product ?? {}, cells, options, without);
  // A row at fault creates nothing, and needs nothing more.
  const isNew = !product && without.size === 0 && !hasErrors(draft);
  const body = validBody(isNew ? "create" : "update", draft.body);
  const write = {
    id: String(product?.id ?? uuidv7()),
    body: body instanceof ApiError ? {} : body,
    source: { line },
  };
  const change: Planned["change"] = product
    ? { method: "update", isWhole: true, ...write }
    : {
      method: "create",
      ...write,
      ...address && { key: address as ProductKey },
    };
  if (!(body instanceof ApiError)) {
    return { row, draft, product, change, changes: [] };
  }
  const { messages, columns } = faultsOf(body.details, draft);
  const rest = columns.length > 0
    ? planOf(row, product, options, new Set([...without, ...columns]))
    : { row, draft, product, change, changes: [] };
  rest.draft.messages.unshift(...messages);
  return rest;
}

function hasErrors({ messages }: Draft): boolean {
  return messages.some(({ severity }) => severity === "error");
}

/** Writes what is planned. Names are created for what is written alone. */
async function write(
  tx: Transaction,
  planned: readonly Planned[],
  outcomes: Outcomes,
  options: RowOptions,
): Promise<void> {
  const wanting = options.create_names
    ? new Map(planned.flatMap((one) => {
      const names = hasErrors(one.draft) ? undefined : namesIn(one.change.body);
      return names ? [[one.row, names] as const] : [];
    }))
    : new Map();
  if (wanting.size > 0) {
    await tx.send(sql`savepoint names`);
    await linkRecords(tx, [...wanting.values()]);
  }
  const changes = await changesIn(tx, planned, outcomes, options);
  const { done, faults } = await writeTogether(tx, changes);
  for (const { row, draft, product, change, changes } of done) {
    const outcome = product ? "updated" : "created";
    const shown = product ?? { ...change.body, id: change.id };
    outcomes.set(row, outcomeOf(row, outcome, shown, draft.messages, changes));
  }
  for (const [{ row, draft }, error] of faults) {
    outcomes.set(
      row,
      outcomeOf(row, "refused", null, messagesOf(error, draft)),
    );
  }
  const written = new Set(done.map(({ row }) => row));
  if ([...wanting.keys()].every((row) => written.has(row))) return;
  await tx.send(sql`rollback to savepoint names`);
  await write(
    tx,
    planned.filter(({ row }) => written.has(row)),
    outcomes,
    options,
  );
}

/** The names in a body of what an import of ONIX creates, or undefined if there are none. */
function namesIn(body: ProductBody): Entry | undefined {
  const nameOf = (id: unknown) =>
    id instanceof Named && id.column === "name" ? id.value : undefined;
  const namesOf = (array: string, reference: string) =>
    objectsIn(body[array]).flatMap((entry) => {
      const name = nameOf(entry[reference]);
      return name === undefined ? [] : [{ name }];
    });
  const names = {
    publisher: nameOf(body.publisher_id),
    imprint: nameOf(body.imprint_id),
    contributors: namesOf("contributors", "contributor_id"),
    collections: namesOf("product_collections", "collection_id"),
  };
  return Object.values(names).flat().some(Boolean) ? names : undefined;
}

/** The rows that change something, with what they change. The others get their outcomes. */
async function changesIn(
  tx: Transaction,
  planned: readonly Planned[],
  outcomes: Outcomes,
  options: RowOptions,
): Promise<Planned[]> {
  const named = await findNamed(tx, planned.map(({ change }) => change));
  return planned.flatMap((one, i): Planned[] => {
    const { row, draft, product } = one;
    const end = (
      outcome: RowOutcome["outcome"],
      messages: readonly SheetMessage[],
      changes: CellChange[] = [],
    ) => {
      const shown = outcome === "refused" ? null : product!;
      outcomes.set(row, outcomeOf(row, outcome, shown, messages, changes));
      return [];
    };
    const change = named[i]!;
    if (change instanceof ApiError) {
      return end("refused", [...draft.messages, ...messagesOf(change, draft)]);
    }
    if (hasErrors(draft)) return end("refused", draft.messages);
    const changes = changesOf(draft, change.body);
    if (!product) return [{ ...one, change, changes }];
    const body = guarded(() => changedFields(product, change.body), failure);
    if (body instanceof ApiError) {
      return end("refused", messagesOf(body, draft));
    }
    if (Object.keys(body).length === 0) return end("unchanged", draft.messages);
    const stale = staleness(row, product, options);
    if (stale) {
      return end(
        stale.code === "stale" ? "stale" : "refused",
        [stale],
        changes,
      );
    }
    return [{ ...one, change: { ...change, body }, changes }];
  });
}

function messagesOf(error: ApiError, draft: Draft): SheetMessage[] {
  const { messages } = faultsOf(error.details, draft);
  return messages.length > 0
    ? messages
    : [messageAt(`${error.code.toLowerCase()}: ${error.message}`)];
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
  if (Date.parse(String(product.updated_at)) <= time) return;
  return messageAt(
    Number.isNaN(time)
      ? "invalid_date: Expected the time of the export, such as 2027-01-31T12:00:00.000Z"
      : `stale: The product was changed at ${product.updated_at}, after this sheet was made: export it again, or send it with stale=apply`,
    column,
    cell,
  );
}

/** What became of a row. */
export function outcomeOf(
  { line, cells, messages: before }: SheetRow,
  outcome: RowOutcome["outcome"],
  product: Entry | null,
  messages: readonly SheetMessage[] = [],
  changes: CellChange[] = [],
): RowOutcome {
  const isbn = [...cells].find(([{ name }]) => name === "isbn13")?.[1];
  return {
    line,
    id: (product?.id as string | undefined) ?? null,
    isbn13: (product ? product.isbn13 as string | null : isbn || null) ?? null,
    outcome,
    changes,
    messages: [...before, ...messages],
  };
}
