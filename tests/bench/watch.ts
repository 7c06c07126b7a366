import type postgres from "postgres";
import type { Baseline, Example } from "./baseline.ts";
import { readingBaseline } from "./reading.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import { startService } from "./service.ts";
import { tapWire } from "./wiretap.ts";
import { writingBaseline } from "./writing.ts";

/** A scenario that was run once. */
export interface Watched extends Example {
  /** The same without the service. */
  baseline: Baseline;
}

/** What a service asks of the database only now and then. */
const OF_KEYS = /\bapi_key/;

/** Runs each scenario once on a service of its own, and sees what that sends to the database. */
export async function watchScenarios(
  url: string,
  sql: postgres.Sql,
  scenarios: Scenario[],
): Promise<Map<Scenario, Watched>> {
  using tap = tapWire(url);
  await using service = await startService(tap.url);
  const watched = new Map<Scenario, Watched>();
  for (const scenario of scenarios) {
    const [first, last] = scenario.numbers;
    const number = Math.floor((first + last) / 2);
    tap.take();
    const { data } = await send(scenario, service.origin, number);
    const sent = tap.take().filter(({ text }) => !OF_KEYS.test(text));
    const example = { sent, number, created: data.id };
    const baseline = scenario.method === "GET"
      ? await readingBaseline(sql, example)
      : await writingBaseline(sql, scenario.method.toLowerCase(), example);
    watched.set(scenario, { ...example, baseline });
  }
  return watched;
}
