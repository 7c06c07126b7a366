import { listProducts } from "../db/products/list.ts";
import { getProduct } from "../db/products/read.ts";
import {
  createProduct,
  deleteProduct,
  updateProduct,
} from "../db/products/write.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { Parameters } from "../schema/list_query.ts";
import { CreateProduct, UpdateProduct } from "../schema/product.ts";
import { creating, deleting, found, listing, updating } from "./handlers.ts";

/** `POST /products` (specification, 4.1). */
export const create = creating("/products", CreateProduct, createProduct);

/** `GET /products` (specification, 4.2). */
export const list = listing(Parameters, async ({ database }, query) => {
  const { products, total } = await listProducts(database, query);
  return { entries: products, total };
});

/** `GET /products/{id}` (specification, 4.3). */
export async function get(context: Authenticated): Promise<Answer> {
  const { database, params } = context;
  return found(context, await getProduct(database, params.id!));
}

/** `PUT /products/{id}` (specification, 4.4). */
export const update = updating(UpdateProduct, updateProduct);

/** `DELETE /products/{id}` (specification, 4.5). */
export const remove = deleting(deleteProduct);
