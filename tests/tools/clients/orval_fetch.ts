import * as catalogue from "./generated/orval_fetch.ts";
import { quickStart } from "./quick_start.ts";

const headers = { "x-api-key": Deno.env.get("KEY") ?? "" };
const options = { headers };

/** The options with a further header. */
const withHeader = (name: string, value: string) => ({
  headers: { ...headers, [name]: value },
});

/** The body of a success: of a response with one of these statuses. */
async function body<R extends { status: number; data: unknown }>(
  reply: Promise<R>,
): Promise<Extract<R, { status: 200 | 201 }>["data"]> {
  const response = await reply;
  if (response.status < 300) return response.data;
  throw new Error(JSON.stringify(response.data));
}

await quickStart({
  createCollection: (sent) => body(catalogue.createCollection(sent, options)),
  createContributor: (sent) => body(catalogue.createContributor(sent, options)),
  createFormat: (sent) => body(catalogue.createFormat(sent, options)),
  createProgram: (sent) =>
    body(catalogue.createPublishingProgram(sent, options)),
  listForms: (query) => body(catalogue.listProductForms(query, options)),
  listRoles: (query) => body(catalogue.listContributorRoles(query, options)),
  createProduct: (sent, key) =>
    body(catalogue.createProduct(sent, withHeader("Idempotency-Key", key))),
  updateProduct: (id, sent, etag) =>
    body(catalogue.updateProduct(id, sent, withHeader("If-Match", etag))),
  async getProduct(id) {
    const reply = catalogue.getProduct(id, options);
    const etag = (await reply).headers.get("etag")!;
    return { ...await body(reply), etag };
  },
  replaceSalesRights: (id, sent) =>
    body(catalogue.replaceSalesRights(id, sent, options)),
  replaceTerritories: (id, sent) =>
    body(catalogue.replaceTerritories(id, sent, options)),
  async addToProgram(program, product) {
    const { status } = await catalogue.addProgramProduct(
      program,
      product,
      options,
    );
    if (status !== 204) throw new Error(`${status}`);
  },
  listProducts: (query) => body(catalogue.listProducts(query, options)),
  writeProducts: (sent) => body(catalogue.writeProducts(sent, options)),
  listChanges: (query) => body(catalogue.listChanges(query, options)),
  deleteProduct: (id) => body(catalogue.deleteProduct(id, options)),
});
