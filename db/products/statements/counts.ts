import { COUNTED_FILTERS } from "../../../schema/list_query.ts";
import {
  composedForIds,
  type Json,
  json,
  names,
  organization,
  sql,
  type Statement,
} from "../../connections/sql.ts";
import type { Change } from "../change/change.ts";

/*
 * Writes maintain product counts, because counting a million rows costs forty times as
 * much as the list itself. Each session adds to one of 16 shards, so concurrent writers of
 * an organization rarely wait for each other. Triggers maintain the counts for SQL scripts.
 */

/** The counts that product `p` belongs to, as rows of (filter, value). */
export const countedValues = names(
  ...["organization_id", ...COUNTED_FILTERS].map((filter) => `('${filter}', p.${filter})`),
);

/**
 * The changes of counts by write `w`, as rows of (filter, value, by). A new or
 * deleted product has `by` and changes all its counts. An update moves one from the
 * old value of each of its `fields` to the new one.
 */
const countChanges = names(
  `('organization_id', p.organization_id, w.by)`,
  ...COUNTED_FILTERS.flatMap((filter) => [
    `('${filter}', p.${filter}, coalesce(w.by, case when w.fields ? '${filter}' then -1 end))`,
    `('${filter}', (w.fields ->> '${filter}')::uuid, 1)`,
  ]),
);

/**
 * Adds new products to the counts, subtracts products to be deleted, and moves
 * updated products to their new values. Runs after the inserts and before all
 * other writes, because it reads the old values.
 */
export function countProducts(changes: readonly Change[]): Statement[] {
  const rows = changes.flatMap((change) => {
    const { method, id } = change;
    if (method === "create") return { id, by: 1 };
    if (method === "delete") return { id, by: -1 };
    const { body } = change;
    const given = COUNTED_FILTERS.filter((column) => column in body);
    if (given.length === 0) return [];
    const fields = Object.fromEntries(given.map((key) => [key, body[key]]));
    return { id, fields };
  });
  if (rows.length === 0) return [];
  return [addCounts(rows.map(({ id }) => id), json(rows))];
}

const addCounts = composedForIds((isId, rows: Json) =>
  sql`
  insert into product_counts as c (organization_id, filter, value, slot, products)
  select p.organization_id, f.filter, f.value, pg_backend_pid() % 16, sum(f.by)
  from products p
  join jsonb_to_recordset(${rows}) w (id uuid, by int, fields jsonb)
    on w.id = p.id
  cross join lateral (values ${countChanges}) f (filter, value, by)
  where p.organization_id = ${organization} and p.id ${isId} and f.value is not null
  group by p.organization_id, f.filter, f.value
  having sum(f.by) <> 0
  order by f.filter, f.value
  on conflict (organization_id, filter, value, slot)
  do update set products = c.products + excluded.products
`
);
