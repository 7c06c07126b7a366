import { parseArgs } from "node:util";
import { HERE, openCheckout } from "./checkout.ts";
import { type Cluster, openCluster } from "./cluster.ts";
import { compete, type Contestant, type Scenario } from "./contest.ts";
import { startEmbedded } from "./embedded.ts";
import { checkPeer, installPeers, startPeers, takesPart } from "./peers.ts";
import { drawPeers } from "./picture.ts";
import { peakMemory } from "./processes.ts";
import { bodyRow, headRows, type Result, sizesTable } from "./report.ts";
import { GET, SCENARIOS } from "./scenarios.ts";
import { startSubject, type Subject } from "./subject.ts";

const USAGE =
  `deno task bench [--beside DIR|COMMIT | --peers] [--products N] [--rounds 3] [--seconds 2] [--seed 1] [--only NAME]

  --beside    compare this checkout with the one in DIR, or with COMMIT
  --peers     compare it with its alternatives, and draw peers.svg
  --products  products of the larger organization (default 10000; with --beside 100000)
  --rounds    measurements per scenario; figures are medians
  --seconds   duration of a measurement
  --seed      seed of the data and the requests
  --only      only scenarios with NAME in their names

BENCH_DATABASE_URL names a PostgreSQL to use instead of a temporary one. The role must be able to create databases.
They stay there for the next run.`;

const PICTURE = new URL("peers.svg", import.meta.url);

type Options = ReturnType<typeof readOptions>;

/** Parses the arguments. Throws an error with a message of one line. */
function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      beside: { type: "string" },
      peers: { type: "boolean", default: false },
      products: { type: "string" },
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "2" },
      seed: { type: "string", default: "1" },
      only: { type: "string", default: "" },
      help: { type: "boolean", default: false },
    },
  });
  const whole = (
    name: "products" | "rounds" | "seconds" | "seed",
    most: number,
  ) => {
    const value = Number(values[name] ?? (values.beside ? 100_000 : 10_000));
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new Error(`--${name} must be a whole number from 1 to ${most}`);
  };
  if (values.peers && values.beside !== undefined) {
    throw new Error("--peers and --beside cannot be combined");
  }
  return {
    ...values,
    products: whole("products", 10_000_000),
    rounds: whole("rounds", 100),
    seconds: whole("seconds", 600),
    seed: whole("seed", 2_147_483_647),
  };
}

/** Disposed at the end or at a signal. */
const started = new AsyncDisposableStack();

async function main(): Promise<void> {
  const options = readOptions(Deno.args);
  if (options.help) return console.log(USAGE);
  const { products, seed, rounds, beside } = options;
  console.log(describeMachine());
  const checkouts = beside === undefined ? [HERE] : [HERE, started.use(await openCheckout(beside))];
  if (options.peers) await installPeers();
  const cluster = started.use(await openCluster());
  console.log(cluster.description);
  console.log(`${products} products, seed ${seed}, ${rounds} rounds\n`);

  const subjects: Subject[] = [];
  for (const checkout of checkouts) {
    subjects.push(
      started.use(await startSubject(checkout, cluster, options)),
    );
  }
  const peers: Contestant[] = [];
  if (options.peers) {
    for (const peer of await startPeers(subjects[0]!)) {
      peers.push(started.use(peer));
      await checkPeer(peer, subjects[0]!);
    }
  }
  const results = await measure(subjects, peers, cluster, options);
  if (options.only !== "") return;
  if (options.peers) {
    await Deno.writeTextFile(PICTURE, drawPeers(results, options));
  }
  console.log();
  console.log(sizesTable(subjects.map(({ name }) => name), {
    "Peak memory of the service": subjects.map(({ pid }) => peakMemory(pid)),
    "Disk, filled": subjects.map(({ disk }) => disk),
  }));
}

/** Measures the chosen scenarios, and prints their figures as they come. */
async function measure(
  subjects: Subject[],
  peers: Contestant[],
  cluster: Cluster,
  options: Options,
): Promise<Result[]> {
  const results: Result[] = [];
  console.log(headRows());
  async function contest(scenario: Scenario, contestants: Contestant[]) {
    const rules = { ...options, cluster };
    for (const result of await compete(scenario, contestants, rules)) {
      console.log(bodyRow(result));
      results.push(result);
    }
  }
  const isChosen = ({ name }: Scenario) => name.includes(options.only);
  for (const scenario of SCENARIOS.filter(isChosen)) {
    const others = peers.filter((peer) => takesPart(peer, scenario));
    await contest(scenario, [...others, ...subjects]);
  }
  const embedded = { ...GET, name: "GET embedded" };
  if (isChosen(embedded)) {
    const contestants = [];
    for (const { checkout } of subjects) {
      contestants.push(started.use(await startEmbedded(checkout)));
    }
    await contest(embedded, contestants);
  }
  return results;
}

/** The machine and its load, in one line. */
function describeMachine(): string {
  const cpuinfo = Deno.readTextFileSync("/proc/cpuinfo");
  const model = /^model name\s*: (.*)$/m.exec(cpuinfo)?.[1] ?? Deno.build.arch;
  const time = new Date().toISOString().slice(0, 16).replace("T", " ");
  const memory = (Deno.systemMemoryInfo().total / 2 ** 30).toFixed(0);
  const load = Deno.loadavg()[0]!.toFixed(1);
  return `${time}, ${navigator.hardwareConcurrency} × ${model}, ${memory} GiB, load ${load} before the start, Deno ${Deno.version.deno}`;
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
