import postgres from "postgres";
import { measureBeside } from "./beside.ts";
import { HERE, openCheckout } from "./checkout.ts";
import { connectCluster, startThrowaway } from "./cluster.ts";
import { describeMachine } from "./machine.ts";
import { readOptions, USAGE } from "./options.ts";
import { installPeers } from "./peers.ts";
import { measureStandard } from "./standard.ts";

/** Disposed at the end or at a signal. */
const started = new AsyncDisposableStack();

async function main(): Promise<void> {
  const options = readOptions(Deno.args);
  if (options.help) return console.log(USAGE);
  const { products, seed, rounds, beside } = options;
  console.log(describeMachine());
  if (options.peers) await installPeers();

  const url = Deno.env.get("BENCH_DATABASE_URL");
  const cluster = started.use(
    url ? await connectCluster(url) : await startThrowaway(),
  );
  console.log(cluster.description);
  console.log(`${products} products, seed ${seed}, ${rounds} rounds\n`);
  const sql = postgres(cluster.url, { max: 1, fetch_types: false });
  started.defer(() => sql.end({ timeout: 1 }));
  const rules = { ...options, cluster, sql };
  if (beside === undefined) return await measureStandard(rules, options);
  const checkouts = [
    await openCheckout(HERE.folder),
    await openCheckout(beside),
  ] as const;
  await measureBeside(checkouts, rules, options);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, async () => {
    await started.disposeAsync();
    Deno.exit(1);
  });
}
try {
  await main();
} finally {
  await started.disposeAsync();
}
Deno.exit();
