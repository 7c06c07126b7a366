import { listProducts } from "../db/products/list.ts";
import { getProduct } from "../db/products/read.ts";
import {
  createProduct,
  deleteProduct,
  updateProduct,
} from "../db/products/write.ts";
import { readText, validBody } from "../middleware/body.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { etagOf, isNotModified, preconditionOf } from "../middleware/etag.ts";
import { linkHeader } from "../middleware/link.ts";
import { idempotencyKeyOf } from "../middleware/request_headers.ts";
import { success } from "../schema/envelope.ts";
import { Parameters, readQuery } from "../schema/list_query.ts";
import { CreateProduct, UpdateProduct } from "../schema/product.ts";

/** `POST /products` (specification, 4.1). */
export async function create(context: Authenticated): Promise<Answer> {
  const { request, database, services } = context;
  const key = idempotencyKeyOf(request.headers);
  using memory = context.memory.bodies.reserve(context.facts);
  const text = await readText(context, memory);
  const body = validBody(context, text, CreateProduct);

  const { id, answer, isReplayed } = await createProduct(
    database,
    body,
    key === undefined ? undefined : { operation: "POST /products", key, text },
  );

  return {
    status: 201,
    body: success(answer),
    headers: {
      location: `${services.apiPrefix}/products/${id}`,
      etag: etagOf(answer),
      ...isReplayed && { "idempotent-replayed": "true" },
    },
  };
}

/** `GET /products` (specification, 4.2). */
export async function list(
  { request, database }: Authenticated,
): Promise<Answer> {
  const url = new URL(request.url);
  const query = readQuery(Parameters, url.searchParams);
  const { products, total } = await listProducts(database, query);
  const { page, limit } = query;
  const meta = { page, limit, total, total_pages: Math.ceil(total / limit) };
  return {
    status: 200,
    body: success(products, meta),
    headers: linkHeader(url, meta),
  };
}

/** `GET /products/{id}` (specification, 4.3). */
export async function get(
  { request, params, database }: Authenticated,
): Promise<Answer> {
  const product = await getProduct(database, params.id!);
  const etag = etagOf(product);
  if (isNotModified(request.headers, etag)) {
    return { status: 304, headers: { etag } };
  }
  return { status: 200, body: success(product), headers: { etag } };
}

/** `PUT /products/{id}` (specification, 4.4). */
export async function update(context: Authenticated): Promise<Answer> {
  const { request, params, database } = context;
  using memory = context.memory.bodies.reserve(context.facts);
  const text = await readText(context, memory);
  const body = validBody(context, text, UpdateProduct);
  const precondition = preconditionOf(request.headers.get("if-match"));

  const product = await updateProduct(
    database,
    params.id!,
    body,
    precondition,
  );

  return {
    status: 200,
    body: success(product),
    headers: { etag: etagOf(product) },
  };
}

/** `DELETE /products/{id}` (specification, 4.5). */
export async function remove(
  { request, params, database }: Authenticated,
): Promise<Answer> {
  const id = params.id!;
  const precondition = preconditionOf(request.headers.get("if-match"));
  const deleted = await deleteProduct(database, id, precondition);
  return { status: 200, body: success(JSON.stringify({ id, deleted })) };
}
