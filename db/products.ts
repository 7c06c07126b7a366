import { ApiError } from "../schema/error.ts";
import { FILTERS } from "../schema/list.ts";
import type { ProductBody } from "../schema/product.ts";
import { countProduct, moveCounts } from "./counts.ts";
import type { Operations } from "./database.ts";
import { pipelined, type Tx } from "./sql.ts";
import type { Created } from "./idempotency.ts";
import { nestedWrites } from "./nested.ts";
import {
  COLUMNS,
  fullProducts,
  insertRow,
  lockProduct,
  setColumns,
  setProductForm,
  setSeries,
} from "./product_row.ts";
import { uuidv7 } from "./uuid.ts";

/*
 * Every write locks in one order, so that no two wait for each other in a
 * circle: the product, its counts, what belongs to it, and last the format that
 * it shares with others.
 */

/** The full product as JSON text. Throws `NOT_FOUND` where the organization has none with this id. */
export async function getProduct(
  database: Operations,
  organizationId: string,
  id: string,
): Promise<string> {
  const product = await database.lookUp({
    topic: `products ${organizationId}`,
    ask: id.toLowerCase(),
    answer: async (sql, ids) => {
      const rows = await fullProducts(sql, organizationId, [
        ...new Set(ids),
      ]);
      const found = new Map(rows.map(({ id, product }) => [id, product]));
      return ids.map((id) => found.get(id));
    },
  });
  return product ?? notFound(id);
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
    insertRow(sql, organizationId, id, body),
    countProduct(sql, organizationId, id, 1),
    ...nested.writes,
    ...series_id ? [setSeries(sql, organizationId, id, series_id)] : [],
    ...setProductForm(sql, organizationId, id, product_form_id),
    fullProducts(sql, organizationId, [id]),
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
    ...FILTERS.some((column) => column in fields)
      ? [moveCounts(sql, organizationId, id, pick(body, FILTERS))]
      : [],
    ...Object.keys(body).length > 0
      ? [setColumns(sql, organizationId, id, fields)]
      : [],
    ...nested.writes,
    ...series_id !== undefined
      ? [setSeries(sql, organizationId, id, series_id)]
      : [],
    ...nested.prunes(),
    ...setProductForm(sql, organizationId, id, product_form_id),
    fullProducts(sql, organizationId, [id]),
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
    fullProducts(sql, organizationId, [id]),
  ]);
  return row?.product;
}

function notFound(id: string): never {
  throw new ApiError("NOT_FOUND", `No product with id "${id}"`);
}

function pick(body: ProductBody, columns: readonly (keyof ProductBody)[]) {
  return Object.fromEntries(
    columns.flatMap((column) => column in body ? [[column, body[column]]] : []),
  );
}
