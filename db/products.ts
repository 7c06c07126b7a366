import { ApiError } from "../schema/error.ts";
import type { ProductBody } from "../schema/product.ts";
import { countProduct, moveCounts } from "./counts.ts";
import {
  type Exact,
  pipelined,
  type Sql,
  type Statement,
  type Tx,
} from "./sql.ts";
import type { Created } from "./idempotency.ts";
import { nestedWrites } from "./nested.ts";
import { arrays, core } from "./representation.ts";
import { uuidv7 } from "./uuid.ts";

/** The columns of `products` that a body writes as they are. */
const COLUMNS = [
  "title",
  "subtitle",
  "isbn13",
  "isbn10",
  "page_count",
  "publication_date",
  "format_id",
  "title_id",
  "publishing_status_id",
  "product_availability_id",
  "lifecycle_status_id",
  "license_id",
  "season_id",
  "publisher_id",
  "division_id",
  "imprint_id",
  "product_type",
  "cover_image_url",
] as const;

/** Those of them that lists are counted by. */
const COUNTED = [
  "publishing_status_id",
  "lifecycle_status_id",
  "product_availability_id",
  "format_id",
] as const;

/** The full product as JSON text. Throws `NOT_FOUND` where the organization has none with this id. */
export async function getProduct(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<string> {
  const [row] = await fullProduct(sql, organizationId, id);
  return (row ?? notFound(id)).product;
}

/** Creates the product with everything in its body, and gives it in full. */
export async function createProduct(
  sql: Tx,
  organizationId: string,
  body: ProductBody,
): Promise<Created> {
  const id = uuidv7();
  const { series_id, product_form_id } = body;
  const nested = nestedWrites(sql, organizationId, id, body);
  const [row] = await pipelined([
    sql`
      insert into products ${
      sql({ ...body, organization_id: organizationId, id, counted: true }, [
        "organization_id",
        "id",
        "counted",
        ...COLUMNS,
      ])
    }
    `,
    ...nested.writes,
    ...series_id ? [setSeries(sql, organizationId, id, series_id)] : [],
    ...setProductForm(sql, organizationId, id, product_form_id),
    countProduct(sql, organizationId, id, 1),
    fullProduct(sql, organizationId, id),
  ]);
  return { id, product: row!.product, replayed: false };
}

/**
 * Writes what the body has and nothing else, and gives the product in full.
 * `check` may throw at the product as it was. Throws `NOT_FOUND` where the
 * organization has none with this id.
 *
 * The series is set when its link is there, and links go when no series needs
 * them: that it is one of the collections is checked after each statement.
 */
export async function updateProduct(
  sql: Tx,
  organizationId: string,
  id: string,
  body: ProductBody,
  check?: (product: string | undefined) => void,
): Promise<string> {
  if (check) {
    check(await lockedProduct(sql, organizationId, id) ?? notFound(id));
  }
  const { series_id, product_form_id } = body;
  const fields = pick(body, COLUMNS);
  const nested = nestedWrites(sql, organizationId, id, body);
  const [row] = await pipelined([
    lockProduct(sql, organizationId, id),
    ...COUNTED.some((column) => column in fields)
      ? [moveCounts(sql, organizationId, id, pick(body, COUNTED))]
      : [],
    ...Object.keys(body).length > 0
      ? [setColumns(sql, organizationId, id, fields)]
      : [],
    ...nested.writes,
    ...series_id !== undefined
      ? [setSeries(sql, organizationId, id, series_id)]
      : [],
    ...nested.prunes,
    ...setProductForm(sql, organizationId, id, product_form_id),
    fullProduct(sql, organizationId, id),
  ]);
  return (row ?? notFound(id)).product;
}

/**
 * Deletes the product with everything that belongs to it, and says whether
 * there was one. `check` may throw at the product as it was. A product in a publishing program breaks
 * `publishing_program_products_product`.
 */
export async function deleteProduct(
  sql: Tx,
  organizationId: string,
  id: string,
  check?: (product: string | undefined) => void,
): Promise<boolean> {
  if (check) check(await lockedProduct(sql, organizationId, id));
  const deleted = await pipelined([
    sql`
      select from products p
      where p.organization_id = ${organizationId} and p.id = ${id}
      for update
    `,
    countProduct(sql, organizationId, id, -1),
    sql`
      delete from products p
      where p.organization_id = ${organizationId} and p.id = ${id}
      returning p.id
    `,
  ]);
  return deleted.length > 0;
}

/** The product as it is and stays until the transaction ends, if there is one. */
async function lockedProduct(
  sql: Tx,
  organizationId: string,
  id: string,
): Promise<string | undefined> {
  const [row] = await pipelined([
    lockProduct(sql, organizationId, id),
    fullProduct(sql, organizationId, id),
  ]);
  return row?.product;
}

/**
 * Locks the product until the transaction ends, as the first lock of a change,
 * so that changes of one product take turns and never wait for each other in a
 * circle.
 */
function lockProduct(
  sql: Tx,
  organizationId: string,
  id: string,
): Statement {
  return sql`
    select from products p
    where p.organization_id = ${organizationId} and p.id = ${id}
    for no key update
  `;
}

function fullProduct(
  sql: Sql,
  organizationId: string,
  id: string,
): Statement<{ product: string }> {
  return sql<{ product: string }[]>`
    select '{' || ${core(sql)} || ',' || substr(${
    arrays(sql)
  }::text, 2) as product
    from products p
    where p.organization_id = ${organizationId} and p.id = ${id}
  `;
}

/** A product moves in time by a millisecond at least, so that every change shows. */
function setColumns(
  sql: Tx,
  organizationId: string,
  id: string,
  fields: object,
): Statement {
  return sql`
    update products p
    set
      updated_at = greatest(now(), p.updated_at + interval '1 millisecond'),
      (${sql(COLUMNS)}) = (
        select ${sql(COLUMNS)}
        from jsonb_populate_record(p, ${sql.json(fields)})
      )
    where p.organization_id = ${organizationId} and p.id = ${id}
  `;
}

function setSeries(
  sql: Tx,
  organizationId: string,
  id: string,
  seriesId: string | null,
): Statement {
  return sql`
    update products p
    set series_id = ${seriesId}
    where p.organization_id = ${organizationId} and p.id = ${id}
  `;
}

/**
 * The form of a product is its format's, and so is every other product's on
 * that format. Without a format nothing is written, but it must be a form.
 */
function setProductForm(
  sql: Tx,
  organizationId: string,
  id: string,
  productFormId: string | null | undefined,
): (Statement | Exact)[] {
  if (productFormId === undefined) return [];
  return [
    {
      statement: sql`select from product_forms x where x.id = ${productFormId}`,
      rows: productFormId ? 1 : 0,
    },
    sql`
      update formats f
      set product_form_id = ${productFormId}
      from products p
      where p.organization_id = ${organizationId} and p.id = ${id}
        and f.organization_id = ${organizationId} and f.id = p.format_id
        and f.product_form_id is distinct from ${productFormId}
    `,
  ];
}

function pick(body: ProductBody, columns: readonly (keyof ProductBody)[]) {
  return Object.fromEntries(
    columns.flatMap((column) => column in body ? [[column, body[column]]] : []),
  );
}

function notFound(id: string): never {
  throw new ApiError("NOT_FOUND", `No product with id "${id}"`);
}
