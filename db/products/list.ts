import { DEFAULT_SORT, type ListQuery } from "../../schema/list_query.ts";
import { keptCount, total } from "./counts.ts";
import { type Sql, unprepared } from "../connections/sql.ts";
import { ordering } from "./sort.ts";
import { core } from "./scalars_json.ts";
import { salesRights } from "./sales_rights_json.ts";
import { conditions } from "./filters.ts";
import { shallowTerritories } from "./territories_json.ts";

/**
 * One page of the catalogue as a JSON array, and how many products match in all.
 *
 * The page is taken from an index alone, from whichever end is nearer, before
 * anything is joined: a late page of a million costs a hundredth of what it does
 * the other way round. It is one statement, so that page and total agree.
 */
export async function listProducts(
  sql: Sql,
  organizationId: string,
  query: ListQuery,
): Promise<{ products: string; total: number }> {
  const { include, limit, page, sort } = query;
  const offset = String(BigInt(page - 1) * BigInt(limit));
  const embeds = [
    ...include.has("product_territories")
      ? [sql`|| ',"product_territories":' || ${shallowTerritories(sql)}`]
      : [],
    ...include.has("product_sales_rights")
      ? [sql`|| ',"product_sales_rights":' || ${salesRights(sql)}`]
      : [],
    sql`|| '}'`,
  ];
  const statement = sql<{ products: string; total: string }[]>`
    with matching as materialized (
      select ${total(sql, organizationId, query)} as total
    ),
    span as materialized (
      select
        total,
        start * 2 > total as is_late,
        greatest(least(size, total - start), 0) as size,
        start as from_front,
        greatest(total - start - size, 0) as from_back
      from matching, (select ${offset}::bigint as start, ${limit}::bigint as size) asked
    )
    select
      span.total,
      '[' || coalesce((
        select string_agg('{' || ${core(sql)} ${embeds}, ',' order by ${
    ordering(sql, sort)
  })
        from (
          (
            select p.id
            from products p
            where p.organization_id = $1 ${conditions(sql, query)}
            order by ${ordering(sql, sort)}
            limit (select case when is_late then 0 else size end from span)
            offset (select from_front from span)
          )
          union all
          (
            select p.id
            from products p
            where p.organization_id = $1 ${conditions(sql, query)}
            order by ${ordering(sql, sort, "from the back")}
            limit (select case when is_late then size else 0 end from span)
            offset (select from_back from span)
          )
          -- No page is larger. An unknown limit the planner takes for a tenth of the table.
          limit 100
        ) page
        join products p on p.organization_id = $1 and p.id = page.id
      ), '') || ']' as products
    from span
  `;
  // Of the many texts of a list only the plain ones are kept prepared.
  const plain = sort === DEFAULT_SORT && keptCount(organizationId, query);
  const [row] = await (plain ? statement : unprepared(statement));
  return { products: row!.products, total: Number(row!.total) };
}
