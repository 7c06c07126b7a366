import type { Sort } from "../../schema/list_query.ts";
import { sql, type Statement } from "../connections/sql.ts";

/** The order of a list. Its columns are `sort_key` and `id`. */
interface Sorting {
  /** The column `sort_key` of product `p`. */
  key: Statement;
  /** The ORDER BY. The id breaks ties, so pages neither repeat nor skip a product. */
  order: Statement;
}

/** Titles use the Unicode collation, whatever the database's default. */
const title = sql`p.title collate "und-x-icu"`;

const ascending = sql`sort_key, id`;
const descending = sql`sort_key desc, id desc`;

export const SORTING: Record<Sort, Sorting> = {
  "created_at": { key: sql`p.created_at`, order: ascending },
  "-created_at": { key: sql`p.created_at`, order: descending },
  "updated_at": { key: sql`p.updated_at`, order: ascending },
  "-updated_at": { key: sql`p.updated_at`, order: descending },
  "title": { key: title, order: ascending },
  "-title": { key: title, order: descending },
  // Products without a publication date come last in both directions.
  "publication_date": { key: sql`p.publication_date`, order: ascending },
  "-publication_date": {
    key: sql`p.publication_date`,
    order: sql`sort_key desc nulls last, id desc`,
  },
};
