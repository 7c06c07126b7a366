import type { components } from "./generated/openapi_fetch.ts";

/*
 * The calls of `QUICKSTART.md`, of a batch and of the feed, as each generated client makes
 * them. The types of the parameters are those of one generator: the other clients compile
 * only if theirs agree.
 */

type Schemas = components["schemas"];

/** The body of a success, as far as the calls read it. */
interface Body<T> {
  data: T;
}

interface Identified {
  id: string;
}

interface Product extends Identified {
  product_prices: { id: string; retail_price?: number | null | undefined }[];
  product_sales_rights: { sales_rights_type: string }[];
  product_territories: { markets: { name: string | null }[] }[];
}

interface Listed {
  contributors?: unknown[] | undefined;
}

interface Result {
  status: number;
  error?: { code: string } | undefined;
}

interface Change {
  deleted: boolean;
  product?: { title: string } | undefined;
}

/** The calls. They return the bodies of successes, and throw at an error. */
export interface Client {
  createCollection(
    body: Schemas["CreateCollection"],
  ): Promise<Body<Identified>>;
  createContributor(
    body: Schemas["CreateContributor"],
  ): Promise<Body<Identified>>;
  createFormat(body: Schemas["CreateFormat"]): Promise<Body<Identified>>;
  createProgram(
    body: Schemas["CreatePublishingProgram"],
  ): Promise<Body<Identified>>;
  listForms(query: { code: string }): Promise<Body<Identified[]>>;
  listRoles(query: { code: string }): Promise<Body<Identified[]>>;
  createProduct(
    body: Schemas["CreateProduct"],
    idempotencyKey: string,
  ): Promise<Body<Product>>;
  updateProduct(
    id: string,
    body: Schemas["UpdateProduct"],
    etag: string,
  ): Promise<Body<Product>>;
  getProduct(id: string): Promise<Body<Product> & { etag: string }>;
  replaceSalesRights(
    id: string,
    body: Schemas["ReplaceSalesRights"],
  ): Promise<Body<Product>>;
  replaceTerritories(
    id: string,
    body: Schemas["ReplaceTerritories"],
  ): Promise<Body<Product>>;
  addToProgram(program: string, product: string): Promise<void>;
  listProducts(
    query: { search: string; include: ("contributors" | "languages")[] },
  ): Promise<Body<Listed[]> & { meta: { total: number } }>;
  writeProducts(body: Schemas["Batch"]): Promise<Body<Result[]>>;
  listChanges(
    query: { after?: string; limit: number },
  ): Promise<Body<Change[]> & { meta: { cursor: string } }>;
  deleteProduct(id: string): Promise<Body<{ deleted: boolean }>>;
}

/** Makes the calls. Throws if a response is not what it should be. */
export async function quickStart(client: Client): Promise<void> {
  const { cursor } = await follow(client);
  const { data: series } = await client.createCollection({
    name: "Harbour Classics",
    collection_type: "series",
  });
  const { data: program } = await client.createProgram({
    name: "Classics 2027",
  });
  const { data: format } = await client.createFormat({ name: "Paperback" });
  const { data: austen } = await client.createContributor({
    name: "Jane Austen",
  });
  const { data: [paperback] } = await client.listForms({ code: "BC" });
  const { data: [author] } = await client.listRoles({ code: "A01" });

  const title = `Emma ${crypto.randomUUID()}`;
  const { data: { id } } = await client.createProduct({
    title,
    subtitle: "A Novel",
    isbn13: "978-0-14-143958-7",
    isbn10: "0-14-143958-0",
    page_count: 474,
    publication_date: "2027-03-11",
    product_type: "normal",
    cover_image_url: "https://images.example.com/emma.jpg",
    format_id: format.id,
    product_form_id: paperback!.id,
    series_id: series.id,
    license_id: null,
    product_prices: [{
      currency_code: "GBP",
      retail_price: 7.99,
      list_price: "7.99",
      tax_rate: 0,
      is_default: true,
      valid_from: "2027-03-11",
      valid_to: "2028-03-10",
    }],
    packing_configurations: [{ unit_of_measure: "outer" }],
    product_collections: [{ collection_id: series.id }],
    contributors: [{
      contributor_id: austen.id,
      contributor_role_id: author!.id,
    }],
    languages: [{
      language_role: "01",
      language_code: "eng",
      country_code: "GB",
      script_code: null,
    }],
    collateral: [
      {
        collateral_type: "text_content",
        text: "Handsome, clever, and rich.",
        text_type: "03",
        content_audience: ["00"],
      },
      { collateral_type: "cited_content", source_title: "Quarterly Review" },
      {
        collateral_type: "award",
        prize_name: "Harbour Prize",
        prize_country: "GB",
      },
    ],
  }, crypto.randomUUID());

  const { data: sold } = await client.replaceSalesRights(id, [
    {
      sales_rights_type: "01",
      territory: {
        countries_included: ["GB", "IE"],
        regions_excluded: ["GB-NIR"],
      },
    },
    { sales_rights_type: "00", is_rest_of_world: true, territory: null },
  ]);
  equal(
    sold.product_sales_rights.map((right) => right.sales_rights_type),
    ["01", "00"],
  );
  const { data: placed } = await client.replaceTerritories(id, [{
    market_reference: "UK",
    exclusivity: "exclusive",
    markets: [{
      name: "United Kingdom",
      territory: { countries_included: ["GB"] },
    }],
    market_publishing_detail: {
      market_publishing_status: "04",
      market_dates: [{ market_date_role: "01", date: "2027-03-11" }],
    },
    supply_details: [{
      supplier: { supplier_role: "02", supplier_name: "Harbour Distribution" },
      product_availability: "21",
      prices: [{
        price_type: "02",
        price_amount: 7.99,
        currency_code: "GBP",
        taxes: [{ tax_type: "01", tax_rate_code: "Z", tax_amount: "0" }],
      }],
    }],
  }]);
  equal(
    placed.product_territories.map(({ markets }) => markets[0]?.name),
    ["United Kingdom"],
  );
  await client.addToProgram(program.id, id);

  const { etag, data: { product_prices: [price] } } = await client
    .getProduct(id);
  const { data: updated } = await client.updateProduct(id, {
    page_count: 480,
    isbn10: null,
    product_prices: [{ id: price!.id, retail_price: "8.99" }],
  }, etag);
  equal(updated.product_prices[0]?.retail_price, 8.99);
  const { data: listed, meta } = await client.listProducts({
    search: title,
    include: ["contributors", "languages"],
  });
  equal([meta.total, listed[0]?.contributors?.length], [1, 1]);

  const another = `Sanditon ${crypto.randomUUID()}`;
  const { data: results } = await client.writeProducts({
    operations: [
      { method: "create", body: { title: "Persuasion" } },
      {
        method: "upsert",
        match: "isbn13",
        body: { isbn13: "9780141439686", title: another },
      },
      { method: "update", id: crypto.randomUUID(), body: { page_count: 1 } },
      { method: "delete", id, if_match: '"another"' },
    ],
  });
  const outcomes = results.map(({ status, error }) => error?.code ?? status);
  equal(outcomes, [201, outcomes[1], "NOT_FOUND", "PRECONDITION_FAILED"]);

  const { data: unwanted } = await client.createProduct(
    { title: "Lady Susan" },
    crypto.randomUUID(),
  );
  const { data: { deleted } } = await client.deleteProduct(unwanted.id);
  equal(deleted, true);
  const { changes } = await follow(client, cursor);
  for (const change of [title, "Persuasion", another, "deleted"]) {
    if (!changes.includes(change)) {
      throw new Error(`${change} is not in the feed`);
    }
  }
}

async function follow(client: Client, after?: string) {
  const changes: string[] = [];
  let cursor = after;
  for (let isAll = false; !isAll;) {
    const { data, meta } = await client.listChanges(
      cursor === undefined ? { limit: 1000 } : { after: cursor, limit: 1000 },
    );
    changes.push(...data.map(({ product }) => product?.title ?? "deleted"));
    cursor = meta.cursor;
    isAll = data.length === 0;
  }
  return { changes, cursor };
}

function equal(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(`${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
}
