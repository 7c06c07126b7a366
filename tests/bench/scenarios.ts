import type { Client, Dataset } from "./dataset.ts";
import { FIRST_NUMBER, idOf } from "./products.ts";
import type { Samples } from "./samples.ts";

/** One kind of request, sent over and over. */
export interface Scenario {
  name: string;
  method: "GET" | "POST" | "PUT";
  /** `{n}` stands for one of `numbers`, at random for each request. */
  path: string;
  body?: string;
  numbers: readonly [first: number, last: number];
  client: Client;
  /** How many requests are under way at once. */
  clients: number;
  /** How many connections the same statements are run on without the service. */
  connections: number;
}

const PATH = "/api/products";
const LIMIT = 50;

/** As many connections as the service has unless told otherwise. */
const POOL = 8;

const WRITERS = 16;

/** With many clients: what the machine has to give. */
export function throughputScenarios(
  { large }: Dataset,
  samples: Samples,
  clients: number,
): Scenario[] {
  const numbers = [FIRST_NUMBER, FIRST_NUMBER + large.products - 1] as const;
  const reading = {
    method: "GET",
    client: large,
    clients,
    numbers,
    connections: POOL,
  } as const;
  const writing = {
    client: large,
    // There is a contributor and a collection of each of these numbers too.
    numbers: [FIRST_NUMBER + 1, FIRST_NUMBER + large.references - 1],
    clients: WRITERS,
    connections: WRITERS,
  } as const;
  return [
    { ...reading, name: "GET", path: `${PATH}/${idOf("00", "{n}")}` },
    { ...reading, name: "LIST page 1", path: `${PATH}?limit=${LIMIT}` },
    {
      ...writing,
      name: "PUT",
      method: "PUT",
      path: `${PATH}/${idOf("00", "{n}")}`,
      body: JSON.stringify(changes()),
    },
    {
      ...writing,
      name: "CREATE",
      method: "POST",
      path: PATH,
      body: JSON.stringify(newProduct(samples)),
    },
  ];
}

/** With one client: how long an answer takes. */
export function latencyScenarios(
  { large, small }: Dataset,
  samples: Samples,
): Scenario[] {
  const list = (name: string, query: string, client = large): Scenario => ({
    name,
    method: "GET",
    path: `${PATH}?limit=${LIMIT}${query}`,
    numbers: [FIRST_NUMBER, FIRST_NUMBER],
    client,
    clients: 1,
    connections: 1,
  });
  const pages = Math.ceil(large.products / LIMIT);
  const deep = Math.min(10_000, Math.floor(pages / 2));
  const hyphenated = samples.isbn13.replace(
    /(\d{3})(\d)(\d{4})(\d{4})(\d)/,
    "$1-$2-$3-$4-$5",
  );
  const { commonStatus, rareStatus } = samples;
  const format = idOf("16", FIRST_NUMBER);
  return [
    list("page 1", ""),
    list("page 1 of 1,000 products", "", small),
    list(`page ${deep}`, `&page=${deep}`),
    list(`last page, ${pages}`, `&page=${pages}`),
    list("status of 60 %", `&publishing_status_id=${commonStatus}`),
    list("status of 0.1 %", `&publishing_status_id=${rareStatus}`),
    list(
      "status and format",
      `&publishing_status_id=${commonStatus}&format_id=${format}`,
    ),
    list("search: rare word", `&search=${samples.rareWord}`),
    list("search: ISBN with hyphens", `&search=${hyphenated}`),
    list("search: product code", `&search=${samples.productCode}`),
    list("search: word of 1 title in 3", "&search=the"),
    list("search: 2 characters, common", "&search=qu"),
    list("search: 2 characters, absent", "&search=zq"),
  ];
}

function newProduct({ author, illustrator, commonStatus }: Samples) {
  const contributor_id = idOf("19", "{n}");
  return {
    title: "The book of {n}",
    subtitle: "And what came of it",
    page_count: 320,
    publication_date: "2026-09-01",
    format_id: idOf("16", FIRST_NUMBER),
    publishing_status_id: commonStatus,
    license_id: idOf("11", FIRST_NUMBER),
    season_id: idOf("12", FIRST_NUMBER),
    publisher_id: idOf("13", FIRST_NUMBER),
    imprint_id: idOf("15", FIRST_NUMBER),
    product_prices: ["USD", "GBP", "EUR"].map((currency_code, i) => ({
      currency_code,
      retail_price: "12.99",
      list_price: "14.99",
      tax_rate: 7,
      is_default: i === 0,
      valid_from: "2026-09-01",
    })),
    contributors: [
      { contributor_id, contributor_role_id: author },
      { contributor_id, contributor_role_id: illustrator },
    ],
    product_collections: [
      { collection_id: idOf("18", "{n}") },
      { collection_id: idOf("18", FIRST_NUMBER) },
    ],
    collateral: [{
      collateral_type: "text_content",
      text: "What happens when two people find the same letter. ".repeat(8),
      text_type: "03",
    }],
    custom_fields: [0, 1].map((i) => ({
      field_id: idOf("17", FIRST_NUMBER + i),
      field_value: "Shelf {n}",
    })),
  };
}

/** Every price is changed, and one collection of two stays. */
function changes() {
  return {
    title: "The book of {n}, revised",
    license_id: idOf("11", FIRST_NUMBER + 1),
    product_prices: ["20", "21", "22"].map((kind) => ({
      id: idOf(kind, "{n}"),
      retail_price: "13.99",
    })),
    product_collections: [
      { collection_id: idOf("18", "{n}") },
      { collection_id: idOf("18", FIRST_NUMBER) },
    ],
  };
}
