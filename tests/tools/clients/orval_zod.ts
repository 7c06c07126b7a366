import type { ZodType } from "zod";
import * as schemas from "./generated/orval_zod.ts";
import { quickStart } from "./quick_start.ts";

const { BASE_URL = "", KEY = "" } = Deno.env.toObject();

interface Call<T> {
  /** The schema of the response. */
  response: ZodType<T>;
  /** The body, and its schema. */
  body?: [sent: unknown, schema: ZodType];
  headers?: Record<string, string>;
}

/** Sends a valid body, and returns a valid response. */
async function call<T>(
  operation: string,
  { response, body, headers = {} }: Call<T>,
): Promise<{ body: T; etag: string }> {
  const [method, path] = operation.split(" ") as [string, string];
  const reply = await fetch(BASE_URL + path, {
    method,
    headers: {
      "x-api-key": KEY,
      "content-type": "application/json",
      ...headers,
    },
    body: body ? JSON.stringify(body[1].parse(body[0])) : null,
  });
  const json = await reply.json();
  if (!reply.ok) throw new Error(JSON.stringify(json));
  const etag = reply.headers.get("etag") ?? "";
  return { body: response.parse(json), etag };
}

async function create<T>(
  path: string,
  sent: unknown,
  schema: ZodType,
  response: ZodType<{ data: T }>,
): Promise<T> {
  const { body } = await call(`POST ${path}`, {
    response,
    body: [sent, schema],
  });
  return body.data;
}

await quickStart({
  createCollection: (sent) =>
    create(
      "/collections",
      sent,
      schemas.CreateCollectionBody,
      schemas.CreateCollectionResponse,
    ),
  createContributor: (sent) =>
    create(
      "/contributors",
      sent,
      schemas.CreateContributorBody,
      schemas.CreateContributorResponse,
    ),
  createFormat: (sent) =>
    create(
      "/formats",
      sent,
      schemas.CreateFormatBody,
      schemas.CreateFormatResponse,
    ),
  createProgram: (sent) =>
    create(
      "/publishing-programs",
      sent,
      schemas.CreatePublishingProgramBody,
      schemas.CreatePublishingProgramResponse,
    ),
  async listForms({ code }) {
    const { body } = await call(`GET /product-forms?code=${code}`, {
      response: schemas.ListProductFormsResponse,
    });
    return body.data;
  },
  async listRoles({ code }) {
    const { body } = await call(`GET /contributor-roles?code=${code}`, {
      response: schemas.ListContributorRolesResponse,
    });
    return body.data;
  },
  async createProduct(sent, key) {
    const { body } = await call("POST /products", {
      response: schemas.CreateProductResponse,
      body: [sent, schemas.CreateProductBody],
      headers: { "idempotency-key": key },
    });
    return body.data;
  },
  async updateProduct(id, sent, etag) {
    const { body } = await call(`PUT /products/${id}`, {
      response: schemas.UpdateProductResponse,
      body: [sent, schemas.UpdateProductBody],
      headers: { "if-match": etag },
    });
    return { price: body.data.product_prices[0]?.retail_price };
  },
  async getProduct(id) {
    const { body, etag } = await call(`GET /products/${id}`, {
      response: schemas.GetProductResponse,
    });
    return { etag, price: body.data.product_prices[0]?.id };
  },
  async replaceSalesRights(id, sent) {
    const { body } = await call(`PUT /products/${id}/sales-rights`, {
      response: schemas.ReplaceSalesRightsResponse,
      body: [sent, schemas.ReplaceSalesRightsBody],
    });
    return {
      rights: body.data.product_sales_rights.map((right) =>
        right.sales_rights_type
      ),
    };
  },
  async replaceTerritories(id, sent) {
    const { body } = await call(`PUT /products/${id}/territories`, {
      response: schemas.ReplaceTerritoriesResponse,
      body: [sent, schemas.ReplaceTerritoriesBody],
    });
    return {
      markets: body.data.product_territories.flatMap(({ markets }) =>
        markets.map(({ name }) => name)
      ),
    };
  },
  async addToProgram(program, product) {
    const { status } = await fetch(
      `${BASE_URL}/publishing-programs/${program}/products/${product}`,
      { method: "PUT", headers: { "x-api-key": KEY } },
    );
    if (status !== 204) throw new Error(`${status}`);
  },
  async listProducts({ search, include }) {
    const query = schemas.ListProductsQueryParams.parse({ search, include });
    const text = new URLSearchParams({
      search: query.search ?? "",
      include: (query.include ?? []).join(),
    });
    const { body: { data, meta } } = await call(`GET /products?${text}`, {
      response: schemas.ListProductsResponse,
    });
    return {
      total: meta.total,
      contributors: data.map(({ contributors }) => contributors?.length ?? 0),
    };
  },
  async writeProducts(sent) {
    const { body } = await call("POST /products/batch", {
      response: schemas.WriteProductsResponse,
      body: [sent, schemas.WriteProductsBody],
    });
    return body.data.map((result) =>
      "error" in result ? result.error.code : result.status
    );
  },
  async listChanges({ after, limit }) {
    const query = after === undefined ? "" : `&after=${after}`;
    const { body: { data, meta } } = await call(
      `GET /products/changes?limit=${limit}${query}`,
      { response: schemas.ListChangesResponse },
    );
    return {
      changes: data.map((change) =>
        change.deleted ? "deleted" : change.product.title
      ),
      cursor: meta.cursor,
    };
  },
  async deleteProduct(id) {
    const { body } = await call(`DELETE /products/${id}`, {
      response: schemas.DeleteProductResponse,
    });
    return { deleted: body.data.deleted };
  },
});
