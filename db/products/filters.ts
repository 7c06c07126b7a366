import {
  COUNTED_FILTERS,
  EXACT_FILTERS,
  LINK_FILTERS,
  type ListQuery,
  REFERENCE_FILTERS,
} from "../../schema/list_query.ts";
import {
  isOneOf,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { searchConditions } from "./search.ts";

/** The link tables of a product. */
const LINKS = {
  collection_id: "product_collections",
  contributor_id: "product_contributors",
} satisfies Record<typeof LINK_FILTERS[number], string>;

/** The filter conditions on product `p`, each with a leading `and`. */
export function conditions(query: ListQuery): Statement[] {
  const { product_type, search, series_id, updated_since } = query;
  return [
    ...[...COUNTED_FILTERS, ...REFERENCE_FILTERS].flatMap((column) => {
      const ids = query[column];
      return ids ? [sql` and p.${raw(column)} ${isOneOf(ids)}`] : [];
    }),
    ...LINK_FILTERS.flatMap((column) => {
      const ids = query[column];
      return ids ? [linked(column, ids)] : [];
    }),
    // A series is always one of the product's collections, and that table has the index.
    ...series_id ? [linked("collection_id", series_id)] : [],
    ...product_type
      ? [
        sql` and p.product_type = any(string_to_array(${product_type.join()}, ','))`,
      ]
      : [],
    ...EXACT_FILTERS.flatMap((column) =>
      query[column] ? [sql` and p.${raw(column)} = ${query[column]}`] : []
    ),
    ...updated_since ? [sql` and p.updated_at >= ${updated_since}`] : [],
    ...search ? searchConditions(search) : [],
  ];
}

/** The condition that product `p` has one of these links. */
function linked(column: keyof typeof LINKS, ids: string[]): Statement {
  return sql` and p.id in (
    select x.product_id
    from ${raw(LINKS[column])} x
    where x.organization_id = ${organization} and x.${raw(column)} ${
    isOneOf(ids)
  }
  )`;
}
