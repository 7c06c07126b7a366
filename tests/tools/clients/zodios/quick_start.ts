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
  createCollection: (body) => client.createCollection(body),
  createContributor: (body) => client.createContributor(body),
  createFormat: (body) => client.createFormat(body),
  createProgram: (body) => client.createPublishingProgram(body),
  listForms: (queries) => client.listProductForms({ queries }),
  listRoles: (queries) => client.listContributorRoles({ queries }),
  createProduct: (body, key) =>
    client.createProduct(body, { headers: { "Idempotency-Key": key } }),
  updateProduct: (id, body, etag) =>
    client.updateProduct(body, {
      params: { id },
      headers: { "If-Match": etag },
    }),
  async getProduct(id) {
    // Zodios returns no headers.
    const { headers: { etag } } = await client.axios.get(`/products/${id}`);
    return { ...await client.getProduct({ params: { id } }), etag };
  },
  replaceSalesRights: (id, body) =>
    client.replaceSalesRights(body, { params: { id } }),
  replaceTerritories: (id, body) =>
    client.replaceTerritories(body, { params: { id } }),
  async addToProgram(id, product_id) {
    await client.addProgramProduct(undefined, { params: { id, product_id } });
  },
  listProducts: (queries) => client.listProducts({ queries }),
  async writeProducts(body) {
    const { data } = await client.writeProducts(body);
    return {
      data: data.map((result) =>
        "error" in result ? result : { status: result.status }
      ),
    };
  },
  listChanges: (queries) => client.listChanges({ queries }),
  deleteProduct: (id) => client.deleteProduct(undefined, { params: { id } }),
});
