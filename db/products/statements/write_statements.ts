import { isOneOf, json, organization, raw, sql, type Statement } from "../../connections/sql.ts";
import type { Transaction } from "../../connections/transaction.ts";
import { DELETION_DAYS } from "../../times.ts";
import {
  type Change,
  type Deletion,
  isIdOf,
  lockProducts,
  type Update,
  type Write,
} from "../change/change.ts";
import { countProducts } from "./counts.ts";
import { assertForms, setProductForms } from "./product_forms.ts";
import { insertProducts, setAssigned, updateProducts } from "./product_row.ts";
import { mirrorAvailabilities } from "./mirrored_fields.ts";
import { writeArrays } from "./rows.ts";
import { writeSearch } from "./search_index.ts";
import { deleteVersioned } from "../documents/store.ts";
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
    ...mirrorAvailabilities(updated),
    ...updated.length > 0 ? [updateProducts(updated)] : [],
    ...setAssigned(writes),
    ...isDistributed ? recordChanges([...created, ...updated]) : [],
    ...assertForms(writes),
    ...arrays.writes,
    ...writeTerms(writes),
    ...setSeries(writes),
    ...arrays.deletions,
    ...writeSearch(writes),
    ...deleted.length > 0 ? deleteProducts(tx, deletions) : [],
    ...setProductForms(tx, writes),
  ];
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

/** Copies the times of changes to `product_changes`. A distributed database has no trigger `recorded` for that. */
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

/** The age from which the record of a deletion has expired. */
const deletionAge = raw(`interval '${DELETION_DAYS} days'`);

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
          and old.deleted_at < now() - ${deletionAge}
        order by old.deleted_at
        limit 10
        for update skip locked
      )
    `,
    ...deleteVersioned(tx, deletions),
  ];
}
