import { client } from "./generated/hey_api/client.gen.ts";
import * as catalogue from "./generated/hey_api/sdk.gen.ts";
import { quickStart } from "./quick_start.ts";

const { BASE_URL: baseUrl = "", KEY = "" } = Deno.env.toObject();
client.setConfig({ baseUrl, auth: KEY, throwOnError: true });
const throwOnError = true;

/** The body of a success. */
async function body<T>(reply: Promise<{ data: T }>): Promise<T> {
  return (await reply).data;
}

await quickStart({
  createCollection: (sent) =>
    body(catalogue.createCollection({ body: sent, throwOnError })),
  createContributor: (sent) =>
    body(catalogue.createContributor({ body: sent, throwOnError })),
  createFormat: (sent) =>
    body(catalogue.createFormat({ body: sent, throwOnError })),
  createProgram: (sent) =>
    body(catalogue.createPublishingProgram({ body: sent, throwOnError })),
  listForms: (query) =>
    body(catalogue.listProductForms({ query, throwOnError })),
  listRoles: (query) =>
    body(catalogue.listContributorRoles({ query, throwOnError })),
  createProduct: (sent, key) =>
    body(catalogue.createProduct({
      body: sent,
      headers: { "Idempotency-Key": key },
      throwOnError,
    })),
  updateProduct: (id, sent, etag) =>
    body(catalogue.updateProduct({
      path: { id },
      body: sent,
      headers: { "If-Match": etag },
      throwOnError,
    })),
  async getProduct(id) {
    const { data, response } = await catalogue.getProduct({
      path: { id },
      throwOnError,
    });
    return { ...data, etag: response.headers.get("etag")! };
  },
  replaceSalesRights: (id, sent) =>
    body(catalogue.replaceSalesRights({
      path: { id },
      body: sent,
      throwOnError,
    })),
  replaceTerritories: (id, sent) =>
    body(catalogue.replaceTerritories({
      path: { id },
      body: sent,
      throwOnError,
    })),
  async addToProgram(id, product_id) {
    await catalogue.addProgramProduct({
      path: { id, product_id },
      throwOnError,
    });
  },
  listProducts: (query) =>
    body(catalogue.listProducts({ query, throwOnError })),
  writeProducts: (sent) =>
    body(catalogue.writeProducts({ body: sent, throwOnError })),
  listChanges: (query) => body(catalogue.listChanges({ query, throwOnError })),
  deleteProduct: (id) =>
    body(catalogue.deleteProduct({ path: { id }, throwOnError })),
});
