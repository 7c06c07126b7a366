import { listChanges } from "../db/products/changes.ts";
import { getProduct, getProductArray } from "../db/products/read.ts";
import { listProducts } from "../db/products/list.ts";
import {
  createProduct,
  deleteProduct,
  replaceProductArray,
  updateProduct,
} from "../db/products/write.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import type { Admitted } from "../middleware/guard.ts";
import { successText } from "../middleware/respond.ts";
import { type ChangesQuery, cursorText } from "../schema/changes_query.ts";
import type { ListQuery } from "../schema/list_query.ts";
import type { Entry, ProductBody } from "../schema/bodies.ts";
import { type Choice, isChoice } from "../schema/history.ts";
import { unusedForm } from "../schema/ignored.ts";
import type { ArrayName } from "../schema/product.ts";
import { rivalPricesIn } from "../schema/rival_prices.ts";
import { getPast } from "./history.ts";
import { created, current, deletion, page } from "./responses.ts";

/* The handlers of products (specification, 4), their territories and sales rights. */

/** `GET /products`. */
export async function list(
  context: Admitted<ListQuery>,
): Promise<HandlerResponse> {
  return page(context, await listProducts(context.database, context.query));
}

/** `POST /products`. */
export async function create(
  context: Admitted<unknown, ProductBody>,
): Promise<HandlerResponse> {
  const { database, body, keyed } = context;
  const outcome = await createProduct(database, body, keyed);
  noteUnusedForm(context, outcome.response);
  return created(context, outcome);
}

/** `GET /products/{id}`. */
export async function get(
  context: Admitted<Choice>,
): Promise<HandlerResponse> {
  const { database, params, query } = context;
  if (isChoice(query)) return await getPast(context);
  const { product, etag } = await getProduct(database, params.id);
  return current(product, etag);
}

/** `PUT /products/{id}`. */
export async function update(
  context: Admitted<unknown, ProductBody>,
): Promise<HandlerResponse> {
  const { database, params, body, precondition } = context;
  const product = await updateProduct(database, params.id, body, precondition);
  noteUnusedForm(context, product);
  return current(product);
}

/** Adds a product form without effect to the ignored fields: the product has no format that stores it. */
function noteUnusedForm(
  context: Admitted<unknown, ProductBody>,
  product: string,
): void {
  const { body, ignored = [] } = context;
  // A string in JSON cannot contain these quotation marks.
  if (body.product_form_id && product.includes('"format_id":null')) {
    context.ignored = [...ignored, unusedForm(body)];
  }
}

/** `DELETE /products/{id}`. */
export async function remove(
  { database, params: { id }, precondition }: Admitted,
): Promise<HandlerResponse> {
  return deletion(id, await deleteProduct(database, id, precondition));
}

/** `GET /products/changes`. */
export async function follow(
  { database, query }: Admitted<ChangesQuery>,
): Promise<HandlerResponse> {
  const { changes, cursor, more } = await listChanges(database, query);
  const meta = { cursor: cursorText(cursor), more };
  return { status: 200, body: successText(changes, meta) };
}

/** `GET /products/{id}/…`: an array. The ETag is the product's, as `If-Match` requires. */
export function getArray(
  array: ArrayName,
): (context: Admitted) => Promise<HandlerResponse> {
  return async ({ database, params }) => {
    const { text, etag } = await getProductArray(database, params.id, array);
    return current(text, etag);
  };
}

/** `PUT /products/{id}/…`: replaces an array, and returns the full product. */
export function replaceArray(
  array: ArrayName,
): (context: Admitted<unknown, Entry[]>) => Promise<HandlerResponse> {
  return async ({ database, params, body, precondition }) =>
    current(
      await replaceProductArray(database, params.id, array, body, precondition),
    );
}

/** `PUT /products/{id}/territories`. Warns of prices of which nobody knows which one counts. */
export async function replaceTerritories(
  context: Admitted<unknown, Entry[]>,
): Promise<HandlerResponse> {
  context.warnings = rivalPricesIn(context.body);
  return await replaceArray("product_territories")(context);
}
