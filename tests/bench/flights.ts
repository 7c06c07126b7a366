import type { Checkout } from "./checkout.ts";
import { median } from "./load.ts";
import { FIRST_NUMBER, idOf } from "./products.ts";
import { startProxy } from "./proxy.ts";
import { markdown } from "./report.ts";
import type { Scenarios } from "./scenarios.ts";
import { sendTagged, type Wanted } from "./send.ts";
import { startService } from "./service.ts";

const DELAY_MS = 20;

/** The first requests connect, and describe and plan the statements. They are not timed. */
const WARM_UP = 3;
const TURNS = 5;

/** The kinds of requests, with their maximum numbers of round trips. */
const FLIGHTS = {
  "GET": 1.3,
  "LIST": 1.3,
  "CREATE": 1.3,
  "DELETE": 1.3,
  "PUT": 1.3,
  "PUT with ids of entries": 2.3,
  "PUT with If-Match": 2.3,
  "CREATE with Idempotency-Key": 2.3,
};

export type Flights = Record<keyof typeof FLIGHTS, number>;

/**
 * Counts the round trips of each kind of request: its median time divided by the
 * round-trip time of a proxy that delays each direction by 20 ms. The service has
 * one connection, so that every request finds prepared statements.
 */
export async function measureFlights(
  checkout: Checkout,
  url: string,
  { list, create }: Scenarios,
): Promise<Flights> {
  using proxy = startProxy(url, { delayMs: DELAY_MS });
  await using service = await startService(checkout, proxy.url, {
    DATABASE_POOL_SIZE: "1",
  });
  const times = new Map<string, number[]>();

  async function timed(name: keyof Flights, wanted: Omit<Wanted, "client">) {
    const began = performance.now();
    const response = await send(wanted);
    const took = performance.now() - began;
    times.set(name, [...times.get(name) ?? [], took]);
    return response;
  }
  function send(wanted: Omit<Wanted, "client">) {
    const { client, numbers: [number] } = create;
    return sendTagged({ client, ...wanted }, service.origin, number);
  }

  const collection = { collection_id: idOf("18", FIRST_NUMBER) };
  const post = { method: "POST", path: create.path, body: create.body! };
  for (let turn = 0; turn < WARM_UP + TURNS; turn++) {
    const { envelope: { data } } = await timed("CREATE", post);
    const path = `${create.path}/${data.id}`;
    const put = (change: object, headers = {}) => ({
      method: "PUT",
      path,
      body: JSON.stringify({ title: `Turn ${turn}`, ...change }),
      headers,
    });
    const [price] = data.product_prices;
    await timed("GET", { method: "GET", path });
    await timed("LIST", { method: "GET", path: list.path });
    await timed("PUT", put({ product_collections: [collection] }));
    const { etag } = await timed(
      "PUT with ids of entries",
      put({ product_prices: [{ id: price.id, retail_price: turn }] }),
    );
    await timed(
      "PUT with If-Match",
      put({ page_count: 7 }, { "if-match": etag }),
    );
    await timed("DELETE", { method: "DELETE", path });
    const { envelope } = await timed("CREATE with Idempotency-Key", {
      ...post,
      headers: { "idempotency-key": crypto.randomUUID() },
    });
    await send({
      method: "DELETE",
      path: `${create.path}/${envelope.data.id}`,
    });
  }
  return Object.fromEntries(
    Array.from(times, ([name, times]) => [
      name,
      median(times.slice(WARM_UP)) / (2 * DELAY_MS),
    ]),
  ) as Flights;
}

/** The round trips of one or more checkouts as a Markdown table. */
export function flightsTable(
  checkouts: readonly Checkout[],
  flights: Flights[],
): string {
  const names = Object.keys(FLIGHTS) as (keyof Flights)[];
  return markdown(
    ["Round trips", ...checkouts.map(({ name }) => name), "limit"],
    1,
    names.map((name) => [
      name,
      ...flights.map((flights) => flights[name].toFixed(2)),
      String(FLIGHTS[name]),
    ]),
  );
}
