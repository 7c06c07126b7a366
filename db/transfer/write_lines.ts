import {
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { countProducts } from "../products/counts.ts";
import type { Carried } from "./kinds.ts";

/** Locks the records that are there. */
export function lockRecords(
  { table }: Carried,
  ids: readonly string[],
): Statement {
  return sql`
    select
    from ${raw(table)} x
    where x.organization_id = ${organization} and x.id ${among(ids)}
    order by x.id
    for no key update
  `;
}

/** Takes from records that are there what their lines, the text of a JSON array, replace. */
export function clearRecords(
  { table, rows }: Carried,
  ids: readonly string[],
  lines: string,
): Statement[] {
  const remove = (table: string, link: string) =>
    sql`
      delete from ${raw(table)} x
      where x.organization_id = ${organization} and x.${raw(link)} ${among(ids)}
    `;
  return [
    ...table === "products"
      ? [
        forgetAnswers(lines),
        ...countProducts([], ids),
        releaseSeries(ids),
        remove("product_documents", "product_id"),
      ]
      : [],
    ...rows.map(({ table, parents: [record] }) => remove(table, record!.link)),
  ];
}

/** Writes the records with all rows that belong to them. */
export function writeRecords(
  carried: Carried,
  ids: readonly string[],
  lines: string,
): Statement[] {
  const { table, columns } = carried;
  const from = sql`from lines ${raw(table)}`;
  const updates = columns.filter(({ name }) => name !== "id")
    .map(({ name }) => `${name} = excluded.${name}`);
  return [
    // Foreign keys are checked at its end, so its parts need no order.
    sql`
      with lines as materialized (
        select l.line from ${elementsOf(lines)} l (line)
      )
      ${insertsBelow(carried, from)}
      ${insert(carried, from)}
      on conflict (organization_id, id) do update set ${names(...updates)}
    `,
    ...table === "products"
      ? countProducts(ids.map((id) => ({ id, body: {}, isNew: true })), [])
      : [],
  ];
}

/** The inserts into the tables below, each with the elements `line` of the arrays above it. */
function insertsBelow({ table, rows }: Carried, above: Statement): Statement[] {
  return rows.flatMap((row) => {
    const below = raw(row.table);
    const from = sql`
      ${above}
      cross join jsonb_array_elements(${
      raw(table)
    }.line -> '${below}') ${below} (line)
    `;
    return [
      sql`, inserted_${below} as (${insert(row, from)})`,
      ...insertsBelow(row, from),
    ];
  });
}

function insert(
  { table, parents, columns }: Carried,
  from: Statement,
): Statement {
  const links = parents.map(({ link }) => link);
  const ids = parents.map(({ table }) => `(${table}.line ->> 'id')::uuid`);
  const own = columns.map(({ name }) => name);
  const given = columns.map(({ name, fallback }) =>
    fallback ? `coalesce(r.${name}, ${fallback})` : `r.${name}`
  );
  return sql`
    insert into ${raw(table)} (organization_id, ${names(...links, ...own)})
    select ${organization}::uuid, ${names(...ids, ...given)}
    ${from}
    cross join jsonb_populate_record(null::${raw(table)}, ${raw(table)}.line) r
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
      from ${elementsOf(lines)} l (line)
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
function releaseSeries(ids: readonly string[]): Statement {
  return sql`
    update products p
    set series_id = null, updated_at = '-infinity'
    where p.organization_id = ${organization} and p.id ${among(ids)}
  `;
}

function elementsOf(lines: string): Statement {
  return sql`jsonb_array_elements(${lines}::text::jsonb)`;
}

/** Unlike `among` of `sql.ts`, one plan serves any number of ids: `unhurried` asks for it. */
export function among(ids: readonly string[]): Statement {
  return sql`= any(string_to_array(${ids.join()}, ',')::uuid[])`;
}
