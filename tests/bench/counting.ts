import type postgres from "postgres";
import type { Baseline, Example } from "./baseline.ts";
import { median } from "./load.ts";
import { runPgbench } from "./pgbench.ts";
import type { Scenario } from "./scenarios.ts";
import { writingBaseline } from "./writing.ts";

const COUNTS = /\bproduct_counts\b/;

const PRODUCT = /^\s*insert into products\b/;

/** The same as a create does, but for keeping the totals: the service counts these products when it starts again. */
export async function uncounted(
  sql: postgres.Sql,
  example: Example,
): Promise<Baseline> {
  const sent = example.sent.filter(({ text }) => !COUNTS.test(text))
    .map((one) =>
      PRODUCT.test(one.text)
        ? { ...one, parameters: one.parameters.map(asNotCounted) }
        : one
    );
  return await writingBaseline(sql, "create_uncounted", { ...example, sent });
}

/** The rate of creates that keep the totals, over that of those which do not: the median. */
export async function costOfCounting(
  { connections, numbers }: Scenario,
  { counting, not }: { counting: Baseline; not: Baseline },
  { url, rounds, seconds, seed }: {
    url: string;
    rounds: number;
    seconds: number;
    seed: number;
  },
): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const how = {
      url,
      clients: connections,
      numbers,
      seconds,
      seed: seed + round,
    };
    const without = await runPgbench(not, how);
    const counted = await runPgbench(counting, how);
    ratios.push(counted.rate / without.rate);
  }
  return median(ratios);
}

/** Of what is written to a product only `counted` is true or false. */
function asNotCounted(parameter: string | null): string | null {
  return parameter === "t" ? "f" : parameter;
}
