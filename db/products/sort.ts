import type { Sort } from "../../schema/list_query.ts";
import { sql, type Statement } from "../connections/sql.ts";

/**
 * The order of a list of products `p`. Products with the same value go by their
 * id in the same direction, so that pages neither repeat nor miss one. Titles go
 * by Unicode's collation, whatever that of the database; products without a
 * publication date come last in both directions.
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
