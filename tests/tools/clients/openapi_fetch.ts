import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi_fetch.ts";
import { quickStart } from "./quick_start.ts";

const { BASE_URL: baseUrl = "", KEY = "" } = Deno.env.toObject();
const client = createClient<paths>({ baseUrl, headers: { "x-api-key": KEY } });

/** The body of a success. */
async function body<T>(
  reply: Promise<{ data?: T; error?: unknown }>,
): Promise<T> {
  const { data, error } = await reply;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

/** The parameters of a path with an id. */
const at = (id: string) => ({ params: { path: { id } } });

await quickStart({
  createCollection: (sent) => body(client.POST("/collections", { body: sent })),
  createContributor: (sent) =>
    body(client.POST("/contributors", { body: sent })),
  createFormat: (sent) => body(client.POST("/formats", { body: sent })),
  createProgram: (sent) =>
    body(client.POST("/publishing-programs", { body: sent })),
  listForms: (query) =>
    body(client.GET("/product-forms", { params: { query } })),
  listRoles: (query) =>
    body(client.GET("/contributor-roles", { params: { query } })),
  createProduct(sent, key) {
    const params = { header: { "Idempotency-Key": key } };
    return body(client.POST("/products", { params, body: sent }));
  },
  updateProduct(id, sent, etag) {
    const params = { path: { id }, header: { "If-Match": etag } };
    return body(client.PUT("/products/{id}", { params, body: sent }));
  },
  async getProduct(id) {
    const reply = client.GET("/products/{id}", at(id));
    const { response } = await reply;
    return { ...await body(reply), etag: response.headers.get("etag")! };
  },
  replaceSalesRights: (id, sent) =>
    body(client.PUT("/products/{id}/sales-rights", { ...at(id), body: sent })),
  replaceTerritories: (id, sent) =>
    body(client.PUT("/products/{id}/territories", { ...at(id), body: sent })),
  async addToProgram(id, product_id) {
    const { error } = await client.PUT(
      "/publishing-programs/{id}/products/{product_id}",
      { params: { path: { id, product_id } } },
    );
    if (error) throw new Error(error.error.message);
  },
  listProducts: (query) => body(client.GET("/products", { params: { query } })),
  writeProducts: (sent) => body(client.POST("/products/batch", { body: sent })),
  listChanges: (query) =>
    body(client.GET("/products/changes", { params: { query } })),
  deleteProduct: (id) => body(client.DELETE("/products/{id}", at(id))),
});
