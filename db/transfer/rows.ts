import {
  isAnyOf,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { countProducts } from "../products/counts.ts";
import { assertCount } from "../products/change.ts";
import { indexSearch } from "../products/search_index.ts";
import { forgetTerms, indexTerms } from "../products/terms.ts";
import type { TableFormat } from "./format.ts";

/** Throws in a distributed database: Citus checks the keys of `writeRecords` too early. */
export function checkUndistributed({ isDistributed }: Transaction): void {
  if (!isDistributed) return;
  throw new Error(
    "A distributed database takes no imports: import the file before sql/citus.sql distributes the tables, or send POST /products/batch",
  );
}

/** Locks the existing records. */
export function lockRecords(
  { table }: TableFormat,
  ids: readonly string[],
): Statement {
  return sql`
    select
    from ${raw(table)} x
    where x.organization_id = ${organization} and x.id ${isAnyOf(ids)}
    order by x.id
    for no key update
  `;
}

/**
 * Deletes the child rows of existing records, so that `writeRecords` can replace them.
 * `lines` is a JSON array.
 */
export function clearRecords(
  format: TableFormat,
  ids: readonly string[],
  lines: string,
): Statement[] {
  const { table, rows } = format;
  const remove = (table: string, link: string) => {
    const column = raw(`x.${link}`);
    return sql`
      delete from ${raw(table)} x
      where x.organization_id = ${organization} and ${column} ${isAnyOf(ids)}
    `;
  };
  return [
    ...table === "products"
      ? [
        invalidateDocuments(lines),
        ...countProducts([], ids),
        releaseSeries(ids),
        remove("product_documents", "product_id"),
      ]
      : [],
    ...rows.map(({ table, parents: [record] }) => remove(table, record!.link)),
  ];
}

/**
 * Upserts the records and inserts their child rows. `lines` is a JSON array. Violates
 * `rows_found` if SQL or another import has inserted one of the products since they
 * were locked: its counts and rows are unknown.
 */
export function writeRecords(
  format: TableFormat,
  ids: readonly string[],
  lines: string,
): Statement[] {
  const { table, columns } = format;
  const from = sql`from lines ${raw(table)}`;
  const isProduct = table === "products";
  const unwritten = sql`
    from products
    where products.organization_id = ${organization}
      and products.id ${isAnyOf(ids)} and not ${isWrittenNow}
  `;
  const updates = columns.filter(({ name }) => name !== "id")
    .map(({ name }) => `${name} = excluded.${name}`);
  return [
    // Foreign keys are checked at the end of a statement, so its parts need no order.
    // The records are sorted, so that concurrent imports do not deadlock.
    sql`
      with lines as materialized (
        select l.line
        from ${lineElements(lines)} l (line)
        order by l.line ->> 'id'
      )
      ${childInserts(format, from)}
      ${insert(format, from)}
      on conflict (organization_id, id) do update set ${names(...updates)}
      ${isProduct ? sql`where ${isWrittenNow}` : []}
    `,
    ...isProduct
      ? [
        sql`select where ${assertCount(unwritten, 0)}`,
        forgetTerms(isAnyOf(ids)),
        indexTerms(isAnyOf(ids)),
        indexSearch(isAnyOf(ids)),
        ...countProducts(ids.map((id) => ({ id, body: {}, isNew: true })), []),
      ]
      : [],
  ];
}

/** Inserts into the child tables. `parents` is the FROM clause with the parents. */
function childInserts(
  { table, rows }: TableFormat,
  parents: Statement,
): Statement[] {
  return rows.flatMap((row) => {
    const parent = raw(table);
    const child = raw(row.table);
    const from = sql`
      ${parents}
      cross join jsonb_array_elements(${parent}.line -> '${child}') ${child} (line)
    `;
    return [
      sql`, inserted_${child} as (${insert(row, from)})`,
      ...childInserts(row, from),
    ];
  });
}

function insert(
  { table, parents, columns }: TableFormat,
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
 * A document is valid while its `updated_at` is the product's. A line may change a product
 * without changing `updated_at`. Then all documents of the organization become invalid,
 * since a concurrent request may still store the old content.
 */
function invalidateDocuments(lines: string): Statement {
  return sql`
    update organizations o
    set names_version = o.names_version + 1
    where o.id = ${organization} and exists (
      select
      from ${lineElements(lines)} l (line)
      join products p on p.organization_id = ${organization}
        and p.id = (l.line ->> 'id')::uuid
        and p.updated_at = (l.line ->> 'updated_at')::timestamptz
    )
  `;
}

/** The condition that this transaction has inserted the product, or released its series. */
const isWrittenNow = sql`(products.xmin = pg_current_xact_id()::xid)`;

/**
 * Clears the series of products, before their collections are deleted. `updated_at`
 * becomes a placeholder: a product counts as changed only if `updated_at` changes,
 * and the new value may equal the old one.
 */
function releaseSeries(ids: readonly string[]): Statement {
  return sql`
    update products p
    set series_id = null, updated_at = '-infinity'
    where p.organization_id = ${organization} and p.id ${isAnyOf(ids)}
  `;
}

function lineElements(lines: string): Statement {
  return sql`jsonb_array_elements(${lines}::text::jsonb)`;
}
