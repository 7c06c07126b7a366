import { median } from "./load.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import type { Service } from "./service.ts";

export const PAGE = 1_000;

/** What one client sees of the feed from its beginning to its end. */
export interface Feed {
  /** Products a second. */
  rate: number;
  /** The slowest page, in milliseconds. */
  worst: number;
}

/** Follows the feed from its beginning: the medians of the rounds. */
export async function measureFeed(
  { origin }: Service,
  { path, client }: Scenario,
  { rounds }: { rounds: number },
): Promise<Feed> {
  const rates: number[] = [];
  const worst: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const pages: number[] = [];
    let products = 0;
    let after = "";
    for (let more = true; more;) {
      const feed = `${path}/changes?limit=${PAGE}${after}`;
      const start = performance.now();
      const { data, meta } = await send(
        { method: "GET", path: feed, client },
        origin,
        0,
      );
      pages.push(performance.now() - start);
      products += data.length;
      after = `&after=${meta.cursor}`;
      more = meta.more;
    }
    rates.push(products / sum(pages) * 1000);
    worst.push(Math.max(...pages));
  }
  return { rate: median(rates), worst: median(worst) };
}

function sum(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
