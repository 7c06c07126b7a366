import { type Checkout, createKey } from "./checkout.ts";
import { type Service, startService } from "./service.ts";
import type { Requests } from "./wrk.ts";

/** A service on the embedded database, with the demo organization. */
export interface Embedded extends AsyncDisposable {
  service: Service;
  /** Requests for the organization's products. */
  requests: Requests;
  /** Milliseconds until the service was ready, with a new folder and with an existing one. */
  newFolderMs: number;
  oldFolderMs: number;
}

/** The organization of `sql/demo.sql`, and some of its products. */
const DEMO = "00000000-0000-4000-8000-000000000001";
const PRODUCT = "c0000000-0000-4000-8000-00000000{n}00";
const NUMBERS = [10, 26] as const;

/** Starts the checkout's service without a DATABASE_URL, first with a new folder, then with the same folder again. */
export async function startEmbedded(
  checkout: Checkout,
  clients: number,
): Promise<Embedded> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "catalogue-bench-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const env = { DATA_DIR: folder };

  const first = await timed(() => startService(checkout, "", env));
  await first.service[Symbol.asyncDispose]();
  const key = await createKey(checkout, { ...env, DATABASE_URL: "" }, DEMO);
  const second = await timed(() => startService(checkout, "", env));

  const started = stack.move();
  started.use(second.service);
  return {
    service: second.service,
    requests: {
      clients,
      method: "GET",
      path: `/api/products/${PRODUCT}`,
      numbers: NUMBERS,
      client: { key },
    },
    newFolderMs: first.ms,
    oldFolderMs: second.ms,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function timed(start: () => Promise<Service>) {
  const began = performance.now();
  const service = await start();
  return { service, ms: performance.now() - began };
}
