import { median } from "./load.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import type { Service } from "./service.ts";

export const BATCH_CLIENTS = 4;

export const OPERATIONS = 100;

/** Measures the products per second that concurrent clients create in batches: the median of the rounds. */
export async function batchRate(
  { origin }: Service,
  { path, body, client, numbers: [first, last] }: Scenario,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<number> {
  const rates: number[] = [];
  const operation = `{"method":"create","body":${body}}`;
  const batch = {
    method: "POST",
    path: `${path}/batch`,
    client,
    body: `{"operations":[${Array(OPERATIONS).fill(operation).join()}]}`,
  };
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    let created = 0;
    let number = first;
    await Promise.all(Array.from({ length: BATCH_CLIENTS }, async () => {
      while (performance.now() < start + seconds * 1000) {
        if (++number > last) number = first;
        const { data } = await send(batch, origin, number);
        created += data.filter(({ status }: { status: number }) =>
          status === 201
        ).length;
      }
    }));
    rates.push(created / (performance.now() - start) * 1000);
  }
  return median(rates);
}
