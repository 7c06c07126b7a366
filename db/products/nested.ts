import { typesOf } from "../../schema/collateral.ts";
import type { ProductBody } from "../../schema/product.ts";
import type { Statement } from "../connections/sql.ts";
import { uuidv7 } from "../uuid.ts";
import {
  appending,
  changing,
  type Entry,
  type Expected,
  pruning,
  upserting,
} from "./nested_rows.ts";

/** What brings the rows of an array in line with its entries, in this order. */
interface Writes {
  /** Changes of stored rows, each of which must be there. */
  changes: Expected[];
  writes: Statement[];
  /** Deletions, last: a series may rest on a link until it is changed. */
  prunes: Statement[];
}

type Sync = (productId: string, entries: Entry[]) => Writes;

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

/** What writes the arrays of the body; an array that is left out is left alone. */
export function nestedWrites(productId: string, body: ProductBody): Writes {
  const given = Object.entries(NESTED).flatMap(([key, sync]) => {
    const entries = body[key as keyof typeof NESTED];
    return entries ? [sync(productId, entries as Entry[])] : [];
  });
  return {
    changes: given.flatMap(({ changes }) => changes),
    writes: given.flatMap(({ writes }) => writes),
    prunes: given.flatMap(({ prunes }) => prunes),
  };
}

/** Entries with an `id` change that row, others are added behind; only `[]` deletes, and all rows. */
function merged(table: string, columns: string[]): Sync {
  const change = changing(table, columns);
  const append = appending(table, ["id", ...columns]);
  const prune = pruning(table, ["id"]);
  return (productId, entries) => {
    const { changed, created } = identified(entries);
    return {
      changes: change(productId, changed),
      writes: append(
        productId,
        created.map((row, position) => ({ ...row, position })),
      ),
      prunes: entries.length === 0 ? [prune(productId, [])] : [],
    };
  };
}

/** The rows become the entries, in their order; those with an `id` change that row. */
function reconciled(table: string, columns: string[]): Sync {
  const change = changing(table, ["position", ...columns]);
  const upsert = upserting(table, ["id"], ["collateral_type", ...columns]);
  const prune = pruning(table, ["id"]);
  return (productId, entries) => {
    const { changed, created } = identified(entries);
    return {
      changes: change(productId, changed),
      writes: upsert(productId, created),
      prunes: [prune(productId, [...changed, ...created])],
    };
  };
}

/** The rows become the entries, in their order; `keys` tell them apart. */
function replaced(table: string, keys: string[], values: string[] = []): Sync {
  const upsert = upserting(table, keys, values);
  const prune = pruning(table, keys);
  return (productId, entries) => {
    const rows = entries.map((entry, position) => ({ ...entry, position }));
    return {
      changes: [],
      writes: upsert(productId, rows),
      prunes: [prune(productId, rows)],
    };
  };
}

/** The rows to change, and the rows to create, which get their ids here. */
function identified(entries: Entry[]): { changed: Entry[]; created: Entry[] } {
  const changed: Entry[] = [];
  const created: Entry[] = [];
  for (const [position, entry] of entries.entries()) {
    if (entry.id) changed.push({ ...entry, position, types: typesOf(entry) });
    else created.push({ ...entry, position, id: uuidv7() });
  }
  return { changed, created };
}
