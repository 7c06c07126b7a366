import { typesOf } from "../../schema/collateral.ts";
import type { ProductBody } from "../../schema/product.ts";
import type { Exact, Statement, Tx } from "../connections/sql.ts";
import {
  appending,
  changing,
  type Entry,
  type Product,
  pruning,
  upserting,
} from "./nested_rows.ts";
import { uuidv7 } from "../uuid.ts";

/** What brings the rows of one array in line; links that a series rests on go last, in `prunes`. */
interface Writes {
  writes: (Statement | Exact)[];
  prunes: () => Statement[];
}

type Sync = (product: Product, entries: Entry[]) => Writes;

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

/** The statements that write the arrays of the body; an array left out is left alone. */
export function nestedWrites(
  sql: Tx,
  organizationId: string,
  productId: string,
  body: ProductBody,
): Writes {
  const product = { sql, organizationId, productId };
  const given = Object.entries(NESTED).flatMap(([key, sync]) => {
    const entries = body[key as keyof typeof NESTED];
    return entries ? [sync(product, entries as Entry[])] : [];
  });
  return {
    writes: given.flatMap(({ writes }) => writes),
    prunes: () => given.flatMap(({ prunes }) => prunes()),
  };
}

/** Entries with an `id` change that row, others come behind; only `[]` deletes, and all. */
function merged(table: string, columns: string[]): Sync {
  const change = changing(table, columns);
  const append = appending(table, ["id", ...columns]);
  const prune = pruning(table, ["id"]);
  return (product, entries) => {
    const { changed, created } = identified(entries);
    return {
      writes: [...change(product, changed), ...append(product, created)],
      prunes: () => entries.length === 0 ? [prune(product, [])] : [],
    };
  };
}

/** The rows become the entries, in their order; those with an `id` change that row. */
function reconciled(table: string, columns: string[]): Sync {
  const change = changing(table, ["position", ...columns]);
  const upsert = upserting(table, ["id"], ["collateral_type", ...columns]);
  const prune = pruning(table, ["id"]);
  return (product, entries) => {
    const { changed, created } = identified(entries);
    return {
      writes: [...change(product, changed), ...upsert(product, created)],
      prunes: () => [prune(product, [...changed, ...created])],
    };
  };
}

/** The rows become the entries, in their order; `keys` tell them apart. */
function replaced(table: string, keys: string[], values: string[] = []): Sync {
  const upsert = upserting(table, keys, values);
  const prune = pruning(table, keys);
  return (product, entries) => {
    const rows = entries.map((entry, position) => ({ ...entry, position }));
    return {
      writes: upsert(product, rows),
      prunes: () => [prune(product, rows)],
    };
  };
}

/** Tells the rows to be changed from those to be created, which get their ids here. */
function identified(entries: Entry[]): { changed: Entry[]; created: Entry[] } {
  const changed: Entry[] = [];
  const created: Entry[] = [];
  for (const [position, entry] of entries.entries()) {
    if (entry.id) changed.push({ ...entry, position, types: typesOf(entry) });
    else created.push({ ...entry, position, id: uuidv7() });
  }
  return { changed, created };
}
