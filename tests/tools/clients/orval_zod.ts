import type { ZodType } from "zod";
import * as schemas from "./generated/orval_zod.ts";
import { quickStart } from "./quick_start.ts";

const { BASE_URL = "", KEY = "" } = Deno.env.toObject();

/** Sends a valid body, and returns the valid body of the response, with its ETag. */
async function call<T>(
  operation: string,
  response: ZodType<T>,
  [sent, schema]: [sent?: unknown, schema?: ZodType] = [],
  headers: Record<string, string> = {},
): Promise<T & { etag: string }> {
  const [method, path] = operation.split(" ") as [string, string];
  const reply = await fetch(BASE_URL + path, {
    method,
    headers: {
      "x-api-key": KEY,
      "content-type": "application/json",
      ...headers,
    },
    body: schema ? JSON.stringify(schema.parse(sent)) : null,
  });
  const json = await reply.json();
  if (!reply.ok) throw new Error(JSON.stringify(json));
  return { ...response.parse(json), etag: reply.headers.get("etag") ?? "" };
}

await quickStart({
  createCollection: (sent) =>
    call("POST /collections", schemas.CreateCollectionResponse, [
      sent,
      schemas.CreateCollectionBody,
    ]),
  createContributor: (sent) =>
    call("POST /contributors", schemas.CreateContributorResponse, [
      sent,
      schemas.CreateContributorBody,
    ]),
  createFormat: (sent) =>
    call("POST /formats", schemas.CreateFormatResponse, [
      sent,
      schemas.CreateFormatBody,
    ]),
  createProgram: (sent) =>
    call("POST /publishing-programs", schemas.CreatePublishingProgramResponse, [
      sent,
      schemas.CreatePublishingProgramBody,
    ]),
  listForms: ({ code }) =>
    call(`GET /product-forms?code=${code}`, schemas.ListProductFormsResponse),
  listRoles: ({ code }) =>
    call(
      `GET /contributor-roles?code=${code}`,
      schemas.ListContributorRolesResponse,
    ),
  createProduct: (sent, key) =>
    call(
      "POST /products",
      schemas.CreateProductResponse,
      [sent, schemas.CreateProductBody],
      { "idempotency-key": key },
    ),
  updateProduct: (id, sent, etag) =>
    call(
      `PUT /products/${id}`,
      schemas.UpdateProductResponse,
      [sent, schemas.UpdateProductBody],
      { "if-match": etag },
    ),
  getProduct: (id) => call(`GET /products/${id}`, schemas.GetProductResponse),
  replaceSalesRights: (id, sent) =>
    call(
      `PUT /products/${id}/sales-rights`,
      schemas.ReplaceSalesRightsResponse,
      [sent, schemas.ReplaceSalesRightsBody],
    ),
  replaceTerritories: (id, sent) =>
    call(
      `PUT /products/${id}/territories`,
      schemas.ReplaceTerritoriesResponse,
      [sent, schemas.ReplaceTerritoriesBody],
    ),
  async addToProgram(program, product) {
    const { status } = await fetch(
      `${BASE_URL}/publishing-programs/${program}/products/${product}`,
      { method: "PUT", headers: { "x-api-key": KEY } },
    );
    if (status !== 204) throw new Error(`${status}`);
  },
  listProducts({ search, include }) {
    const query = schemas.ListProductsQueryParams.parse({ search, include });
    const text = new URLSearchParams({
      search: query.search ?? "",
      include: (query.include ?? []).join(),
    });
    return call(`GET /products?${text}`, schemas.ListProductsResponse);
  },
  writeProducts: (sent) =>
    call("POST /products/batch", schemas.WriteProductsResponse, [
      sent,
      schemas.WriteProductsBody,
    ]),
  listChanges({ after, limit }) {
    const query = after === undefined ? "" : `&after=${after}`;
    return call(
      `GET /products/changes?limit=${limit}${query}`,
      schemas.ListChangesResponse,
    );
  },
  deleteProduct: (id) =>
    call(`DELETE /products/${id}`, schemas.DeleteProductResponse),
});
