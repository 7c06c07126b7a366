import { explained } from "../db/products/violations.ts";
import {
  createProduct,
  createProductOnce,
  deleteProduct,
  getProduct,
  updateProduct,
} from "../db/products/write.ts";
import { shared } from "../db/connections/gathering.ts";
import { listProducts } from "../db/products/list.ts";
import { readText, validBody } from "../middleware/body.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { etagOf, isNotModified, preconditionOf } from "../middleware/etag.ts";
import { idempotencyKeyOf } from "../middleware/request_headers.ts";
import { linkHeader } from "../middleware/link.ts";
import { success } from "../schema/envelope.ts";
import { readListQuery } from "../schema/list_query.ts";
import { CreateProduct, UpdateProduct } from "../schema/product.ts";

/** `POST /products` (specification, 4.1). */
export async function create(context: Authenticated): Promise<Answer> {
  const { request, database, organizationId, services } = context;
  const key = idempotencyKeyOf(request.headers);
  using memory = context.memory.bodies.reserve(context.facts);
  const text = await readText(context, memory);
  const body = await services.telemetry.span(
    "validation",
    () => validBody(context, text, CreateProduct),
  );

  const { id, product, replayed } = await explained(
    database,
    { organizationId, body },
    () =>
      key === undefined
        ? createProduct(database, organizationId, body)
        : createProductOnce(database, organizationId, body, { key, text }),
  );

  return {
    status: 201,
    body: success(product),
    headers: {
      location: `${services.apiPrefix}/products/${id}`,
      etag: etagOf(product),
      ...replayed && { "idempotent-replayed": "true" },
    },
  };
}

/** `GET /products` (specification, 4.2). */
export async function list(
  { request, database, organizationId, services }: Authenticated,
): Promise<Answer> {
  const url = new URL(request.url);
  const query = await services.telemetry.span(
    "validation",
    () => readListQuery(url.searchParams),
  );
  const { products, total } = await database.read(
    shared(
      `list ${organizationId} ${url.search}`,
      (sql) => listProducts(sql, organizationId, query),
    ),
  );
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
  { request, params, database, organizationId }: Authenticated,
): Promise<Answer> {
  const product = await getProduct(database, organizationId, params.id!);
  const etag = etagOf(product);
  if (isNotModified(request.headers, etag)) {
    return { status: 304, headers: { etag } };
  }
  return { status: 200, body: success(product), headers: { etag } };
}

/** `PUT /products/{id}` (specification, 4.4). */
export async function update(context: Authenticated): Promise<Answer> {
  const { request, params, database, organizationId, services } = context;
  const id = params.id!;
  using memory = context.memory.bodies.reserve(context.facts);
  const text = await readText(context, memory);
  const body = await services.telemetry.span(
    "validation",
    () => validBody(context, text, UpdateProduct),
  );
  const check = preconditionOf(request.headers);

  const product = await explained(
    database,
    { organizationId, id, body },
    () => updateProduct(database, organizationId, { id, body, check }),
  );

  return {
    status: 200,
    body: success(product),
    headers: { etag: etagOf(product) },
  };
}

/** `DELETE /products/{id}` (specification, 4.5). */
export async function remove(
  { request, params, database, organizationId }: Authenticated,
): Promise<Answer> {
  const id = params.id!;
  const check = preconditionOf(request.headers);
  const deleted = await deleteProduct(database, organizationId, id, check);
  return { status: 200, body: success(JSON.stringify({ id, deleted })) };
}
