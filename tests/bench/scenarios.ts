import { changes, newProduct } from "./bodies.ts";
import type { Client, Dataset } from "./dataset.ts";
import { READERS } from "./machine.ts";
import { FIRST_NUMBER, idOf } from "./products.ts";
import type { Samples } from "./samples.ts";

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
  put: Scenario;
  create: Scenario;
}

const PATH = "/api/products";
const LIMIT = 50;
/** The middle page, which pgbench always reads. */
const PAGES = 120;

const WRITERS = 16;

const RARE_WORD = "rare word";
const COMMON_WORD = "word of 1 title in 3";

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
  ];
}
