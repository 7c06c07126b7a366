import {
  COUNTED_FILTERS,
  DEFAULT_SORT,
  type ListQuery,
  NARROWING,
} from "../../schema/list_query.ts";
import {
  isOneOf,
  json,
  names,
  opaque,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { conditions } from "./filters.ts";
import type { Change } from "./row.ts";
import { SORTING } from "./sort.ts";

/*
 * Writes maintain product counts, because counting a million rows costs forty
 * times as much as the list itself. Each session adds to one of 16 slots, so
 * concurrent writers of an organization rarely wait for each other. Triggers
 * maintain the counts for SQL scripts.
 */

/**
 * The key of the stored total: for all products, or for a single value of a single
 * filter. Undefined if the list must be counted.
 */
export function keptCount(
  query: ListQuery,
): { filter: string; value: unknown } | undefined {
  const [narrowing, ...others] = NARROWING.filter((name) => query[name]);
  if (!narrowing) return { filter: "organization_id", value: organization };
  const filter = COUNTED_FILTERS.find((column) => column === narrowing);
  const [value, ...values] = filter && query[filter] || [];
  if (!filter || !value || others.length > 0 || values.length > 0) return;
  return { filter, value };
}

/**
 * The total of a list, as an SQL expression. If the stored total says that this is
 * the last page, the products are counted, so a total that is too small hides none.
 */
export function total(query: ListQuery): Statement {
  const kept = keptCount(query);
  const found = sql`
    from products p
    where p.organization_id = ${organization} ${conditions(query)}
  `;
  if (!kept) return sql`(select count(*) ${found})`;
  const end = BigInt(query.page) * BigInt(query.limit);
  const { key, order } = SORTING[DEFAULT_SORT];
  return sql`(
    select case when kept.total > ${String(end)} then kept.total else (
      select count(*)
      from (
        select ${key} as sort_key, p.id ${found}
        order by ${order}
        limit ${opaque(String(end + 1n), "bigint")}
      ) p
    ) end
    from (
      select coalesce(sum(c.products), 0) as total
      from product_counts c
      where c.organization_id = ${organization}
        and c.filter = ${kept.filter} and c.value = ${kept.value}
    ) kept
  )`;
}

/** The counts that product `p` belongs to, as rows of (filter, value). */
export const counters = names(
  ...["organization_id", ...COUNTED_FILTERS].map((filter) =>
    `('${filter}', p.${filter})`
  ),
);

/**
 * The changes of counts by write `w`, as rows of (filter, value, by). A new or
 * deleted product has `by` and changes all its counts. An update moves one from the
 * old value of each of its `fields` to the new one.
 */
const moves = names(
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
export function countProducts(
  changes: readonly Change[],
  deleted: readonly string[],
): Statement[] {
  const rows: { id: string; by?: number; fields?: object }[] = [
    ...changes.flatMap(({ id, body, isNew }) => {
      if (isNew) return { id, by: 1 };
      const given = COUNTED_FILTERS.filter((column) => column in body);
      if (given.length === 0) return [];
      const fields = Object.fromEntries(given.map((key) => [key, body[key]]));
      return { id, fields };
    }),
    ...deleted.map((id) => ({ id, by: -1 })),
  ];
  if (rows.length === 0) return [];
  return [sql`
    insert into product_counts as c (organization_id, filter, value, slot, products)
    select p.organization_id, f.filter, f.value, pg_backend_pid() % 16, sum(f.by)
    from products p
    join jsonb_to_recordset(${json(rows)}) w (id uuid, by int, fields jsonb)
      on w.id = p.id
    cross join lateral (values ${moves}) f (filter, value, by)
    where p.organization_id = ${organization}
      and p.id ${isOneOf(rows.map(({ id }) => id))} and f.value is not null
    group by p.organization_id, f.filter, f.value
    having sum(f.by) <> 0
    order by f.filter, f.value
    on conflict (organization_id, filter, value, slot)
    do update set products = c.products + excluded.products
  `];
}
