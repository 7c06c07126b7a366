import { FILTERS, type ListQuery, NARROWING } from "../schema/list.ts";
import type { Sql, Statement, Tx } from "./sql.ts";
import { conditions } from "./search.ts";

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

/** Adds the product as it is stored to the counts, or takes it out with `-1`. */
export function countProduct(
  sql: Tx,
  organizationId: string,
  id: string,
  by: 1 | -1,
): Statement {
  return sql`
    insert into product_counts as c (organization_id, filter, value, slot, products)
    select p.organization_id, f.filter, f.value, pg_backend_pid() % 16, ${by}::int
    from products p
    cross join lateral (
      values
        ('organization_id', p.organization_id),
        ('publishing_status_id', p.publishing_status_id),
        ('lifecycle_status_id', p.lifecycle_status_id),
        ('product_availability_id', p.product_availability_id),
        ('format_id', p.format_id)
    ) f (filter, value)
    where p.organization_id = ${organizationId} and p.id = ${id}
      and p.counted and f.value is not null
    order by f.filter, f.value
    on conflict (organization_id, filter, value, slot)
    do update set products = c.products + excluded.products
  `;
}

/** Moves the product from the values it has to those of `fields`, before it is written. */
export function moveCounts(
  sql: Tx,
  organizationId: string,
  id: string,
  fields: object,
): Statement {
  return sql`
    insert into product_counts as c (organization_id, filter, value, slot, products)
    select p.organization_id, f.filter, f.value, pg_backend_pid() % 16, sum(f.by)
    from products p
    cross join lateral jsonb_populate_record(p, ${sql.json(fields)}) n
    cross join lateral (
      values
        ('publishing_status_id', p.publishing_status_id, -1),
        ('publishing_status_id', n.publishing_status_id, 1),
        ('lifecycle_status_id', p.lifecycle_status_id, -1),
        ('lifecycle_status_id', n.lifecycle_status_id, 1),
        ('product_availability_id', p.product_availability_id, -1),
        ('product_availability_id', n.product_availability_id, 1),
        ('format_id', p.format_id, -1),
        ('format_id', n.format_id, 1)
    ) f (filter, value, by)
    where p.organization_id = ${organizationId} and p.id = ${id}
      and p.counted and f.value is not null
    group by p.organization_id, f.filter, f.value
    having sum(f.by) <> 0
    order by f.filter, f.value
    on conflict (organization_id, filter, value, slot)
    do update set products = c.products + excluded.products
  `;
}

/** Counts the products that were loaded by SQL. Writers wait for it, readers do not. */
export async function countLoaded(sql: Tx): Promise<void> {
  await sql`
    with loaded as (
      update products set counted = true
      where not counted
      returning
        organization_id, publishing_status_id, lifecycle_status_id,
        product_availability_id, format_id
    )
    insert into product_counts as c (organization_id, filter, value, slot, products)
    select p.organization_id, f.filter, f.value, 0, count(*)
    from loaded p
    cross join lateral (
      values
        ('organization_id', p.organization_id),
        ('publishing_status_id', p.publishing_status_id),
        ('lifecycle_status_id', p.lifecycle_status_id),
        ('product_availability_id', p.product_availability_id),
        ('format_id', p.format_id)
    ) f (filter, value)
    where f.value is not null
    group by p.organization_id, f.filter, f.value
    order by p.organization_id, f.filter, f.value
    on conflict (organization_id, filter, value, slot)
    do update set products = c.products + excluded.products
  `;
}
