import type { Sort } from "../../schema/list_query.ts";
import { sql, type Statement } from "../connections/sql.ts";

/**
 * The ORDER BY of a list of products `p`. The id breaks ties, so pages neither
 * repeat nor skip a product. Titles use the Unicode collation, whatever the
 * database's default. Products without a publication date come last in both
 * directions.
 */
export const SORTING: Record<Sort, Statement> = {
  "created_at": sql`p.created_at, p.id`,
  "-created_at": sql`p.created_at desc, p.id desc`,
  "updated_at": sql`p.updated_at, p.id`,
  "-updated_at": sql`p.updated_at desc, p.id desc`,
  "title": sql`p.title collate "und-x-icu", p.id`,
  "-title": sql`p.title collate "und-x-icu" desc, p.id desc`,
  "publication_date": sql`p.publication_date nulls last, p.id`,
  "-publication_date": sql`p.publication_date desc nulls last, p.id desc`,
};
