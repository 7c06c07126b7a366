import type { Contestant, How, Load, Scenario } from "./contest.ts";
import { type Data, STATUSES } from "./data.ts";
import { ONIX } from "./onix.ts";
import { call, type Requests, requests, type Rows, send } from "./requests.ts";
import { TRANSFER } from "./transfer.ts";

const READERS = 32;
const WRITERS = 16;
const BATCH_WRITERS = 4;
const BATCH = 100;

const getting = ({ large: { key } }: Data, path: string, rows: Rows) =>
  ({ method: "GET", path, key, rows }) as const;

const product = (data: Data) => getting(data, "/products/{1}", data.products);

const FIRST_PAGE = "/products?limit=50";

const pages = (data: Data) => getting(data, "/products?limit=50&page={1}", data.pages);

/** A list of 50 with these parameters, to one client. */
function list(name: string, query: string | ((data: Data) => string)) {
  return requests(`LIST ${name}`, 1, (data) => {
    const more = typeof query === "string" ? query : query(data);
    return getting(data, `/products?limit=50${more}`, data.pages);
  });
}

const change = (data: Data) => ({
  ...getting(data, "/products/{1}", data.products),
  method: "PUT" as const,
  body: data.changedProduct,
});

const creation = (data: Data) => ({
  ...getting(data, "/products", data.people),
  method: "POST" as const,
  body: data.newProduct,
});

export const GET = requests("GET", READERS, product);

export const LIST = requests(
  "LIST",
  READERS,
  (data) => getting(data, FIRST_PAGE, data.pages),
);

export const CREATE = requests("CREATE", WRITERS, creation);

const COMMON = list("search: word of 1 title in 5", "&search=the");

/**
 * What is measured, in this order: writes come last, so that every checkout reads the
 * same data. Many clients measure throughput, one client measures latency.
 */
export const SCENARIOS: readonly Scenario[] = [
  GET,
  requests("GET", 1, product),
  requests("GET beside a search", READERS, product, COMMON),
  LIST,
  requests("LIST pages 1 to 120", READERS, pages),
  requests("LIST pages 1 to 120", 1, pages),
  list("last page", ({ lastPage }) => `&page=${lastPage}`),
  list(
    "status of 60 %",
    (data) => `&publishing_status_id=${data.commonStatus}`,
  ),
  list("search: rare word", ({ rareWord }) => `&search=${rareWord}`),
  list(
    "search: ISBN with hyphens",
    ({ isbn }) => `&search=${isbn.replace(/^(...)(.)(....)(....)/, "$1-$2-$3-$4-")}`,
  ),
  COMMON,
  list("search: 2 characters", "&search=st"),
  list("q: rare word", ({ rareWord }) => `&q=${rareWord}`),
  list("q: word of 1 title in 5", "&q=the"),
  list("q: rare word with a slip", ({ rareWord }) => `&q=${rareWord.slice(0, -1)}x`),
  list("q: contributor", "&q=contributors%2017"),
  list("q: word of every contributor", "&q=contributors"),
  list("q: ISBN", ({ isbn }) => `&q=${isbn}`),
  feedScenario("FEED, products", ({ large }) => large.key),
  ...recipientScenarios(),
  ...TRANSFER,
  requests("PUT", WRITERS, change),
  requests("PUT", 1, change),
  CREATE,
  requests("CREATE", 1, creation),
  batchScenario(),
  ...ONIX,
];

/** Reads of a recipient that sees every product, and the list by its criteria. */
function recipientScenarios(): Scenario[] {
  const keyOf = ({ recipient }: Data) => recipient!;
  const of = (request: (data: Data) => Requests) => (data: Data) => ({
    ...request(data),
    key: keyOf(data),
  });
  const scenarios = [
    requests("GET by a recipient", READERS, of(product)),
    requests("GET by a recipient", 1, of(product)),
    list("by the criteria of the recipient", `&publishing_status_code=${STATUSES}`),
    requests("LIST by a recipient", 1, of((data) => getting(data, FIRST_PAGE, data.pages))),
    feedScenario("FEED by a recipient, products", keyOf),
  ];
  return scenarios.map((one) => ({
    ...one,
    isFor: ({ data }) => data.recipient !== undefined,
  }));
}

/** One client reads the whole feed in pages of 1,000. */
function feedScenario(name: string, keyOf: (data: Data) => string): Scenario {
  return {
    name,
    clients: 1,
    async run({ origin, data }) {
      const key = keyOf(data);
      const start = performance.now();
      const times: number[] = [];
      let count = 0;
      for (let after = "", more = true; more;) {
        const began = performance.now();
        const path = `/products/changes?limit=1000${after}`;
        const { data, meta } = await call(origin, key, "GET", path);
        times.push(performance.now() - began);
        count += data.length;
        after = `&after=${meta.cursor}`;
        more = meta.more;
      }
      const rate = count / (performance.now() - start) * 1_000;
      return { count, rate, max: Math.max(...times) };
    },
  };
}

/** Clients create products in batches of 100. */
function batchScenario(): Scenario {
  async function run(
    { origin, data }: Contestant,
    { seconds }: How,
  ): Promise<Load> {
    const { body, ...creating } = creation(data);
    const batch = {
      ...creating,
      path: "/products/batch",
      body: { operations: Array(BATCH).fill({ method: "create", body }) },
    };
    const start = performance.now();
    let sent = 0;
    await Promise.all(Array.from({ length: BATCH_WRITERS }, async () => {
      while (performance.now() < start + seconds * 1_000) {
        const { data: results } = await send(origin, batch, sent++);
        const failed = results.find((one: { status: number }) => one.status !== 201);
        if (failed) throw new Error(JSON.stringify(failed));
      }
    }));
    const count = sent * BATCH;
    return { count, rate: count / (performance.now() - start) * 1_000 };
  }
  return { name: "CREATE in batches, products", clients: BATCH_WRITERS, run };
}
