import type { Sql } from "../connections/sql.ts";
import type { Sort } from "../../schema/list_query.ts";

/**
 * The order of a list of products `p`, or the same read from the back. Those
 * with the same value go by their id, in the same direction, so that pages
 * neither repeat nor miss one. Titles go by Unicode's own collation, whatever
 * that of the database; products without a publication date come last in both
 * directions.
 */
export function ordering(
  sql: Sql,
  sort: Sort,
  read: "from the front" | "from the back" = "from the front",
) {
  const backwards = read === "from the back";
  const direction = sort.startsWith("-") === backwards ? sql`asc` : sql`desc`;
  switch (sort) {
    case "created_at":
    case "-created_at":
      return sql`p.created_at ${direction}, p.id ${direction}`;
    case "updated_at":
    case "-updated_at":
      return sql`p.updated_at ${direction}, p.id ${direction}`;
    case "title":
    case "-title":
      return sql`p.title collate "und-x-icu" ${direction}, p.id ${direction}`;
    case "publication_date":
    case "-publication_date":
      return backwards
        ? sql`p.publication_date ${direction} nulls first, p.id ${direction}`
        : sql`p.publication_date ${direction} nulls last, p.id ${direction}`;
  }
}
