import type { ProductBody } from "../../schema/bodies.ts";
import { type Field, isStored } from "../../schema/fields.ts";
import { ARRAYS, SCALARS } from "../../schema/product.ts";
import {
  composed,
  isOneOf,
  joined,
  json,
  names,
  organization,
  parameters,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { nextUpdate } from "../times.ts";
import {
  assertCount,
  type Change,
  type Creation,
  type Deletion,
  isIdOf,
  lockProducts,
  type Update,
  type Write,
} from "./change.ts";
import { countProducts } from "./counts.ts";
import { deleteVersioned } from "./store.ts";
import { assertStored } from "./store_unauthored.ts";
import { moveAvailabilities, restatedFields } from "./restated.ts";
import { writeArrays } from "./rows.ts";
import { writeSearch } from "./search_index.ts";
import { writeTerms } from "./terms.ts";

/* The statements that write products, in the order in which a transaction sends them. */

/**
 * The statements that create, change and delete products. Each product occurs once. They
 * lock rows in a fixed order, which prevents most deadlocks: products, counts, nested
 * records with the names that they show, and last the formats, whose trigger locks the
 * organization. The pool retries a transaction that deadlocks.
 */
export function writeProducts(
  tx: Transaction,
  changes: readonly Change[],
): Statement[] {
  const { isDistributed } = tx;
  const created = changes.filter((change) => change.method === "create");
  const updated = changes.filter((change) => change.method === "update")
    .filter(({ body }) => Object.keys(body).length > 0);
  const deletions = changes.filter((change) => change.method === "delete");
  const deleted = deletions.map(({ id }) => id);
  const writes = changes.filter((change) => change.method !== "delete");
  const arrays = writeArrays(writes);
  return [
    ...deleted.length > 0 ? [lockProducts(deleted, "update")] : [],
    ...created.length > 0 ? [insertProducts(created)] : [],
    ...countProducts(changes),
    ...endAnnouncements(updated),
    ...moveAvailabilities(updated),
    ...updated.length > 0 ? [updateProducts(tx, updated)] : [],
    ...restoreAssigned(writes),
    ...isDistributed ? recordChanges([...created, ...updated]) : [],
    ...assertForms(writes),
    ...arrays.writes,
    ...writeTerms(writes),
    ...setSeries(writes),
    ...arrays.deletions,
    ...writeSearch(writes),
    ...deleted.length > 0 ? deleteProducts(tx, deletions) : [],
    ...setProductForms(writes),
  ];
}

/**
 * The columns of `products` that a body writes directly. The product form is stored on
 * the format. The series is written after its collection is linked.
 */
const PRODUCT_COLUMNS = Object.entries<Field>({ ...SCALARS, ...ARRAYS })
  .filter(([, field]) =>
    isStored(field) &&
    (field.kind !== "column" ||
      field.body && !field.refers?.heldBy && !field.refers?.isSeries)
  ).map(([name]) => name);

const productColumns = names(...PRODUCT_COLUMNS);

/** Crockford's base 32. */
const CODE_CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** `P-` and eight characters. The column has the same default, but it is slower. */
function newProductCode(): string {
  const characters = Array.from(
    crypto.getRandomValues(new Uint8Array(8)),
    (byte) => CODE_CHARACTERS[byte % 32],
  );
  return `P-${characters.join("")}`;
}

/** The times that the service assigns, unless an import or a restoration knows them. */
const ASSIGNED_TIMES = ["created_at", "updated_at"] as const;

/** Inserts the rows. Columns without a field in the body are null. */
function insertProducts(changes: readonly Creation[]): Statement {
  const [first, ...others] = changes as [Creation, ...Creation[]];
  if (others.length > 0 || first.assigned) return insertRows(changes);
  return insertRow(...valuesOf(first, PRODUCT_COLUMNS));
}

const insertRow = composed(
  (...values) =>
    sql`
    insert into products (organization_id, id, product_code, ${productColumns})
    values (${organization}, ${parameters(values)})
  `,
  2 + PRODUCT_COLUMNS.length,
);

/** Inserts rows with the columns that some of them have. The values of many rows make many texts. */
function insertRows(changes: readonly Creation[]): Statement {
  const columns = PRODUCT_COLUMNS.filter((column) =>
    changes.some(({ body }) => body[column] != null)
  );
  const rows = changes.map((change) => {
    const times = ASSIGNED_TIMES.map((name) => {
      const time = change.assigned?.[name];
      return time ? sql`${time}` : raw("default");
    });
    const values = parameters(valuesOf(change, columns));
    return sql`(${organization}, ${values}, ${joined(times)})`;
  });
  return unprepared(sql`
    insert into products (
      organization_id, ${names("id", "product_code", ...columns, ...ASSIGNED_TIMES)}
    )
    values ${joined(rows)}
  `);
}

/** The id, the product code and the values of these columns. */
function valuesOf({ id, body, assigned }: Creation, columns: readonly string[]): unknown[] {
  const { product_code = newProductCode() } = assigned ?? {};
  const values = columns.map((column) => {
    const value = body[column] ?? null;
    return Array.isArray(value) ? json(value) : value;
  });
  return [id, product_code, ...values];
}

/**
 * Updates the columns in the bodies, and moves `updated_at` by at least a millisecond,
 * so that responses show every change.
 */
function updateProducts(
  tx: Transaction,
  changes: readonly Update[],
): Statement {
  const rows = changes.map(({ id, body, isWhole: is_whole }) => {
    const given = PRODUCT_COLUMNS.filter((column) => column in body);
    const fields = Object.fromEntries(given.map((key) => [key, body[key]]));
    return { id, fields, is_whole };
  });
  return sql`
    update products p
    set
      updated_at = ${nextUpdate("p.updated_at")},
      change_version = change_version(),
      (${productColumns}) = (
        select ${productColumns}
        from jsonb_populate_record(p, ${restatedFields(changes)})
      )
    from jsonb_to_recordset(${json(rows)}) r (id uuid, fields jsonb, is_whole boolean)
    where p.organization_id = ${organization} and p.id ${isIdOf(changes)}
      and p.id = r.id${assertStored(tx)}
  `;
}

/** Sets the codes and times of existing products that an import knows. */
function restoreAssigned(changes: readonly Write[]): Statement[] {
  const restored = changes.filter(({ method, assigned }) => method === "update" && assigned);
  if (restored.length === 0) return [];
  const rows = restored.map(({ id, assigned }) => ({ ...assigned, id }));
  const columns = ["product_code", ...ASSIGNED_TIMES]
    .map((name) => `${name} = coalesce(r.${name}, p.${name})`);
  return [sql`
    update products p
    set ${names(...columns)}
    from jsonb_populate_recordset(null::products, ${json(rows)}) r
    where p.organization_id = ${organization} and p.id ${isIdOf(restored)}
      and p.id = r.id
  `];
}

/** A day of publication replaces the year or month that announced it, unless the body has both. */
function endAnnouncements(changes: readonly Update[]): Statement[] {
  const published = changes.filter(({ body }) =>
    body.publication_date && !("publishing_dates" in body)
  );
  if (published.length === 0) return [];
  return [sql`
    update products p
    set publishing_dates = (
      select jsonb_agg(d.entry order by d.position)
      from jsonb_array_elements(p.publishing_dates) with ordinality d (entry, position)
      where d.entry ->> 'publishing_date_role' <> '01'
    )
    where p.organization_id = ${organization} and p.id ${isIdOf(published)}
      and p.publishing_dates @> ${ANNOUNCEMENT}
  `];
}

const ANNOUNCEMENT = raw(`'[{"publishing_date_role": "01"}]'`);

/** Copies when the products have changed. A distributed database has no trigger that does. */
function recordChanges(changes: readonly Change[]): Statement[] {
  if (changes.length === 0) return [];
  return [sql`
    insert into product_changes (organization_id, product_id, updated_at, change_version)
    select p.organization_id, p.id, p.updated_at, p.change_version
    from products p
    where p.organization_id = ${organization} and p.id ${isIdOf(changes)}
    on conflict (organization_id, product_id) do update set
      updated_at = excluded.updated_at,
      change_version = excluded.change_version
  `];
}

/**
 * Sets the series after new links to collections are inserted, and before old ones are
 * deleted. A foreign key requires the link.
 */
function setSeries(changes: readonly Write[]): Statement[] {
  const given = changes.filter(({ method, body }) =>
    method === "create" ? body.series_id : body.series_id !== undefined
  );
  if (given.length === 0) return [];
  const rows = given.map(({ id, body: { series_id } }) => ({ id, series_id }));
  return [sql`
    update products p
    set series_id = r.series_id
    from jsonb_to_recordset(${json(rows)}) r (id uuid, series_id uuid)
    where p.organization_id = ${organization} and p.id ${isIdOf(given)}
      and p.id = r.id
      -- Another version of the row costs as much as an insert.
      and p.series_id is distinct from r.series_id
  `];
}

/**
 * Violates `rows_found` if a product form does not exist. The foreign key of a format
 * checks only the form that is stored: the last one of several changes.
 */
function assertForms(changes: readonly Write[]): Statement[] {
  // The foreign key of the format checks a single one.
  const isCheckedByKey = (body: ProductBody) => body.format_id && changes.length === 1;
  const forms = changes.flatMap(({ body }) =>
    body.product_form_id && !isCheckedByKey(body) ? [body.product_form_id] : []
  );
  if (forms.length === 0) return [];
  const known = sql`from product_forms x where x.id ${isOneOf(forms)}`;
  return [sql`select where ${assertCount(known, new Set(forms).size)}`];
}

/**
 * Stores the product form on the product's format, and thus for every product of
 * that format. The last change of a format wins. Products without a format are
 * skipped.
 */
function setProductForms(changes: readonly Write[]): Statement[] {
  const given = changes.filter(({ body }) => body.product_form_id !== undefined);
  if (given.length === 0) return [];
  const rows = given.map(({ id, body: { product_form_id } }, position) => ({
    id,
    position,
    product_form_id,
  }));
  return [
    // Waits for SQL that deletes a format and inserts it again: the update sees its new row.
    sql`
      select from formats f
      where f.organization_id = ${organization} and f.id in (
        select p.format_id
        from products p
        where p.organization_id = ${organization} and p.id ${isIdOf(given)}
      )
      order by f.id
      for key share
    `,
    sql`
      update formats f
      set
        product_form_id = last.product_form_id,
        updated_at = ${nextUpdate("f.updated_at")}
      from (
        select distinct on (p.format_id) p.format_id, r.product_form_id
        from products p
        join jsonb_to_recordset(${json(rows)})
          r (id uuid, position int, product_form_id uuid) on r.id = p.id
        where p.organization_id = ${organization} and p.id ${isIdOf(given)}
        order by p.format_id, r.position desc
      ) last
      where f.organization_id = ${organization} and f.id = last.format_id
        and f.product_form_id is distinct from last.product_form_id
    `,
  ];
}

/**
 * Records the deletions of these products, purges up to ten expired records, and last
 * deletes the products. Foreign keys delete their nested records.
 */
function deleteProducts(
  tx: Transaction,
  deletions: readonly Deletion[],
): Statement[] {
  const ids = deletions.map(({ id }) => id);
  return [
    sql`
      insert into product_deletions (organization_id, product_id, isbn13, product_code, record_reference)
      select p.organization_id, p.id, p.isbn13, p.product_code, n.record_reference
      from products p
      left join onix_records n on n.organization_id = ${organization} and n.product_id = p.id
      where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
      on conflict (organization_id, product_id) do update set
        change_version = excluded.change_version,
        deleted_at = excluded.deleted_at,
        isbn13 = excluded.isbn13,
        product_code = excluded.product_code,
        record_reference = excluded.record_reference
    `,
    sql`
      delete from product_deletions x
      where x.organization_id = ${organization} and x.product_id in (
        select old.product_id
        from product_deletions old
        where old.organization_id = ${organization}
          -- A week longer than a cursor lives: a long transaction may have held the feed back.
          and old.deleted_at < now() - interval '37 days'
        order by old.deleted_at
        limit 10
        for update skip locked
      )
    `,
    deleteVersioned(tx, deletions),
  ];
}
