import type { Sort } from "../schema/list.ts";
import type { Sql } from "./database.ts";

/**
 * The order of a list of products `p`. Those with the same value go by their
 * id, in the same direction, so that pages neither repeat nor miss one. Titles
 * go by Unicode's own collation, whatever that of the database; products
 * without a publication date come last in both directions.
 */
export function ordering(sql: Sql, sort: Sort) {
  switch (sort) {
    case "-created_at":
      return sql`p.created_at desc, p.id desc`;
    case "created_at":
      return sql`p.created_at, p.id`;
    case "-updated_at":
      return sql`p.updated_at desc, p.id desc`;
    case "updated_at":
      return sql`p.updated_at, p.id`;
    case "-title":
      return sql`p.title collate "und-x-icu" desc, p.id desc`;
    case "title":
      return sql`p.title collate "und-x-icu", p.id`;
    case "-publication_date":
      return sql`p.publication_date desc nulls last, p.id desc`;
    case "publication_date":
      return sql`p.publication_date, p.id`;
  }
}
