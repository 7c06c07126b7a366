import type { ListQuery } from "../../schema/list_query.ts";
import { opaque, raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { type LongText, readLong } from "../long_text.ts";
import { storeProducts } from "./documents.ts";
import { listedArrays, summaryJson } from "./json.ts";

/** The summary of product `p` from document `d`, or null. */
export const storedSummary = sql`d.summary`;

/** The summary of product `p`, from document `d` or the tables. */
export const currentSummary = sql`coalesce(d.summary, ${summaryJson})`;

/**
 * The fragments that append the arrays in `include` to the summary of product `p`.
 * All combinations of several arrays share a text: a prepared statement for each of
 * them would take 50 MB of every session.
 */
export function includedArrays(include: ListQuery["include"]): Statement[] {
  return listedArrays.filter(({ name }) =>
    include.has(name) || include.size > 1
  )
    .map(({ name, array }) =>
      sql` || case when ${opaque(include.has(name), "boolean")}
        then ',"${raw(name)}":' || ${array}
        else ''
      end`
    );
}

/** A page of products, with the state of their documents. */
export interface ProductsRow extends LongText {
  /** The comma-separated ids of products without a valid document. */
  missing: string | null;
  /** False in a distributed database, which stores no documents. */
  is_storable: boolean;
}

/**
 * Reads a page from documents, likely of this size. If documents are missing, reads the
 * page again with `current`, and stores them in the background.
 */
export async function readProducts<Row extends ProductsRow>(
  database: Queries,
  likely: number,
  stored: (allowed: number) => Statement<Row>,
  current: (allowed: number) => Statement<Row>,
): Promise<Row> {
  const page = await readLong(database, "scan", stored, likely);
  if (!page!.missing) return page!;
  if (page!.is_storable) {
    database.inBackground(...storeProducts(page!.missing.split(",")));
  }
  const complete = await readLong(database, "scan", current, likely);
  return complete!;
}
