import { measureAsides } from "./asides.ts";
import { HERE } from "./checkout.ts";
import { alone, compete, type Rules, serving } from "./contest.ts";
import { flightsTable, measureFlights } from "./flights.ts";
import { measureOnix } from "./onix.ts";
import type { Options } from "./options.ts";
import { startPeers } from "./peers.ts";
import { drawPeers } from "./picture.ts";
import { showProgress } from "./progress.ts";
import { type Result, tableOf } from "./report.ts";
import { checkPeer } from "./same.ts";
import { startBare } from "./start_bare.ts";
import { startSubject } from "./subject.ts";
import { watchScenarios } from "./baseline.ts";
import { measureWebhooks } from "./webhooks.ts";

const PICTURE = new URL("peers.svg", import.meta.url);

/**
 * Compares this checkout with pgbench running the same statements. Ratios are
 * relative to pgbench.
 */
export async function measureStandard(
  rules: Rules,
  options: Options,
): Promise<void> {
  await using started = new AsyncDisposableStack();
  const { url } = rules.cluster;
  const subject = started.use(await startSubject(HERE, url, options));
  const { service, scenarios, dataset } = subject;
  const { get, list, pages, lists, put, create, afterCheckpoint } = scenarios;
  // Writes come last, so that reads see only the data set.
  const all = [
    get,
    ...options.peers ? [list] : [],
    pages,
    ...lists,
    put,
    create,
    ...afterCheckpoint,
  ];
  const watched = await watchScenarios(url, rules.sql, all);
  const bare = started.use(await startBare(subject));
  const peers = options.peers
    ? await startPeers(url, dataset.large, {
      get: watched.get(get)!,
      list: watched.get(list)!,
      create: watched.get(create)!,
    })
    : [];
  for (const peer of peers) {
    await checkPeer(service, started.use(peer), scenarios);
  }

  const results: Result[] = [];
  const chosen = all.filter(({ name }) => name.includes(options.only));
  for (const [i, scenario] of chosen.entries()) {
    showProgress(scenario.name, i, chosen.length);
    const services = [
      service,
      ...scenario === get ? [bare] : [],
      ...[get, list, create].includes(scenario) ? peers : [],
    ];
    results.push(
      ...await compete(scenario.name, [
        ...services.map((service) => serving(service, scenario)),
        alone(watched.get(scenario)!.baseline, scenario, url),
      ], {
        ...rules,
        afterCheckpoint: scenario.afterCheckpoint ?? false,
        seconds: scenario.clients > 1
          ? rules.seconds
          : Math.ceil(rules.seconds / 3),
      }),
    );
  }
  results.push(...await measureWebhooks(subject, rules, options.only));
  showProgress("Measured", chosen.length, chosen.length);
  if (results.length > 0) console.log(`${tableOf(results)}\n`);
  if ("ONIX".includes(options.only)) {
    console.log(`${await measureOnix([subject], rules)}\n`);
  }
  if (options.only !== "") return;
  if (options.peers) {
    await Deno.writeTextFile(PICTURE, drawPeers(results, options));
  }
  console.log(`${await measureAsides(subject, results, rules)}\n`);
  const flights = await measureFlights(HERE, url, scenarios);
  console.log(flightsTable([HERE], [flights]));
}
