import type postgres from "postgres";
import { pause } from "../../db/connections/deadline.ts";
import type { Baseline, Example } from "./baseline.ts";
import { HERE } from "./checkout.ts";
import { readingBaseline } from "./reading.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import { startService } from "./service.ts";
import { tapWire } from "./wiretap.ts";
import { writingBaseline } from "./writing.ts";

/** A recorded scenario. */
export interface Watched extends Example {
  /** The same statements for pgbench. */
  baseline: Baseline;
}

/** Statements that a service sends only occasionally. */
const OF_KEYS = /\bapi_key/;

/** The time after a response in which the service may store its JSON. */
const SETTLE_MS = 100;

/**
 * Runs the scenarios on a private service, and records the statements of each. Each
 * runs twice, because the first request may build and store JSON.
 */
export async function watchScenarios(
  url: string,
  sql: postgres.Sql,
  scenarios: Scenario[],
): Promise<Map<Scenario, Watched>> {
  using tap = tapWire(url);
  await using service = await startService(HERE, tap.url);
  const watched = new Map<Scenario, Watched>();
  for (const scenario of scenarios) {
    const [first, last] = scenario.numbers;
    const number = Math.floor((first + last) / 2);
    await send(scenario, service.origin, number);
    await pause(SETTLE_MS);
    tap.take();
    const { data } = await send(scenario, service.origin, number);
    const sent = tap.take().filter(({ text }) => !OF_KEYS.test(text));
    const created = scenario.method === "POST" ? data.id : undefined;
    const example = { sent, number, created };
    const baseline = scenario.method === "GET"
      ? await readingBaseline(sql, example)
      : await writingBaseline(sql, scenario.method.toLowerCase(), example);
    watched.set(scenario, { ...example, baseline });
  }
  return watched;
}
