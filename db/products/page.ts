import { sql, type Statement } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { storeProducts } from "./documents.ts";
import { scalarsJson } from "./scalars_json.ts";

/** The summary of product `p` from document `d`, or null. */
export const storedSummary = sql`d.summary`;

/** The summary of product `p`, from document `d` or the tables. */
export const currentSummary = sql`coalesce(d.summary, ${scalarsJson})`;

/** A page of products, and what it says about their documents. */
export interface PageRow {
  /** The comma-separated ids of products without a valid document. */
  missing: string | null;
  /** False in a distributed database, which stores no documents. */
  is_storable: boolean;
}

/**
 * Reads a page from documents. If documents are missing, reads the page again with
 * `current`, and stores them in the background.
 */
export async function readPage<Row extends PageRow>(
  database: Operations,
  stored: Statement<Row>,
  current: (page: Row) => Statement<Row>,
): Promise<Row> {
  const [page] = await database.scan(stored);
  if (!page!.missing) return page!;
  if (page!.is_storable) {
    database.afterwards(...storeProducts(page!.missing.split(",")));
  }
  const [complete] = await database.scan(current(page!));
  return complete!;
}
