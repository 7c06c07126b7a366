import { join } from "node:path";
import { type Checkout, createKey, startService } from "./checkout.ts";
import type { Contestant } from "./contest.ts";
import { type Data, rowsOf } from "./data.ts";
import { call } from "./requests.ts";

/** The organization of `sql/demo.sql`. */
const DEMO = "00000000-0000-4000-8000-000000000001";

/** Starts the checkout's service on an embedded database in a new folder, with the demo organization. */
export async function startEmbedded(checkout: Checkout): Promise<Contestant> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "catalogue-bench-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const env = { DATABASE_URL: "", DATA_DIR: join(folder, "data") };
  // The first start creates the demo organization, and only one process opens the folder.
  await (await startService(checkout, env))[Symbol.asyncDispose]();
  const large = { id: DEMO, key: await createKey(checkout, env, DEMO) };
  const service = stack.use(await startService(checkout, env));
  const { data } = await call(service.origin, large.key, "GET", "/products");
  const ids = data.map(({ id }: { id: string }) => id);
  const started = stack.move();
  return {
    ...service,
    data: { large, products: rowsOf(join(folder, "products"), ids) } as Data,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
