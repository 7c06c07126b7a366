import { parseArgs } from "node:util";
import postgres from "postgres";
import { connectCluster, startCluster } from "./cluster.ts";
import { compete } from "./contest.ts";
import { loadDataset } from "./dataset.ts";
import { type Result, tableOf } from "./report.ts";
import { readSamples } from "./samples.ts";
import { latencyScenarios, throughputScenarios } from "./scenarios.ts";
import { startService } from "./service.ts";
import { watchScenarios } from "./watch.ts";

const USAGE =
  `deno task bench [--products 10000] [--rounds 3] [--seconds 3] [--clients 32] [--seed 1] [--only NAME]

BENCH_DATABASE_URL names an empty database to use in place of a throw-away PostgreSQL; what is loaded stays there.`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      products: { type: "string", default: "10000" },
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "3" },
      clients: { type: "string", default: "32" },
      seed: { type: "string", default: "1" },
      only: { type: "string", default: "" },
      help: { type: "boolean", default: false },
    },
  });
  const whole = (
    name: "products" | "rounds" | "seconds" | "clients" | "seed",
    most: number,
  ) => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new Error(
      `--${name} must be a whole number from 1 to ${most}\n\n${USAGE}`,
    );
  };
  return {
    products: whole("products", 8_000_000),
    rounds: whole("rounds", 100),
    seconds: whole("seconds", 600),
    clients: whole("clients", 1_000),
    seed: whole("seed", 2 ** 31),
    only: values.only,
    help: values.help,
  };
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) return console.log(USAGE);
  const { products, rounds, seconds, clients, seed, only } = options;
  const url = Deno.env.get("BENCH_DATABASE_URL");
  await using cluster = url ? await connectCluster(url) : await startCluster();
  console.log(cluster.description);

  const dataset = await loadDataset(cluster.url, products, seed);
  const sql = postgres(cluster.url, { max: 1, fetch_types: false });
  const samples = await readSamples(sql, dataset.large);
  const scenarios = [
    ...throughputScenarios(dataset, samples, clients).map((scenario) => ({
      scenario,
      seconds,
    })),
    ...latencyScenarios(dataset, samples).map((scenario) => ({
      scenario,
      seconds: Math.ceil(seconds / 3),
    })),
  ].filter(({ scenario }) => scenario.name.includes(only));
  const baselines = await watchScenarios(
    cluster.url,
    sql,
    scenarios.map(({ scenario }) => scenario),
  );
  await sql.end();

  await using service = await startService(cluster.url);
  const results: Result[] = [];
  for (const { scenario, seconds } of scenarios) {
    console.error(scenario.name);
    const baseline = baselines.get(scenario)!;
    results.push(
      ...await compete(scenario, { services: [service], baseline }, {
        cluster,
        rounds,
        seconds,
        seed,
      }),
    );
  }
  console.log(tableOf(results));
}

await main();
