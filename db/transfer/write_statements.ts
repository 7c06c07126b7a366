import {
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { counters } from "../products/counts.ts";
import type { Carried } from "./columns.ts";

/** What makes records of a kind what their lines say. */
export interface WriteStatements {
  /** Locks the records that are there. */
  lock(ids: readonly string[]): Statement;
  /** Takes from records that are there what their lines, the text of a JSON array, replace. */
  clear(ids: readonly string[], lines: string): Statement[];
  /** Writes the records with all rows that belong to them. */
  write(ids: readonly string[], lines: string): Statement[];
}

/** The statements that write records of a kind. */
export function writeStatements(carried: Carried): WriteStatements {
  const { table, rows } = carried;
  const isProducts = table === "products";
  const from = sql`from lines ${raw(table)}`;
  const inserts = sql`
    ${insertsBelow(carried, from)}
    ${insert(carried, from)}
    ${updating(carried)}
  `;
  return {
    lock: (ids) =>
      sql`
        select
        from ${raw(table)} x
        where x.organization_id = ${organization} and x.id = any(${list(ids)})
        order by x.id
        for no key update
      `,
    clear: (ids, lines) => [
      ...isProducts
        ? [
          forgetAnswers(lines),
          count(ids, -1),
          release(ids),
          remove("product_documents", "product_id", ids),
        ]
        : [],
      ...rows.map(({ table, parents: [parent] }) =>
        remove(table, parent!.link, ids)
      ),
    ],
    write: (ids, lines) => [
      // Foreign keys are checked at its end, so its parts need no order.
      sql`
        with lines as materialized (
          select l.line from ${elements(lines)} l (line)
        )
        ${inserts}
      `,
      ...isProducts ? [count(ids, 1)] : [],
    ],
  };
}

function remove(table: string, link: string, ids: readonly string[]) {
  return sql`
    delete from ${raw(table)} x
    where x.organization_id = ${organization} and x.${raw(link)} = any(${
    list(ids)
  })
  `;
}

function elements(lines: string): Statement {
  return sql`jsonb_array_elements(${lines}::text::jsonb)`;
}

function list(ids: readonly string[]): Statement {
  return sql`string_to_array(${ids.join()}, ',')::uuid[]`;
}

/** The inserts into the tables below, each with the elements `line` of the arrays above it. */
function insertsBelow({ table, rows }: Carried, above: Statement): Statement[] {
  return rows.flatMap((row) => {
    const from = sql`
      ${above}
      cross join jsonb_array_elements(${raw(table)}.line -> '${
      raw(row.table)
    }') ${raw(row.table)} (line)
    `;
    return [
      sql`, inserted_${raw(row.table)} as (${insert(row, from)})`,
      ...insertsBelow(row, from),
    ];
  });
}

function insert(carried: Carried, from: Statement): Statement {
  const { table, parents, columns } = carried;
  const ids = parents.map(({ table }) => `(${table}.line ->> 'id')::uuid`);
  const given = columns.map(({ name, fallback }) =>
    fallback ? `coalesce(r.${name}, ${fallback})` : `r.${name}`
  );
  const columnNames = [
    ...parents.map(({ link }) => link),
    ...columns.map(({ name }) => name),
  ];
  return sql`
    insert into ${raw(table)} (organization_id, ${names(...columnNames)})
    select ${organization}::uuid, ${names(...ids, ...given)}
    ${from}
    cross join jsonb_populate_record(null::${raw(table)}, ${raw(table)}.line) r
  `;
}

function updating({ columns }: Carried): Statement {
  const values = columns.map(({ name }) => name)
    .filter((name) => name !== "id")
    .map((name) => `${name} = excluded.${name}`);
  return sql`
    on conflict (organization_id, id) do update set ${names(...values)}
  `;
}

/**
 * A stored answer is right while it has the product's `updated_at`. Where a line
 * brings other content under the same one, no answer of the organization stays
 * right: another request may be about to store what it has read before.
 */
function forgetAnswers(lines: string): Statement {
  return sql`
    update organizations o
    set names_version = o.names_version + 1
    where o.id = ${organization} and exists (
      select
      from ${elements(lines)} l (line)
      join products p on p.organization_id = ${organization}
        and p.id = (l.line ->> 'id')::uuid
        and p.updated_at = (l.line ->> 'updated_at')::timestamptz
    )
  `;
}

/**
 * Takes the series from products before their collections go. `updated_at` moves
 * away from what it was, since what it is set to then may be the same: only a
 * change of it is a change of the product.
 */
function release(ids: readonly string[]): Statement {
  return sql`
    update products p
    set series_id = null, updated_at = '-infinity'
    where p.organization_id = ${organization} and p.id = any(${list(ids)})
  `;
}

/** Counts the products as they are stored, or discounts them with `-1`. */
function count(ids: readonly string[], by: 1 | -1): Statement {
  return sql`
    insert into product_counts as c (organization_id, filter, value, slot, products)
    select p.organization_id, f.filter, f.value, pg_backend_pid() % 16, count(*) * ${by}::int
    from products p
    cross join lateral (values ${counters}) f (filter, value)
    where p.organization_id = ${organization} and p.id = any(${list(ids)})
      and f.value is not null
    group by p.organization_id, f.filter, f.value
    order by f.filter, f.value
    on conflict (organization_id, filter, value, slot)
    do update set products = c.products + excluded.products
  `;
}
