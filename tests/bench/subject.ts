import postgres from "postgres";
import { pause } from "../../db/connections/deadline.ts";
import type { Checkout } from "./checkout.ts";
import {
  type Client,
  type Dataset,
  loadDataset,
  type Organization,
} from "./dataset.ts";
import { showProgress } from "./progress.ts";
import { readSamples, type Scenarios, scenariosOf } from "./scenarios.ts";
import { send } from "./send.ts";
import { type Service, startService } from "./service.ts";
import { ALLOWS_RECEIVER } from "./webhooks.ts";

/** A checkout that serves its own database. */
export interface Subject extends AsyncDisposable {
  checkout: Checkout;
  url: string;
  dataset: Dataset;
  scenarios: Scenarios;
  service: Service;
  /** The size of the database before writes, in MB. */
  disc: number;
}

/** The products of a page: the service stores at most 4 MiB of them at a time. */
const LIMIT = 500;

/**
 * Fills the database at `url`, starts the checkout's service there, and reads every
 * product once, so that the service stores the JSON of each.
 */
export async function startSubject(
  checkout: Checkout,
  url: string,
  options: { products: number; seed: number; clients: number },
): Promise<Subject> {
  const dataset = await loadDataset(checkout, url, options);
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await startService(checkout, url, ALLOWS_RECEIVER));
  for (const client of [dataset.large, dataset.small]) {
    await readAll(service, client);
    await untilStored(url);
  }
  const { samples, disc } = await settle(url, dataset.large);
  const started = stack.move();
  return {
    checkout,
    url,
    dataset,
    scenarios: scenariosOf(dataset, samples, options.clients),
    service,
    disc,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Finishes the database's work after the load, such as VACUUM and CHECKPOINT, and samples its data. */
async function settle(url: string, organization: Organization) {
  const sql = postgres(url, { max: 1, fetch_types: false });
  try {
    await sql`vacuum analyze`;
    await sql`checkpoint`;
    const [{ disc }] = await sql<[{ disc: number }]>`
      select (pg_database_size(current_database()) / 1e6)::float8 as disc
    `;
    return { samples: await readSamples(sql, organization), disc };
  } finally {
    await sql.end();
  }
}

/** Waits until the service has stored its responses, if this checkout stores any. */
async function untilStored(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  const sizeOf = async () => {
    const [row] = await sql<{ size: string | null }[]>`
      select pg_relation_size(to_regclass('product_documents')) as size
    `;
    return row!.size;
  };
  let size;
  while (size !== (size = await sizeOf())) await pause(1_000);
  await sql.end();
}

/**
 * Reads every product in pages of the feed: their cost does not grow with their number,
 * and one reader is not faster than the service stores what it has read.
 */
async function readAll(
  { name, origin }: Service,
  client: Client,
): Promise<void> {
  let read = 0;
  let after = "";
  for (let more = true; more;) {
    const path = `/api/products/changes?limit=${LIMIT}${after}`;
    const { data, meta } = await send(
      { method: "GET", path, client },
      origin,
      0,
    );
    after = `&after=${meta.cursor}`;
    more = meta.more;
    read += data.length;
    showProgress(
      `Reading all, ${name}`,
      more ? read : client.products,
      client.products,
    );
  }
}
