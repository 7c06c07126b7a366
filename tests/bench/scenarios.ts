import type postgres from "postgres";
import type { Client, Dataset, Organization } from "./dataset.ts";
import { READERS } from "./machine.ts";
import { FIRST_NUMBER, idOf } from "./products.ts";

/** One kind of request, sent repeatedly. */
export interface Scenario {
  name: string;
  method: "GET" | "POST" | "PUT";
  /** `{n}` stands for one of `numbers`, random for each request. */
  path: string;
  body?: string;
  numbers: readonly [first: number, last: number];
  client: Client;
  /** The number of concurrent requests. */
  clients: number;
  /** The number of connections for the same statements without the service. */
  connections: number;
  /** Whether each run begins right after a checkpoint: PostgreSQL then logs each page that it first changes as a whole. */
  afterCheckpoint?: boolean;
}

/** The scenarios. Many clients measure throughput, one client measures latency. */
export interface Scenarios {
  get: Scenario;
  list: Scenario;
  /** Lists that rarely repeat. */
  pages: Scenario;
  /** Lists of all kinds, with one client. */
  lists: Scenario[];
  /** The lists that search for a rare word and for a common one. */
  rare: Scenario;
  common: Scenario;
  /** The lists of two clients that find a word of all names by `q`. */
  found: Scenario;
  put: Scenario;
  create: Scenario;
  /** Updates of a title, a price and a page count of random products, after a checkpoint. */
  afterCheckpoint: Scenario[];
}

const PATH = "/api/products";
const LIMIT = 50;
/** The middle page, which pgbench always reads. */
const PAGES = 120;

const WRITERS = 16;

const RARE_WORD = "rare word";
const COMMON_WORD = "word of 1 title in 3";
const EVERY_CONTRIBUTOR = "word of every contributor";

/** The scenarios of a data set. `clients` applies to the first two. */
export function scenariosOf(
  dataset: Dataset,
  samples: Samples,
  clients: number,
): Scenarios {
  const { large: client } = dataset;
  const reading = {
    method: "GET",
    numbers: [FIRST_NUMBER, FIRST_NUMBER + client.products - 1],
    client,
    clients,
    connections: READERS,
  } as const;
  const writing = {
    // The data has a contributor and a collection for each of these numbers.
    numbers: [FIRST_NUMBER + 1, FIRST_NUMBER + client.references - 1],
    client,
    clients: WRITERS,
    connections: WRITERS,
  } as const;
  const lists = listsOf(dataset, samples);
  const product = `${PATH}/${idOf("00", "{n}")}`;
  return {
    get: { ...reading, name: "GET", path: product },
    list: { ...reading, name: "LIST", path: `${PATH}?limit=${LIMIT}` },
    pages: {
      ...reading,
      name: `LIST pages 1 to ${PAGES}`,
      path: `${PATH}?limit=${LIMIT}&page={n}`,
      numbers: [1, PAGES],
    },
    lists,
    rare: lists.find(({ name }) => name.endsWith(RARE_WORD))!,
    common: lists.find(({ name }) => name.endsWith(COMMON_WORD))!,
    found: {
      ...lists.find(({ name }) => name.endsWith(EVERY_CONTRIBUTOR))!,
      clients: 2,
    },
    put: {
      ...writing,
      name: "PUT",
      method: "PUT",
      path: product,
      body: JSON.stringify(changes()),
    },
    create: {
      ...writing,
      name: "CREATE",
      method: "POST",
      path: PATH,
      body: JSON.stringify(newProduct(samples)),
    },
    afterCheckpoint: Object.entries({
      "a title": { title: "The book of {n}, revised" },
      "a price": {
        product_prices: [{ id: idOf("20", "{n}"), retail_price: "13.99" }],
      },
      "a page count": { page_count: 480 },
    }).map(([what, body]): Scenario => ({
      ...writing,
      name: `PUT of ${what} after a checkpoint`,
      method: "PUT",
      path: product,
      numbers: reading.numbers,
      body: JSON.stringify(body),
      afterCheckpoint: true,
    })),
  };
}

/** The same requests from one client, to measure latency. */
export function withOneClient(scenario: Scenario): Scenario {
  return { ...scenario, clients: 1, connections: 1 };
}

function listsOf({ large, small }: Dataset, samples: Samples): Scenario[] {
  const list = (name: string, query: string, client = large): Scenario => ({
    name: `LIST ${name}`,
    method: "GET",
    path: `${PATH}?limit=${LIMIT}${query}`,
    numbers: [FIRST_NUMBER, FIRST_NUMBER],
    client,
    clients: 1,
    connections: 1,
  });
  const search = (what: string, term: string) =>
    list(`search: ${what}`, `&search=${term}`);
  const q = (what: string, term: string) => list(`q: ${what}`, `&q=${term}`);
  const pages = Math.ceil(large.products / LIMIT);
  const deep = Math.min(10_000, Math.floor(pages / 2));
  const { commonStatus, isbn13 } = samples;
  const isCommon = `&publishing_status_id=${commonStatus}`;
  const hyphenated = isbn13.replace(/^(...)(.)(....)(....)/, "$1-$2-$3-$4-");
  return [
    list("page 1", ""),
    list(`page 1 of ${small.products} products`, "", small),
    list(`page ${deep}`, `&page=${deep}`),
    list(`page ${pages}, the last`, `&page=${pages}`),
    list("status of 60 %", isCommon),
    search(RARE_WORD, samples.rareWord),
    search("ISBN with hyphens", hyphenated),
    search("product code", samples.productCode),
    search(COMMON_WORD, "the"),
    search("2 characters", "qu"),
    q("rare word", samples.rareWord),
    q(COMMON_WORD, "the"),
    q("contributor", samples.contributor),
    q("ISBN", isbn13),
    q(EVERY_CONTRIBUTOR, "contributor"),
    q("word of every publisher", "publisher"),
    q("four letters", "a%20e%20i%20o"),
  ];
}

/** A product to create, with rows of most kinds. `{n}` is the number of a contributor and a collection. */
export function newProduct({ author, illustrator, commonStatus }: Samples) {
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

/** An update of product `{n}` that merges its three prices and replaces its two collections. */
export function changes() {
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

/** Values in the data that requests use. */
export interface Samples {
  /** The publishing status of 60 % of the products. */
  commonStatus: string;
  /** Roles of contributors. */
  author: string;
  illustrator: string;
  /** A word in few titles. */
  rareWord: string;
  isbn13: string;
  productCode: string;
  /** The number in the name of a contributor. */
  contributor: string;
}

/** Selects the samples from the organization's data. */
export async function readSamples(
  sql: postgres.Sql,
  { id, products }: Organization,
): Promise<Samples> {
  const [codes] = await sql`
    select
      (select id from publishing_statuses where code = '04') as "commonStatus",
      (select id from contributor_roles where code = 'A01') as author,
      (select id from contributor_roles where code = 'A12') as illustrator
  `;
  const [product] = await sql`
    select isbn13, product_code as "productCode"
    from products
    where organization_id = ${id} and id = benchmark.id('00', ${
    1_000_001 + Math.floor(products / 2)
  })
  `;
  const [word] = await sql`
    select word as "rareWord"
    from products
    cross join regexp_split_to_table(lower(title), ' ') word
    where organization_id = ${id} and length(word) > 5
    group by word
    having count(*) = 3
    order by word
    limit 1
  `;
  const contributor = String(FIRST_NUMBER + Math.floor(products / 20));
  return { ...codes, ...product, ...word, contributor } as Samples;
}
