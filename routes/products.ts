import { listChanges } from "../db/products/feed.ts";
import { listProducts } from "../db/products/list.ts";
import { getProduct, getProductArray } from "../db/products/read.ts";
import { replaceSalesRights } from "../db/products/sales_rights.ts";
import { replaceTerritories } from "../db/products/territories.ts";
import {
  createProduct,
  deleteProduct,
  updateProduct,
} from "../db/products/write.ts";
import { etagOf } from "../middleware/conditional.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import type { Admitted } from "../middleware/guard.ts";
import { success } from "../middleware/respond.ts";
import { type ChangesQuery, cursorText } from "../schema/changes_query.ts";
import type { ListQuery } from "../schema/list_query.ts";
import type { ProductBody } from "../schema/product.ts";
import type {
  SalesRightsBody,
  TerritoriesBody,
} from "../schema/rights_bodies.ts";
import { created, current, deletion, page } from "./responses.ts";

/* The handlers of products (specification, 4), their territories and sales rights. */

export async function list(
  context: Admitted<ListQuery>,
): Promise<HandlerResponse> {
  return page(context, await listProducts(context.database, context.query));
}

export async function create(
  context: Admitted<unknown, ProductBody>,
): Promise<HandlerResponse> {
  const { database, body, keyed } = context;
  return created(context, await createProduct(database, body, keyed));
}

export async function get(
  { database, params }: Admitted,
): Promise<HandlerResponse> {
  const { product, etag } = await getProduct(database, params.id);
  return current(product, etag);
}

export async function update(
  { database, params, body, precondition }: Admitted<unknown, ProductBody>,
): Promise<HandlerResponse> {
  return current(await updateProduct(database, params.id, body, precondition));
}

export async function remove(
  { database, params: { id }, precondition }: Admitted,
): Promise<HandlerResponse> {
  return deletion(id, await deleteProduct(database, id, precondition));
}

export async function follow(
  { database, query }: Admitted<ChangesQuery>,
): Promise<HandlerResponse> {
  const { changes, cursor, more } = await listChanges(database, query);
  const meta = { cursor: cursorText(cursor), more };
  return { status: 200, body: success(changes, meta) };
}

/** Gets an array of a product. The ETag is the product's, as `If-Match` requires. */
export function getArray(
  array: "product_territories" | "product_sales_rights",
): (context: Admitted) => Promise<HandlerResponse> {
  return async ({ database, params }) => {
    const found = await getProductArray(database, params.id, array);
    const etag = "etag" in found ? found.etag : etagOf(found.product);
    return current(found.entries, etag);
  };
}

export async function replaceAllTerritories(
  { database, params, body, precondition }: Admitted<unknown, TerritoriesBody>,
): Promise<HandlerResponse> {
  return current(
    await replaceTerritories(database, params.id, body, precondition),
  );
}

export async function replaceAllSalesRights(
  { database, params, body, precondition }: Admitted<unknown, SalesRightsBody>,
): Promise<HandlerResponse> {
  return current(
    await replaceSalesRights(database, params.id, body, precondition),
  );
}
