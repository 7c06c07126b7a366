import { COLUMNS, type ProductBody } from "../../schema/product.ts";
import {
  isOneOf,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { brokenConstraint } from "../connections/errors.ts";
import { nextUpdate } from "../times.ts";

/** A change of one product. */
export interface Change {
  id: string;
  body: ProductBody;
  /** Whether the change creates the product. */
  isNew: boolean;
}

/** The constraint that a write violates if it does not find every row that it names. */
export const ROWS_FOUND = "rows_found";

/** Whether a write did not find every row that it names. */
export function missesRows(error: unknown): boolean {
  return brokenConstraint(error) === ROWS_FOUND;
}

/** The condition that the rows of `from` are this many. Otherwise, the statement fails. */
export function finds(rows: number, from: Statement): Statement {
  return sql`((select count(*) ${from}) = ${rows})::rows_found`;
}

const columns = names(...COLUMNS);

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

/** Inserts the row. Columns without a field in the body are null. */
export function insertRow({ id, body }: Change): Statement {
  const values = COLUMNS.map((column) => sql`, ${body[column] ?? null}`);
  return sql`
    insert into products (organization_id, id, product_code, ${columns})
    values (${organization}, ${id}, ${newProductCode()}${values})
  `;
}

/**
 * Locks the products until the transaction ends, as an update or a deletion of them does.
 * Changes of one product take turns: each takes this lock before it reads or writes
 * nested rows.
 *
 * Violates `rows_found` if a product does not exist. Otherwise, later statements could
 * find a product that SQL or an import has inserted meanwhile, and count it while others
 * change it.
 */
export function lockProducts(
  ids: readonly string[],
  strength: "update" | "no key update",
): Statement {
  return sql`
    select (count(*) = ${ids.length})::rows_found
    from (
      select
      from products p
      where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
      order by p.id
      for ${raw(strength)}
    ) locked
  `;
}

/**
 * Updates the columns in the bodies, and moves `updated_at` by at least a millisecond,
 * so that answers show every change.
 */
export function updateRows(changes: readonly Change[]): Statement {
  const rows = changes.map(({ id, body }) => {
    const given = COLUMNS.filter((column) => column in body);
    const fields = Object.fromEntries(given.map((key) => [key, body[key]]));
    return { id, fields };
  });
  return sql`
    update products p
    set
      updated_at = ${nextUpdate("p.updated_at")},
      change_version = change_version(),
      (${columns}) = (
        select ${columns}
        from jsonb_populate_record(p, r.fields)
      )
    from jsonb_to_recordset(${json(rows)}) r (id uuid, fields jsonb)
    where p.organization_id = ${organization} and p.id ${idsOf(changes)}
      and p.id = r.id
  `;
}

/**
 * Sets the series after new links to collections are inserted, and before old ones are
 * deleted. A foreign key requires the link.
 */
export function setSeries(changes: readonly Change[]): Statement[] {
  const given = changes.filter(({ body, isNew }) =>
    isNew ? body.series_id : body.series_id !== undefined
  );
  if (given.length === 0) return [];
  const rows = given.map(({ id, body: { series_id } }) => ({ id, series_id }));
  return [sql`
    update products p
    set series_id = r.series_id
    from jsonb_to_recordset(${json(rows)}) r (id uuid, series_id uuid)
    where p.organization_id = ${organization} and p.id ${idsOf(given)}
      and p.id = r.id
  `];
}

/**
 * Violates `rows_found` if a product form does not exist. The foreign key of a format
 * checks only the form that is stored: the last one of several changes.
 */
export function knownForms(changes: readonly Change[]): Statement[] {
  const isStored = (body: ProductBody) =>
    body.format_id && changes.length === 1;
  const forms = changes.flatMap(({ body }) =>
    body.product_form_id && !isStored(body) ? [body.product_form_id] : []
  );
  if (forms.length === 0) return [];
  const known = sql`from product_forms x where x.id ${isOneOf(forms)}`;
  return [sql`select where ${finds(new Set(forms).size, known)}`];
}

/**
 * Stores the product form on the product's format, and thus for every product of
 * that format. The last change of a format wins. Products without a format are
 * skipped.
 */
export function setProductForms(changes: readonly Change[]): Statement[] {
  const given = changes.filter(({ body }) =>
    body.product_form_id !== undefined
  );
  if (given.length === 0) return [];
  const rows = given.map(({ id, body: { product_form_id } }, position) => ({
    id,
    position,
    product_form_id,
  }));
  return [sql`
    update formats f
    set
      product_form_id = last.product_form_id,
      updated_at = ${nextUpdate("f.updated_at")}
    from (
      select distinct on (p.format_id) p.format_id, r.product_form_id
      from products p
      join jsonb_to_recordset(${json(rows)})
        r (id uuid, position int, product_form_id uuid) on r.id = p.id
      where p.organization_id = ${organization} and p.id ${idsOf(given)}
      order by p.format_id, r.position desc
    ) last
    where f.organization_id = ${organization} and f.id = last.format_id
      and f.product_form_id is distinct from last.product_form_id
  `];
}

/** The condition that a column is the id of one of these products. */
export function idsOf(changes: readonly Change[]): Statement {
  return isOneOf(changes.map(({ id }) => id));
}
