import { getProduct, getProductArray } from "../db/products/read.ts";
import { listProducts } from "../db/products/lists/list.ts";
import {
  createProduct,
  deleteProduct,
  type FormOutcome,
  replaceProductArray,
  updateProduct,
} from "../db/products/write.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import { type Admitted, pacedView } from "../middleware/guard.ts";
import type { ListQuery } from "../schema/list_query.ts";
import type { Entry, ProductBody } from "../schema/bodies.ts";
import { unusedForm } from "../schema/ignored.ts";
import type { ArrayName } from "../schema/product.ts";
import { otherBookWarnings } from "../schema/isbn.ts";
import { rivalPricesIn } from "../schema/rival_prices.ts";
import { created, current, deletion, page } from "../middleware/responses.ts";
import { sharedFormWarnings } from "../schema/shared_form.ts";

/* The handlers of products (specification, 4), their territories and sales rights. */

/** `GET /products`. */
export async function list(
  context: Admitted<ListQuery>,
): Promise<HandlerResponse> {
  return page(context, await listProducts(context.database, context.query, pacedView(context)));
}

/** `POST /products`. */
export async function create(
  context: Admitted<unknown, ProductBody>,
): Promise<HandlerResponse> {
  const { database, body, keyed } = context;
  const outcome = await createProduct(database, body, keyed);
  noteWarnings(context, outcome);
  return created(context, outcome);
}

/** `GET /products/{id}`. */
export async function get(
  context: Admitted,
): Promise<HandlerResponse> {
  const { database, params } = context;
  const { product, etag } = await getProduct(database, params.id, pacedView(context));
  return current(product, etag);
}

/** `PUT /products/{id}`. */
export async function update(
  context: Admitted<unknown, ProductBody>,
): Promise<HandlerResponse> {
  const { database, params, body, precondition } = context;
  const updated = await updateProduct(database, params.id, body, precondition);
  noteWarnings(context, updated);
  return current(updated.product);
}

/** Reports that the product form has no effect or changes other products, and that ISBNs differ. */
function noteWarnings(
  context: Admitted<unknown, ProductBody>,
  { sharedForm, isFormUnused }: FormOutcome,
): void {
  const { body, ignored = [] } = context;
  if (isFormUnused) context.ignored = [...ignored, unusedForm(body)];
  context.warnings = [...sharedFormWarnings(sharedForm, body), ...otherBookWarnings(body)];
}

/** `DELETE /products/{id}`. */
export async function remove(
  { database, params: { id }, precondition }: Admitted,
): Promise<HandlerResponse> {
  return deletion(id, await deleteProduct(database, id, precondition));
}

/** `GET /products/{id}/…`: an array. The ETag is the product's, as `If-Match` requires. */
export function getArray(
  array: ArrayName,
): (context: Admitted) => Promise<HandlerResponse> {
  return async (context) => {
    const { database, params } = context;
    const { text, etag } = await getProductArray(database, params.id, array, pacedView(context));
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

/** `PUT /products/{id}/territories`. Warns of prices that compete for the same supply. */
export async function replaceTerritories(
  context: Admitted<unknown, Entry[]>,
): Promise<HandlerResponse> {
  context.warnings = rivalPricesIn(context.body);
  return await replaceArray("product_territories")(context);
}
