import type { Baseline } from "./baseline.ts";
import type { Load } from "./load.ts";
import { runPgbench } from "./pgbench.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import type { Service } from "./service.ts";
import { type Requests, runWrk } from "./wrk.ts";

/** A program under load. */
export interface Contestant {
  name: string;
  clients: number;
  /** The id of its process. Absent if the load generator itself is measured. */
  pid?: number;
  warmUp(): Promise<void>;
  run(how: { seconds: number; seed: number }): Promise<Load>;
}

/** Enough requests for every pooled connection to plan the statements, but at most a second. */
const WARM_UP = { batches: 8, requests: 8, ms: 1_000 };

/** A service that receives the scenario's requests. */
export function serving(service: Service, requests: Requests): Contestant {
  const { name, pid, origin } = service;
  return {
    name,
    pid,
    clients: requests.clients,
    warmUp: () => warmUp(requests, origin),
    run: (how) => runWrk(requests, { ...how, origin }),
  };
}

/** pgbench with the statements of the scenario, on the database at `url`. */
export function alone(
  baseline: Baseline,
  { connections: clients, numbers }: Scenario,
  url: string,
): Contestant {
  return {
    name: "pgbench",
    clients,
    async warmUp() {},
    run: (how) => runPgbench(baseline, { ...how, url, clients, numbers }),
  };
}

async function warmUp(requests: Requests, origin: string): Promise<void> {
  const [first, last] = requests.numbers;
  const until = performance.now() + WARM_UP.ms;
  for (
    let batch = 0;
    batch < WARM_UP.batches && performance.now() < until;
    batch++
  ) {
    await Promise.all(
      Array.from({ length: WARM_UP.requests }, (_, i) => {
        const number = batch * WARM_UP.requests + i;
        return send(requests, origin, first + number % (last - first + 1));
      }),
    );
  }
}
