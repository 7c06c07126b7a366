import type { ListQuery } from "../../../schema/list_query.ts";
import type { ArrayName } from "../../../schema/product.ts";
import { joined, opaque, organization, raw, sql, type Statement } from "../../connections/sql.ts";
import type { Queries } from "../../database.ts";
import type { LongText } from "../../long_text.ts";
import { storeDocuments } from "../documents/external_changes.ts";
import {
  listedRows,
  listedValues,
  summaryJson,
  wholeTerritories,
} from "../documents/product_json.ts";

/*
 * A page of a list or of the feed: it reads the summaries of its products from their documents,
 * or from the tables where one is missing, and appends the arrays that the client has asked for.
 */

/** Where a page reads the summaries of its products. */
export interface SummarySource {
  /** The summary of product `p`, with its document `d`. */
  summary: Statement;
  /** The columns of product `p` that the summary and its validity need: fewer are planned faster. */
  columns: Statement;
}

/** Documents only. The summary of a product without one is null. */
const DOCUMENTS: SummarySource = {
  summary: sql`d.summary`,
  columns: sql`p.id, p.change_version`,
};

/** Documents or the tables. */
const TABLES: SummarySource = {
  summary: sql`coalesce(d.summary, ${summaryJson})`,
  columns: sql`p.*`,
};

/** A page of products, with the state of their documents. */
export interface ProductsRow extends LongText {
  /** The comma-separated ids of products without a valid document. */
  missing: string | null;
}

/**
 * Reads a page from documents. If some are missing, reads it again with the tables, and stores them
 * in the background. `read.ts` explains why these are two statements.
 */
export async function documentsFirst<Row extends ProductsRow>(
  database: Queries,
  read: (source: SummarySource) => Promise<Row>,
): Promise<Row> {
  const page = await read(DOCUMENTS);
  if (!page.missing) return page;
  const missing = page.missing.split(",");
  database.inBackground((tx) => storeDocuments(tx, missing));
  return await read(TABLES);
}

/**
 * The fragments that append the arrays in `include` to the summary of product `p`.
 * All combinations of several arrays share a text: a prepared statement for each of
 * them would take 50 MB of every session.
 */
export function includedArrays(include: ListQuery["include"]): Statement[] {
  // Territories show the supply, so those without it are left out.
  const hasSupply = include.has("supply_details");
  const isPossible = ({ name }: { name: ArrayName }) =>
    (include.has(name) || include.size > 1) &&
    !(hasSupply && name === "product_territories");
  const fragment = ({ name, array }: { name: ArrayName; array: Statement }) =>
    sql`case when ${opaque(include.has(name), "boolean")}
      then ',"${raw(name)}":' || ${array}
      else ''
    end`;
  const values = listedValues.filter(isPossible);
  const hasValues = values.some(({ name }) => include.has(name));
  return [
    ...hasSupply ? [sql` || ',"product_territories":' || ${supply}`] : [],
    ...listedRows.filter(isPossible).map((array) => sql` || ${fragment(array)}`),
    // A page of documents has no columns of products but the id.
    ...values.length === 0 ? [] : [
      sql` || case when ${opaque(hasValues, "boolean")} then (
        select concat(${joined(values.map(fragment))})
        from products x
        where x.organization_id = ${organization} and x.id = p.id
      ) else '' end`,
    ],
  ];
}

/** The full `product_territories` of product `p`, from document `d` or the tables. */
const supply = sql`coalesce(
  (('{' || d.details || '}')::json -> 'product_territories')::text,
  ${wholeTerritories}::text
)`;
