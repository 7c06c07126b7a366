import { client } from "./generated/hey_api/client.gen.ts";
import * as catalogue from "./generated/hey_api/sdk.gen.ts";
import { quickStart } from "./quick_start.ts";

const { BASE_URL: baseUrl = "", KEY = "" } = Deno.env.toObject();
client.setConfig({ baseUrl, auth: KEY, throwOnError: true });
const throwOnError = true;

await quickStart({
  async createCollection(body) {
    const { data } = await catalogue.createCollection({ body, throwOnError });
    return data.data;
  },
  async createContributor(body) {
    const { data } = await catalogue.createContributor({ body, throwOnError });
    return data.data;
  },
  async createFormat(body) {
    const { data } = await catalogue.createFormat({ body, throwOnError });
    return data.data;
  },
  async createProgram(body) {
    const { data } = await catalogue.createPublishingProgram({
      body,
      throwOnError,
    });
    return data.data;
  },
  async listForms(query) {
    const { data } = await catalogue.listProductForms({ query, throwOnError });
    return data.data;
  },
  async listRoles(query) {
    const { data } = await catalogue.listContributorRoles({
      query,
      throwOnError,
    });
    return data.data;
  },
  async createProduct(body, key) {
    const headers = { "Idempotency-Key": key };
    const { data } = await catalogue.createProduct({
      body,
      headers,
      throwOnError,
    });
    return data.data;
  },
  async updateProduct(id, body, etag) {
    const { data } = await catalogue.updateProduct({
      path: { id },
      body,
      headers: { "If-Match": etag },
      throwOnError,
    });
    return { price: data.data.product_prices[0]?.retail_price };
  },
  async getProduct(id) {
    const { data, response } = await catalogue.getProduct({
      path: { id },
      throwOnError,
    });
    const [price] = data.data.product_prices;
    return { etag: response.headers.get("etag")!, price: price?.id };
  },
  async replaceSalesRights(id, body) {
    const { data } = await catalogue.replaceSalesRights({
      path: { id },
      body,
      throwOnError,
    });
    return {
      rights: data.data.product_sales_rights.map((right) =>
        right.sales_rights_type
      ),
    };
  },
  async replaceTerritories(id, body) {
    const { data } = await catalogue.replaceTerritories({
      path: { id },
      body,
      throwOnError,
    });
    return {
      markets: data.data.product_territories.flatMap(({ markets }) =>
        markets.map(({ name }) => name)
      ),
    };
  },
  async addToProgram(id, product_id) {
    await catalogue.addProgramProduct({
      path: { id, product_id },
      throwOnError,
    });
  },
  async listProducts(query) {
    const { data } = await catalogue.listProducts({ query, throwOnError });
    return {
      total: data.meta.total,
      contributors: data.data.map(({ contributors }) =>
        contributors?.length ?? 0
      ),
    };
  },
  async writeProducts(body) {
    const { data } = await catalogue.writeProducts({ body, throwOnError });
    return data.data.map((result) =>
      "error" in result ? result.error.code : result.status
    );
  },
  async listChanges(query) {
    const { data } = await catalogue.listChanges({ query, throwOnError });
    return {
      changes: data.data.map((change) =>
        change.deleted ? "deleted" : change.product.title
      ),
      cursor: data.meta.cursor,
    };
  },
  async deleteProduct(id) {
    const { data } = await catalogue.deleteProduct({
      path: { id },
      throwOnError,
    });
    return { deleted: data.data.deleted };
  },
});
