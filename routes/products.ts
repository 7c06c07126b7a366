import { listChanges } from "../db/products/feed.ts";
import { listProducts } from "../db/products/list.ts";
import { getProduct } from "../db/products/read.ts";
import { replaceSalesRights } from "../db/products/sales_rights.ts";
import { replaceTerritories } from "../db/products/territories.ts";
import {
  createProduct,
  deleteProduct,
  updateProduct,
} from "../db/products/write.ts";
import type { Answer, Authenticated, Handler } from "../middleware/context.ts";
import { parseJson } from "../middleware/json.ts";
import { success } from "../middleware/respond.ts";
import { ChangesParameters, cursorText } from "../schema/changes_query.ts";
import { Parameters, readQuery } from "../schema/list_query.ts";
import { CreateProduct, UpdateProduct } from "../schema/product.ts";
import { SalesRightsBody, TerritoriesBody } from "../schema/rights_bodies.ts";
import { batch } from "./batches.ts";
import { creating, deleting, found, listing, updating } from "./handlers.ts";

/** The handlers of products (specification, 4), their sales rights and territories. */
export const PRODUCT_HANDLERS = {
  "GET /products": listing(
    Parameters,
    ({ database }, query) => listProducts(database, query),
  ),
  "POST /products": creating("/products", CreateProduct, createProduct),
  "GET /products/changes": changes,
  "POST /products/batch": batch,
  "GET /products/{id}": getting((product) => product),
  "PUT /products/{id}": updating(UpdateProduct, updateProduct),
  "DELETE /products/{id}": deleting(deleteProduct),
  "GET /products/{id}/territories": getting(arrayOf("product_territories")),
  "PUT /products/{id}/territories": updating(
    TerritoriesBody,
    replaceTerritories,
  ),
  "GET /products/{id}/sales-rights": getting(arrayOf("product_sales_rights")),
  "PUT /products/{id}/sales-rights": updating(
    SalesRightsBody,
    replaceSalesRights,
  ),
};

/** Gets `show` of a product. The ETag is the product's, as `If-Match` requires. */
function getting(
  show: (product: string) => string,
): Handler<Authenticated> {
  return async (context) => {
    const { database, params } = context;
    const { product, etag } = await getProduct(database, params.id!);
    return found(context, product, { show, etag });
  };
}

function arrayOf(name: string) {
  return (product: string): string => {
    const { [name]: array } = parseJson(product) as Record<string, unknown>;
    return JSON.stringify(array);
  };
}

async function changes(
  { request, database }: Authenticated,
): Promise<Answer> {
  const { searchParams } = new URL(request.url);
  const query = readQuery(ChangesParameters, searchParams);
  const { changes, cursor, more } = await listChanges(database, query);
  const meta = { cursor: cursorText(cursor), more };
  return { status: 200, body: success(changes, meta) };
}
