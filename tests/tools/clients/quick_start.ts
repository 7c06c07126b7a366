import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi_fetch.ts";

/*
 * The calls of `QUICKSTART.md`, of a batch and of the feed, with a typed client. Throws if
 * a response is not what it should be.
 */

const { BASE_URL: baseUrl = "", KEY = "" } = Deno.env.toObject();
const client = createClient<paths>({ baseUrl, headers: { "x-api-key": KEY } });

/** The body of a success. */
async function bodyOf<T>(
  reply: Promise<{ data?: T; error?: unknown }>,
): Promise<T> {
  const { data, error } = await reply;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const { cursor } = await follow();
const { data: series } = await bodyOf(client.POST("/collections", {
  body: { name: "Harbour Classics", collection_type: "series" },
}));
const { data: program } = await bodyOf(client.POST("/publishing-programs", {
  body: { name: "Classics 2027" },
}));
const { data: format } = await bodyOf(client.POST("/formats", {
  body: { name: "Paperback" },
}));
const { data: austen } = await bodyOf(client.POST("/contributors", {
  body: { name: "Jane Austen" },
}));
const { data: [paperback] } = await bodyOf(client.GET("/product-forms", {
  params: { query: { code: "BC" } },
}));
const { data: [author] } = await bodyOf(client.GET("/contributor-roles", {
  params: { query: { code: "A01" } },
}));

const title = `Emma ${crypto.randomUUID()}`;
const { data: { id } } = await bodyOf(client.POST("/products", {
  params: { header: { "Idempotency-Key": crypto.randomUUID() } },
  body: {
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
  },
}));
const at = { params: { path: { id } } };

const { data: sold } = await bodyOf(
  client.PUT("/products/{id}/sales-rights", {
    ...at,
    body: [
      {
        sales_rights_type: "01",
        territory: {
          countries_included: ["GB", "IE"],
          regions_excluded: ["GB-NIR"],
        },
      },
      { sales_rights_type: "00", is_rest_of_world: true, territory: null },
    ],
  }),
);
equal(
  sold.product_sales_rights.map((right) => right.sales_rights_type),
  ["01", "00"],
);
const { data: placed } = await bodyOf(
  client.PUT("/products/{id}/territories", {
    ...at,
    body: [{
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
        supplier: {
          supplier_role: "02",
          supplier_name: "Harbour Distribution",
        },
        product_availability: "21",
        prices: [{
          price_type: "02",
          price_amount: 7.99,
          currency_code: "GBP",
          taxes: [{ tax_type: "01", tax_rate_code: "Z", tax_amount: "0" }],
        }],
      }],
    }],
  }),
);
equal(
  placed.product_territories.map(({ markets }) => markets[0]?.name),
  ["United Kingdom"],
);
const { error } = await client.PUT(
  "/publishing-programs/{id}/products/{product_id}",
  { params: { path: { id: program.id, product_id: id } } },
);
equal(error, undefined);

const reply = client.GET("/products/{id}", at);
const { data: { product_prices: [price] } } = await bodyOf(reply);
const etag = (await reply).response.headers.get("etag")!;
const { data: updated } = await bodyOf(client.PUT("/products/{id}", {
  params: { path: { id }, header: { "If-Match": etag } },
  body: {
    page_count: 480,
    isbn10: null,
    product_prices: [{ id: price!.id, retail_price: "8.99" }],
  },
}));
equal(updated.product_prices[0]?.retail_price, 8.99);
const { data: listed, meta } = await bodyOf(client.GET("/products", {
  params: { query: { search: title, include: ["contributors", "languages"] } },
}));
equal([meta.total, listed[0]?.contributors?.length], [1, 1]);

const another = `Sanditon ${crypto.randomUUID()}`;
const { data: results } = await bodyOf(client.POST("/products/batch", {
  body: {
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
  },
}));
const outcomes = results.map((result) =>
  "error" in result ? result.error.code : result.status
);
equal(outcomes, [201, outcomes[1], "NOT_FOUND", "PRECONDITION_FAILED"]);

const { data: unwanted } = await bodyOf(client.POST("/products", {
  body: { title: "Lady Susan" },
}));
const { data: { deleted } } = await bodyOf(client.DELETE("/products/{id}", {
  params: { path: { id: unwanted.id } },
}));
equal(deleted, true);
const { changes } = await follow(cursor);
for (const change of [title, "Persuasion", another, "deleted"]) {
  if (!changes.includes(change)) {
    throw new Error(`${change} is not in the feed`);
  }
}

async function follow(after?: string) {
  const changes: string[] = [];
  let cursor = after;
  for (let isAll = false; !isAll;) {
    const query = { limit: 1000, ...cursor !== undefined && { after: cursor } };
    const { data, meta } = await bodyOf(
      client.GET("/products/changes", { params: { query } }),
    );
    changes.push(
      ...data.map((one) => one.deleted ? "deleted" : one.product.title),
    );
    cursor = meta.cursor;
    isAll = data.length === 0;
  }
  return { changes, cursor };
}

function equal(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(`${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
}
