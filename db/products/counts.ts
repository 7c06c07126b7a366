import { FILTERS, type ListQuery, NARROWING } from "../../schema/list_query.ts";
import { asked } from "./asked.ts";
import {
  names,
  type Sql,
  type Statement,
  type Tx,
} from "../connections/sql.ts";
import { conditions } from "./filters.ts";

/*
 * How many products there are, counted as they are written: counting a million
 * rows for every list costs forty times what the list does. A backend adds to
 * one of 16 slots, so that writers of one organization seldom meet.
 */

/**
 * Where the number of products that a list finds is kept: that of all of them,
 * and of those with one value in one filter. Nothing where they must be counted.
 */
export function keptCount(
  organizationId: string,
  query: ListQuery,
): { filter: string; value: string } | undefined {
  const [narrowing, ...others] = NARROWING.filter((name) => query[name]);
  if (!narrowing) return { filter: "organization_id", value: organizationId };
  const filter = FILTERS.find((column) => column === narrowing);
  const [value, ...values] = filter && query[filter] || [];
  if (!filter || !value || others.length > 0 || values.length > 0) return;
  return { filter, value };
}

/**
 * The exact number of products that a list finds, as an expression; its first
 * parameter is the organization. What is not kept is counted, and so is an
 * organization with products that were loaded by SQL and are not in the counts
 * yet.
 */
export function total(sql: Sql, organizationId: string, query: ListQuery) {
  const counted = sql`(
    select count(*) from products p
    where p.organization_id = ${organizationId} ${conditions(sql, query)}
  )`;
  const kept = keptCount(organizationId, query);
  if (!kept) return counted;
  return sql`
    case
      when exists (
        select from products p
        where p.organization_id = ${organizationId} and not p.counted
      ) then ${counted}
      else (
        select coalesce(sum(c.products), 0) from product_counts c
        where c.organization_id = $1 and c.filter = ${kept.filter} and c.value = ${kept.value}
      )
    end
  `;
}

/** What product `p` is counted by: as one of all, and by its value in each filter. */
export const counters = names(
  ...["organization_id", ...FILTERS].map((filter) =>
    `('${filter}', p.${filter})`
  ),
);

const filters = names(...FILTERS);

/** What product `p` is no longer counted by once it has its `fields`, and what it is then. */
const moves = names(
  ...FILTERS.flatMap((filter) => [
    `('${filter}', p.${filter}, -1)`,
    `('${filter}', (p.fields ->> '${filter}')::uuid, 1)`,
  ]),
);

/** Adds the products as they are stored to the counts, or takes them out with `-1`. */
export function countProducts(
  sql: Tx,
  organizationId: string,
  ids: readonly string[],
  by: 1 | -1,
): Statement {
  return sql`
    insert into product_counts as c (organization_id, filter, value, slot, products)
    select p.organization_id, f.filter, f.value, pg_backend_pid() % 16, sum(${by}::int)
    from ${asked(sql, organizationId, ids)}
    cross join lateral (
      select *
      from products p
      where p.organization_id = ${organizationId} and p.id = asked.id
      limit 1
    ) p
    cross join lateral (values ${counters(sql)}) f (filter, value)
    where p.counted and f.value is not null
    group by p.organization_id, f.filter, f.value
    order by f.filter, f.value
    on conflict (organization_id, filter, value, slot)
    do update set products = c.products + excluded.products
  `;
}

/**
 * Moves the products from the values they have to those of `fields`, before these
 * are written. No statement where none of them has a filtered field.
 */
export function moveCounts(
  sql: Tx,
  organizationId: string,
  changes: readonly { id: string; fields: object }[],
): Statement[] {
  const fieldsOf = Object.fromEntries(
    changes.filter(({ fields }) => Object.keys(fields).length > 0)
      .map(({ id, fields }) => [id, fields]),
  );
  const ids = Object.keys(fieldsOf);
  if (ids.length === 0) return [];
  return [sql`
    insert into product_counts as c (organization_id, filter, value, slot, products)
    select p.organization_id, f.filter, f.value, pg_backend_pid() % 16, sum(f.by)
    from ${asked(sql, organizationId, ids)}
    cross join lateral (
      select *, ${sql.json(fieldsOf)} -> p.id::text as fields
      from products p
      where p.organization_id = ${organizationId} and p.id = asked.id
      limit 1
    ) p
    cross join lateral (values ${moves(sql)}) f (filter, value, by)
    where p.counted and p.fields ? f.filter and f.value is not null
    group by p.organization_id, f.filter, f.value
    having sum(f.by) <> 0
    order by f.filter, f.value
    on conflict (organization_id, filter, value, slot)
    do update set products = c.products + excluded.products
  `];
}

/** Counts the products that were loaded by SQL. Writers wait for it, readers do not. */
export async function countLoaded(sql: Tx): Promise<void> {
  await sql`
    with loaded as (
      update products set counted = true
      where not counted
      returning organization_id, ${filters(sql)}
    )
    insert into product_counts as c (organization_id, filter, value, slot, products)
    select p.organization_id, f.filter, f.value, 0, count(*)
    from loaded p
    cross join lateral (values ${counters(sql)}) f (filter, value)
    where f.value is not null
    group by p.organization_id, f.filter, f.value
    order by p.organization_id, f.filter, f.value
    on conflict (organization_id, filter, value, slot)
    do update set products = c.products + excluded.products
  `;
}
