import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi_fetch.ts";
import { quickStart } from "./quick_start.ts";

const { BASE_URL: baseUrl = "", KEY = "" } = Deno.env.toObject();
const client = createClient<paths>({ baseUrl, headers: { "x-api-key": KEY } });

/** The body of a success. */
function body<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

await quickStart({
  createCollection: async (sent) =>
    body(await client.POST("/collections", { body: sent })).data,
  createContributor: async (sent) =>
    body(await client.POST("/contributors", { body: sent })).data,
  createFormat: async (sent) =>
    body(await client.POST("/formats", { body: sent })).data,
  createProgram: async (sent) =>
    body(await client.POST("/publishing-programs", { body: sent })).data,
  listForms: async (query) =>
    body(await client.GET("/product-forms", { params: { query } })).data,
  listRoles: async (query) =>
    body(await client.GET("/contributor-roles", { params: { query } })).data,
  createProduct: async (sent, key) => {
    const params = { header: { "Idempotency-Key": key } };
    return body(await client.POST("/products", { params, body: sent })).data;
  },
  async updateProduct(id, sent, etag) {
    const { data } = body(
      await client.PUT("/products/{id}", {
        params: { path: { id }, header: { "If-Match": etag } },
        body: sent,
      }),
    );
    return { price: data.product_prices[0]?.retail_price };
  },
  async getProduct(id) {
    const reply = await client.GET("/products/{id}", {
      params: { path: { id } },
    });
    const [price] = body(reply).data.product_prices;
    return { etag: reply.response.headers.get("etag")!, price: price?.id };
  },
  async replaceSalesRights(id, sent) {
    const { data } = body(
      await client.PUT("/products/{id}/sales-rights", {
        params: { path: { id } },
        body: sent,
      }),
    );
    return {
      rights: data.product_sales_rights.map((right) => right.sales_rights_type),
    };
  },
  async replaceTerritories(id, sent) {
    const { data } = body(
      await client.PUT("/products/{id}/territories", {
        params: { path: { id } },
        body: sent,
      }),
    );
    return {
      markets: data.product_territories.flatMap(({ markets }) =>
        markets.map(({ name }) => name)
      ),
    };
  },
  async addToProgram(id, product_id) {
    const { error } = await client.PUT(
      "/publishing-programs/{id}/products/{product_id}",
      { params: { path: { id, product_id } } },
    );
    if (error) throw new Error(error.error.message);
  },
  async listProducts(query) {
    const { data, meta } = body(
      await client.GET("/products", { params: { query } }),
    );
    return {
      total: meta.total,
      contributors: data.map(({ contributors }) => contributors?.length ?? 0),
    };
  },
  async writeProducts(sent) {
    const { data } = body(
      await client.POST("/products/batch", { body: sent }),
    );
    return data.map((result) =>
      "error" in result ? result.error.code : result.status
    );
  },
  async listChanges(query) {
    const { data, meta } = body(
      await client.GET("/products/changes", { params: { query } }),
    );
    return {
      changes: data.map((change) =>
        change.deleted ? "deleted" : change.product.title
      ),
      cursor: meta.cursor,
    };
  },
  async deleteProduct(id) {
    const { data } = body(
      await client.DELETE("/products/{id}", { params: { path: { id } } }),
    );
    return { deleted: data.deleted };
  },
});
