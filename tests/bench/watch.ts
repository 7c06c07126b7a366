import type postgres from "postgres";
import type { Baseline } from "./baseline.ts";
import { readingBaseline } from "./reading.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import { startService } from "./service.ts";
import { tapWire } from "./wiretap.ts";
import { writingBaseline } from "./writing.ts";

/** What a service asks of the database only now and then. */
const OF_KEYS = /\bapi_key/;

/** Runs each scenario once on a service of its own, and gives what to compare it with. */
export async function watchScenarios(
  url: string,
  sql: postgres.Sql,
  scenarios: Scenario[],
): Promise<Map<Scenario, Baseline>> {
  using tap = tapWire(url);
  await using service = await startService(tap.url);
  const baselines = new Map<Scenario, Baseline>();
  for (const scenario of scenarios) {
    const [first, last] = scenario.numbers;
    const number = Math.floor((first + last) / 2);
    tap.take();
    const { data } = await send(scenario, service.origin, number);
    const sent = tap.take().filter(({ text }) => !OF_KEYS.test(text));
    const example = { sent, number, created: data.id };
    baselines.set(
      scenario,
      scenario.method === "GET"
        ? await readingBaseline(sql, example)
        : await writingBaseline(sql, scenario.method.toLowerCase(), example),
    );
  }
  return baselines;
}
