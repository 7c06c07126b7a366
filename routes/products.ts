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
import { success } from "../middleware/respond.ts";
import { ChangesParameters, cursorText } from "../schema/changes_query.ts";
import { ProductParameters } from "../schema/list_query.ts";
import { readQuery } from "../schema/parameters.ts";
import { CreateProduct, UpdateProduct } from "../schema/product.ts";
import { SalesRightsBody, TerritoriesBody } from "../schema/rights_bodies.ts";
import { batch } from "./batch.ts";
import { creating, deleting, found, listing, updating } from "./responses.ts";

/** The last two fields of a product's text. */
const TERRITORIES = ',"product_territories":';
const SALES_RIGHTS = ',"product_sales_rights":';

/** The handlers of products (specification, 4), their sales rights and territories. */
export const PRODUCT_HANDLERS = {
  "GET /products": listing(
    ProductParameters,
    ({ database }, query) => listProducts(database, query),
  ),
  "POST /products": creating("/products", CreateProduct, createProduct),
  "GET /products/changes": changes,
  "POST /products/batch": batch,
  "GET /products/{id}": getting((product) => product),
  "PUT /products/{id}": updating(UpdateProduct, updateProduct),
  "DELETE /products/{id}": deleting(deleteProduct),
  "GET /products/{id}/territories": getting((product) =>
    between(product, TERRITORIES, SALES_RIGHTS)
  ),
  "PUT /products/{id}/territories": updating(
    TerritoriesBody,
    replaceTerritories,
  ),
  "GET /products/{id}/sales-rights": getting((product) =>
    between(product, SALES_RIGHTS, "}")
  ),
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

/**
 * Cuts a value out of a product's text: parsing megabytes would delay other requests.
 * Searches from the end, because the value of a custom field may contain the same text.
 */
function between(product: string, start: string, end: string): string {
  return product.slice(
    product.lastIndexOf(start) + start.length,
    product.lastIndexOf(end),
  );
}

async function changes(
  { request, database }: Authenticated,
): Promise<Answer> {
  const query = readQuery(ChangesParameters, new URL(request.url));
  const { changes, cursor, more } = await listChanges(database, query);
  const meta = { cursor: cursorText(cursor), more };
  return { status: 200, body: success(changes, meta) };
}
