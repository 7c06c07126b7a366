import { createApiClient } from "../generated/zodios.ts";
import { quickStart } from "../quick_start.ts";

const { BASE_URL = "", KEY = "" } = Deno.env.toObject();
const client = createApiClient(BASE_URL, {
  axiosConfig: {
    headers: { "x-api-key": KEY },
    // By default, axios sends `include[]`, whatever the description says.
    paramsSerializer: { indexes: null },
  },
});

await quickStart({
  createCollection: async (body) => (await client.createCollection(body)).data,
  createContributor: async (body) =>
    (await client.createContributor(body)).data,
  createFormat: async (body) => (await client.createFormat(body)).data,
  createProgram: async (body) =>
    (await client.createPublishingProgram(body)).data,
  listForms: async (queries) =>
    (await client.listProductForms({ queries })).data,
  listRoles: async (queries) =>
    (await client.listContributorRoles({ queries })).data,
  async createProduct(body, key) {
    const headers = { "Idempotency-Key": key };
    return (await client.createProduct(body, { headers })).data;
  },
  async updateProduct(id, body, etag) {
    const { data } = await client.updateProduct(body, {
      params: { id },
      headers: { "If-Match": etag },
    });
    return { price: data.product_prices[0]?.retail_price };
  },
  async getProduct(id) {
    // Zodios returns no headers.
    const response = await client.axios.get(`/products/${id}`);
    const { data } = await client.getProduct({ params: { id } });
    return { etag: response.headers.etag, price: data.product_prices[0]?.id };
  },
  async replaceSalesRights(id, body) {
    const { data } = await client.replaceSalesRights(body, { params: { id } });
    return {
      rights: data.product_sales_rights.map((right) => right.sales_rights_type),
    };
  },
  async replaceTerritories(id, body) {
    const { data } = await client.replaceTerritories(body, { params: { id } });
    return {
      markets: data.product_territories.flatMap(({ markets }) =>
        markets.map(({ name }) => name)
      ),
    };
  },
  async addToProgram(id, product_id) {
    await client.addProgramProduct(undefined, { params: { id, product_id } });
  },
  async listProducts(queries) {
    const { data, meta } = await client.listProducts({ queries });
    return {
      total: meta.total,
      contributors: data.map(({ contributors }) => contributors?.length ?? 0),
    };
  },
  async writeProducts(body) {
    const { data } = await client.writeProducts(body);
    return data.map((result) =>
      result.status === 200 || result.status === 201
        ? result.status
        : result.error.code
    );
  },
  async listChanges(queries) {
    const { data, meta } = await client.listChanges({ queries });
    return {
      changes: data.map((change) =>
        change.deleted ? "deleted" : change.product.title
      ),
      cursor: meta.cursor,
    };
  },
  async deleteProduct(id) {
    const { data } = await client.deleteProduct(undefined, { params: { id } });
    return { deleted: data.deleted };
  },
});
