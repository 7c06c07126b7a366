import { type Field, isStored } from "../../../schema/fields.ts";
import { ARRAYS, SCALARS } from "../../../schema/product.ts";
import {
  composed,
  joined,
  json,
  names,
  organization,
  parameters,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../connections/sql.ts";
import { nextUpdate } from "../../times.ts";
import { type Creation, isIdOf, type Update, type Write } from "../change/change.ts";
import { mirroredFields } from "./mirrored_fields.ts";
import { assertVersion } from "../documents/external_changes.ts";

/* The row of a product: statements that insert and update it from bodies, and its assigned values. */

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

/** The times that the service assigns, unless a change gives them. */
const ASSIGNED_TIMES = ["created_at", "updated_at"] as const;

/**
 * Inserts the rows of new products. Columns without a field in the body are null. One product
 * writes all columns: its statement has the same text each time.
 */
export function insertProducts(changes: readonly Creation[]): Statement {
  const [first, ...others] = changes as [Creation, ...Creation[]];
  if (others.length > 0 || first.assigned) return insertMany(changes);
  return insertOne(...insertedValues(first, PRODUCT_COLUMNS));
}

const insertOne = composed(
  (...values) =>
    sql`
    insert into products (organization_id, id, product_code, ${productColumns})
    values (${organization}, ${parameters(values)})
  `,
  2 + PRODUCT_COLUMNS.length,
);

/**
 * Inserts rows with the columns that some of them have. It is not prepared: its text depends on
 * their number and their columns.
 */
function insertMany(changes: readonly Creation[]): Statement {
  const columns = PRODUCT_COLUMNS.filter((column) =>
    changes.some(({ body }) => body[column] != null)
  );
  const rows = changes.map((change) => {
    const times = ASSIGNED_TIMES.map((name) => {
      const time = change.assigned?.[name];
      return time ? sql`${time}` : raw("default");
    });
    const values = parameters(insertedValues(change, columns));
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
function insertedValues({ id, body, assigned }: Creation, columns: readonly string[]): unknown[] {
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
export function updateProducts(changes: readonly Update[]): Statement {
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
        from jsonb_populate_record(p, ${mirroredFields(changes)})
      )
    from jsonb_to_recordset(${json(rows)}) r (id uuid, fields jsonb, is_whole boolean)
    where p.organization_id = ${organization} and p.id ${isIdOf(changes)}
      and p.id = r.id${assertVersion}
  `;
}

/** Sets the codes and times of existing products from the changes that have them. */
export function setAssigned(changes: readonly Write[]): Statement[] {
  const given = changes.filter(({ method, assigned }) => method === "update" && assigned);
  if (given.length === 0) return [];
  const rows = given.map(({ id, assigned }) => ({ ...assigned, id }));
  const columns = ["product_code", ...ASSIGNED_TIMES]
    .map((name) => `${name} = coalesce(r.${name}, p.${name})`);
  return [sql`
    update products p
    set ${names(...columns)}
    from jsonb_populate_recordset(null::products, ${json(rows)}) r
    where p.organization_id = ${organization} and p.id ${isIdOf(given)}
      and p.id = r.id
  `];
}
