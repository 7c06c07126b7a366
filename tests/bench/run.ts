import postgres from "postgres";
import { uncounted } from "./counting.ts";
import { connectCluster, startThrowaway } from "./cluster.ts";
import { measureAsides } from "./asides.ts";
import { compete } from "./contest.ts";
import { loadDataset } from "./dataset.ts";
import { describeMachine } from "./machine.ts";
import { readOptions, USAGE } from "./options.ts";
import { installPeers, startPeers } from "./peers.ts";
import { showProgress } from "./progress.ts";
import { type Result, tableOf } from "./report.ts";
import { checkPeer } from "./same.ts";
import { readSamples } from "./samples.ts";
import { scenariosOf } from "./scenarios.ts";
import { startService } from "./service.ts";
import { watchScenarios } from "./watch.ts";

/** What is started, and stops with the benchmark. */
const started = new AsyncDisposableStack();

async function main(): Promise<void> {
  const options = readOptions(Deno.args);
  if (options.help) return console.log(USAGE);
  const { products, seed, clients, rounds, seconds, only } = options;
  console.log(describeMachine());
  if (options.peers) await installPeers();

  const url = Deno.env.get("BENCH_DATABASE_URL");
  const cluster = started.use(
    url ? await connectCluster(url) : await startThrowaway(),
  );
  console.log(cluster.description);
  console.log(`${products} products, seed ${seed}, ${rounds} rounds\n`);

  const dataset = await loadDataset(cluster.url, products, seed);
  const sql = postgres(cluster.url, { max: 1, fetch_types: false });
  started.defer(() => sql.end({ timeout: 1 }));
  const scenarios = scenariosOf(
    dataset,
    await readSamples(sql, dataset.large),
    clients,
  );
  const { get, list, pages, lists, put, create } = scenarios;
  // Writing comes last, so that all that is read is the data set.
  const all = [get, list, pages, ...lists, put, create];
  const watched = await watchScenarios(cluster.url, sql, all);
  const notCounting = await uncounted(sql, watched.get(create)!);

  const service = started.use(await startService(cluster.url));
  const peers = options.peers
    ? await startPeers(cluster.url, dataset.large, {
      get: watched.get(get)!,
      list: watched.get(list)!,
    })
    : [];
  for (const peer of peers) {
    await checkPeer(service, started.use(peer), scenarios);
  }

  const results: Result[] = [];
  const chosen = all.filter(({ name }) => name.includes(only));
  for (const [i, scenario] of chosen.entries()) {
    showProgress(scenario.name, i, chosen.length);
    const { baseline } = watched.get(scenario)!;
    const services = [get, list, create].includes(scenario)
      ? [service, ...peers]
      : [service];
    results.push(
      ...await compete(scenario, { services, baseline }, {
        cluster,
        sql,
        rounds,
        seconds: scenario.clients > 1 ? seconds : Math.ceil(seconds / 3),
        seed,
      }),
    );
  }
  showProgress("Measured", chosen.length, chosen.length);
  console.log(tableOf(results));
  if (only === "") {
    console.log(
      await measureAsides(service, scenarios, {
        counting: watched.get(create)!.baseline,
        not: notCounting,
      }, {
        url: cluster.url,
        rounds,
        seconds,
        seed,
      }),
    );
  }
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
