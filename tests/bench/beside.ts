import type { Checkout } from "./checkout.ts";
import { createDatabase } from "./cluster.ts";
import { compete, type Rules, serving } from "./contest.ts";
import { startEmbedded } from "./embedded.ts";
import { flightsTable, measureFlights } from "./flights.ts";
import type { Options } from "./options.ts";
import { measureOnix } from "./onix.ts";
import { peakMemory } from "./processes.ts";
import { showProgress } from "./progress.ts";
import { markdown, rateOver, type Result, tableOf } from "./report.ts";
import { type Scenario, type Scenarios, withOneClient } from "./scenarios.ts";
import { BARE, startBare } from "./start_bare.ts";
import { startSubject, type Subject } from "./subject.ts";

/**
 * Measures two checkouts in turn, each with its own database. Ratios are relative
 * to the second one.
 */
export async function measureBeside(
  checkouts: readonly [Checkout, Checkout],
  rules: Rules,
  options: Options,
): Promise<void> {
  await using started = new AsyncDisposableStack();
  const subjects: Subject[] = [];
  for (const [i, checkout] of checkouts.entries()) {
    const database = `bench_${i}_${checkout.name}`;
    const url = await createDatabase(rules.cluster, database);
    subjects.push(started.use(await startSubject(checkout, url, options)));
  }
  const bare = started.use(await startBare(subjects[0]!));
  const measured = subjects.map(({ scenarios }) => chosen(scenarios, options));
  const results: Result[] = [];
  for (const [i, scenario] of measured[0]!.entries()) {
    showProgress(scenario.name, i, measured[0]!.length);
    const [here, other] = subjects.map(({ service }, k) =>
      serving(service, measured[k]![i]!)
    );
    const isGet = scenario === subjects[0]!.scenarios.get;
    const contestants = isGet
      ? [here!, serving(bare, scenario), other!]
      : [here!, other!];
    const { afterCheckpoint = false } = scenario;
    results.push(
      ...await compete(scenario.name, contestants, {
        ...rules,
        afterCheckpoint,
      }),
    );
  }
  showProgress("Measured", 1, 1);
  if ("GET embedded".includes(options.only)) {
    results.push(...await competeEmbedded(checkouts, rules, options));
  }
  if (results.length > 0) console.log(`${tableOf(results)}\n`);
  if ("ONIX".includes(options.only) && checkouts.every(knowsOnix)) {
    console.log(`${await measureOnix(subjects, rules)}\n`);
  }
  if (options.only !== "") return;
  const [here] = checkouts;
  const overBare = rateOver(results, "GET", [here.name, BARE]);
  console.log(`GET, ${here.name} / ${BARE}: ${overBare.toFixed(2)}\n`);
  console.log(`${sizesOf(subjects)}\n`);
  const flights = [];
  for (const { checkout, url, scenarios } of subjects) {
    flights.push(await measureFlights(checkout, url, scenarios));
  }
  console.log(flightsTable(checkouts, flights));
}

/** Whether a checkout knows ONIX, as the earliest do not. */
function knowsOnix({ folder }: Checkout): boolean {
  return [...Deno.readDirSync(`${folder}/schema`)]
    .some(({ name }) => name === "onix");
}

/** Writes come last, so that both checkouts read the same data. */
function chosen(
  { get, pages, rare, common, put, create, afterCheckpoint }: Scenarios,
  { only }: Options,
): Scenario[] {
  const both = (scenario: Scenario) => [scenario, withOneClient(scenario)];
  return [
    ...both(get),
    ...both(pages),
    rare,
    common,
    ...both(put),
    ...both(create),
    ...afterCheckpoint,
  ].filter(({ name }) => name.includes(only));
}

async function competeEmbedded(
  checkouts: readonly Checkout[],
  rules: Rules,
  { clients }: Options,
): Promise<Result[]> {
  await using started = new AsyncDisposableStack();
  const contestants = [];
  for (const checkout of checkouts) {
    const { service, requests } = started.use(
      await startEmbedded(checkout, clients),
    );
    const contestant = serving(service, requests);
    // WebAssembly is optimized only after a while.
    await contestant.run(rules);
    contestants.push(contestant);
  }
  return await compete("GET embedded", contestants, rules);
}

function sizesOf(subjects: Subject[]): string {
  const row = (what: string, figures: number[]) => [
    what,
    ...figures.map((figure) => figure.toFixed(0)),
    (figures[0]! / figures[1]!).toFixed(2),
  ];
  return markdown(
    ["MB", ...subjects.map(({ checkout: { name } }) => name), "ratio"],
    1,
    [
      row(
        "Peak memory of the service",
        subjects.map(({ service }) => peakMemory(service.pid)),
      ),
      row(
        "Disk, all JSON stored, before writes",
        subjects.map(({ disc }) => disc),
      ),
    ],
  );
}
