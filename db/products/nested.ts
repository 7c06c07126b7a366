import { typesOf } from "../../schema/collateral.ts";
import type { ProductBody } from "../../schema/product.ts";
import type { Statement } from "../connections/sql.ts";
import { uuidv7 } from "../uuid.ts";
import {
  appending,
  changing,
  type Entry,
  pruning,
  upserting,
} from "./nested_rows.ts";
import type { Change } from "./row.ts";

/** The statements that write nested arrays, in this order. */
interface Writes {
  writes: Statement[];
  /** Deletions, last: a series may reference a link until `setSeries` changes it. */
  prunes: Statement[];
}

/** The new entries of one array of a product. */
interface ArrayBody extends Pick<Change, "id" | "isNew"> {
  entries: Entry[];
}

type Sync = (arrays: readonly ArrayBody[]) => Writes;

/** The specification's table of nested arrays (4.4), row for row. */
const NESTED = {
  product_prices: merged("product_prices", [
    "currency_code",
    "retail_price",
    "retail_price_inc_tax",
    "list_price",
    "tax_rate",
    "is_default",
    "valid_from",
    "valid_to",
  ]),
  packing_configurations: merged("packing_configurations", ["unit_of_measure"]),
  collateral: reconciled("collateral", [
    "text",
    "text_type",
    "content_audience",
    "text_format",
    "text_author",
    "source_title",
    "language",
    "cited_content_type",
    "citation_note",
    "resource_link",
    "publication_date",
    "prize_name",
    "prize_year",
    "prize_country",
    "prize_code",
    "prize_statement",
    "prize_jury",
  ]),
  product_collections: replaced("product_collections", ["collection_id"]),
  contributors: replaced("product_contributors", [
    "contributor_id",
    "contributor_role_id",
  ]),
  custom_fields: replaced("custom_field_values", ["field_id"], ["field_value"]),
} satisfies { [Key in keyof ProductBody]?: Sync };

/** The statements that write the arrays in the bodies. Absent arrays are unchanged. */
export function nestedWrites(changes: readonly Change[]): Writes {
  const synced = Object.entries(NESTED).map(([key, sync]) =>
    sync(changes.flatMap(({ id, body, isNew }) => {
      const entries = body[key as keyof typeof NESTED];
      return entries ? [{ id, isNew, entries: entries as Entry[] }] : [];
    }))
  );
  return {
    writes: synced.flatMap(({ writes }) => writes),
    prunes: synced.flatMap(({ prunes }) => prunes),
  };
}

/** An entry with an `id` updates that row, others are appended. `[]` deletes all rows. */
function merged(table: string, columns: string[]): Sync {
  const change = changing(table, columns);
  const insert = upserting(table, ["id"], columns);
  const append = appending(table, ["id", ...columns]);
  const prune = pruning(table, ["id"]);
  return (arrays) => {
    const { ids, changed, created } = rowsOf(arrays);
    const emptied = arrays.filter(({ entries }) => entries.length === 0);
    // Appending reads the stored rows. New products have none.
    const existing = existingIds(arrays);
    const isAppended = (row: Entry) =>
      existing.includes(row.product_id as string);
    return {
      writes: [
        ...change(ids, changed),
        ...insert(ids, created.filter((row) => !isAppended(row))),
        ...append(existing, numbered(created.filter(isAppended))),
      ],
      prunes: prune(existingIds(emptied), []),
    };
  };
}

/** The entries replace the rows. An entry with an `id` keeps and updates that row. */
function reconciled(table: string, columns: string[]): Sync {
  const change = changing(table, ["position", ...columns]);
  const upsert = upserting(table, ["id"], ["collateral_type", ...columns]);
  const prune = pruning(table, ["id"]);
  return (arrays) => {
    const { ids, changed, created } = rowsOf(arrays.map(withTypes));
    return {
      writes: [...change(ids, changed), ...upsert(ids, created)],
      prunes: prune(existingIds(arrays), [...changed, ...created]),
    };
  };
}

/** Adds the types of row that each entry can update. */
function withTypes({ entries, ...array }: ArrayBody): ArrayBody {
  return {
    ...array,
    entries: entries.map((entry) => ({ ...entry, types: typesOf(entry) })),
  };
}

/** The entries replace the rows. `keys` identify a row. */
function replaced(table: string, keys: string[], values: string[] = []): Sync {
  const upsert = upserting(table, keys, values);
  const prune = pruning(table, keys);
  return (arrays) => {
    const ids = arrays.map(({ id }) => id);
    const rows = arrays.flatMap(({ id: product_id, entries }) =>
      entries.map((entry, position) => ({ ...entry, product_id, position }))
    );
    return {
      writes: upsert(ids, rows),
      prunes: prune(existingIds(arrays), rows),
    };
  };
}

/** Numbers the new rows of each product from 0. */
function numbered(rows: readonly Entry[]): Entry[] {
  const next = new Map<unknown, number>();
  return rows.map((row) => {
    const position = next.get(row.product_id) ?? 0;
    next.set(row.product_id, position + 1);
    return { ...row, position };
  });
}

/** The ids of existing products, which may have rows to delete. */
function existingIds(arrays: readonly ArrayBody[]): string[] {
  return arrays.filter(({ isNew }) => !isNew).map(({ id }) => id);
}

/** The product ids, the rows to update, and the rows to create with new ids. */
function rowsOf(arrays: readonly ArrayBody[]) {
  const ids: string[] = [];
  const changed: Entry[] = [];
  const created: Entry[] = [];
  for (const { id: product_id, entries } of arrays) {
    ids.push(product_id);
    for (const [position, entry] of entries.entries()) {
      const row = { ...entry, product_id, position };
      if (entry.id) changed.push(row);
      else created.push({ ...row, id: uuidv7() });
    }
  }
  return { ids, changed, created };
}
