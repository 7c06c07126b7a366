import * as catalogue from "./generated/orval_fetch.ts";
import { quickStart } from "./quick_start.ts";

const headers = { "x-api-key": Deno.env.get("KEY") ?? "" };
const options = { headers };

/** The body of a success: of a response with one of these statuses. */
function body<R extends { status: number; data: unknown }>(
  response: R,
): Extract<R, { status: 200 | 201 }>["data"] {
  if (response.status < 300) return response.data;
  throw new Error(JSON.stringify(response.data));
}

await quickStart({
  createCollection: async (sent) =>
    body(await catalogue.createCollection(sent, options)).data,
  createContributor: async (sent) =>
    body(await catalogue.createContributor(sent, options)).data,
  createFormat: async (sent) =>
    body(await catalogue.createFormat(sent, options)).data,
  createProgram: async (sent) =>
    body(await catalogue.createPublishingProgram(sent, options)).data,
  listForms: async (query) =>
    body(await catalogue.listProductForms(query, options)).data,
  listRoles: async (query) =>
    body(await catalogue.listContributorRoles(query, options)).data,
  createProduct: async (sent, key) =>
    body(
      await catalogue.createProduct(sent, {
        headers: { ...headers, "Idempotency-Key": key },
      }),
    ).data,
  async updateProduct(id, sent, etag) {
    const { data } = body(
      await catalogue.updateProduct(id, sent, {
        headers: { ...headers, "If-Match": etag },
      }),
    );
    return { price: data.product_prices[0]?.retail_price };
  },
  async getProduct(id) {
    const response = await catalogue.getProduct(id, options);
    const [price] = body(response).data.product_prices;
    return { etag: response.headers.get("etag")!, price: price?.id };
  },
  async replaceSalesRights(id, sent) {
    const { data } = body(
      await catalogue.replaceSalesRights(id, sent, options),
    );
    return {
      rights: data.product_sales_rights.map((right) => right.sales_rights_type),
    };
  },
  async replaceTerritories(id, sent) {
    const { data } = body(
      await catalogue.replaceTerritories(id, sent, options),
    );
    return {
      markets: data.product_territories.flatMap(({ markets }) =>
        markets.map(({ name }) => name)
      ),
    };
  },
  async addToProgram(program, product) {
    const { status } = await catalogue.addProgramProduct(
      program,
      product,
      options,
    );
    if (status !== 204) throw new Error(`${status}`);
  },
  async listProducts(query) {
    const { data, meta } = body(await catalogue.listProducts(query, options));
    return {
      total: meta.total,
      contributors: data.map(({ contributors }) => contributors?.length ?? 0),
    };
  },
  async writeProducts(sent) {
    const { data } = body(await catalogue.writeProducts(sent, options));
    return data.map((result) =>
      "error" in result ? result.error.code : result.status
    );
  },
  async listChanges(query) {
    const { data, meta } = body(await catalogue.listChanges(query, options));
    return {
      changes: data.map((change) =>
        change.deleted ? "deleted" : change.product.title
      ),
      cursor: meta.cursor,
    };
  },
  async deleteProduct(id) {
    const { data } = body(await catalogue.deleteProduct(id, options));
    return { deleted: data.deleted };
  },
});
