import type { Operations } from "../db/database.ts";
import { getProduct } from "../db/products/read.ts";
import { replaceSalesRights } from "../db/products/sales_rights.ts";
import { replaceTerritories } from "../db/products/territories.ts";
import type { Precondition } from "../db/products/statements.ts";
import { readText, validBody } from "../middleware/body.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { etagOf, isNotModified, preconditionOf } from "../middleware/etag.ts";
import { parseJson } from "../middleware/json.ts";
import { success } from "../schema/envelope.ts";
import { SalesRightsBody, TerritoriesBody } from "../schema/rights_bodies.ts";

/** `GET /products/{id}/territories`. */
export const getTerritories = partOf("product_territories");

/** `PUT /products/{id}/territories`. */
export const putTerritories = replacing(
  (context, text) => validBody(context, text, TerritoriesBody),
  replaceTerritories,
);

/** `GET /products/{id}/sales-rights`. */
export const getSalesRights = partOf("product_sales_rights");

/** `PUT /products/{id}/sales-rights`. */
export const putSalesRights = replacing(
  (context, text) => validBody(context, text, SalesRightsBody),
  replaceSalesRights,
);

/** Responds with one array of the product. The ETag is the product's, as `If-Match` requires. */
function partOf(name: "product_territories" | "product_sales_rights") {
  return async (
    { request, params, database }: Authenticated,
  ): Promise<Answer> => {
    const product = await getProduct(database, params.id!);
    const etag = etagOf(product);
    if (isNotModified(request.headers, etag)) {
      return { status: 304, headers: { etag } };
    }
    const { [name]: part } = parseJson(product) as Record<string, unknown>;
    return {
      status: 200,
      body: success(JSON.stringify(part)),
      headers: { etag },
    };
  };
}

/** Replaces one array of the product, and responds with the full product. */
function replacing<Body>(
  read: (context: Authenticated, text: string) => Body,
  replace: (
    database: Operations,
    id: string,
    body: Body,
    precondition?: Precondition,
  ) => Promise<string>,
) {
  return async (context: Authenticated): Promise<Answer> => {
    const { request, params, database } = context;
    using memory = context.memory.bodies.reserve(context.facts);
    const text = await readText(context, memory);
    const body = read(context, text);
    const precondition = preconditionOf(request.headers.get("if-match"));
    const product = await replace(database, params.id!, body, precondition);
    return {
      status: 200,
      body: success(product),
      headers: { etag: etagOf(product) },
    };
  };
}
