import type postgres from "postgres";
import { pause } from "../../db/connections/deadline.ts";
import type { Baseline } from "./baseline.ts";
import type { Cluster } from "./cluster.ts";
import { cpuSeconds } from "./processes.ts";
import type { Load } from "./load.ts";
import { runPgbench } from "./pgbench.ts";
import type { Result, Run } from "./report.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import type { Service } from "./service.ts";
import { runWrk } from "./wrk.ts";

/** Enough for every connection of a pool to have planned the statements; no more than a second of it. */
const WARM_UP = { batches: 8, requests: 8, ms: 1_000 };

/** How a contest goes. */
export interface Rules {
  cluster: Cluster;
  /** A connection past the contestants. */
  sql: postgres.Sql;
  rounds: number;
  seconds: number;
  seed: number;
}

/**
 * Measures services in turn with the same statements run by pgbench, round
 * after round, so that what else the machine does meets all of them.
 */
export async function compete(
  scenario: Scenario,
  { services, baseline }: { services: Service[]; baseline: Baseline },
  { cluster, sql, rounds, seconds, seed }: Rules,
): Promise<Result[]> {
  for (const service of services) await warmUp(scenario, service);
  const results = services.map(({ name }) => resultOf(name, scenario.clients));
  const alone = resultOf("pgbench", scenario.connections);

  for (let round = 0; round < rounds; round++) {
    const how = { seconds, seed: seed + round };
    await quiet(sql);
    const bare = await measured(
      cluster,
      undefined,
      () =>
        runPgbench(baseline, {
          ...how,
          url: cluster.url,
          clients: scenario.connections,
          numbers: scenario.numbers,
        }),
    );
    alone.runs.push({ ...bare, ratio: 1 });
    for (const [i, service] of services.entries()) {
      await quiet(sql);
      const served = await measured(
        cluster,
        service.pid,
        () => runWrk(scenario, { ...how, origin: service.origin }),
      );
      results[i]!.runs.push({ ...served, ratio: served.rate / bare.rate });
    }
  }
  return [...results, alone];

  function resultOf(contestant: string, clients: number): Result {
    return { scenario: scenario.name, contestant, clients, runs: [] };
  }
}

/** Waits until the database rests: what a slow peer was asked it still does when the load has ended. */
async function quiet(sql: postgres.Sql): Promise<void> {
  for (let looks = 0; looks < 2; looks++) {
    const { count } = await sql`
      select from pg_stat_activity
      where backend_type = 'client backend' and state = 'active' and pid <> pg_backend_pid()
    `;
    if (count > 0) looks = -1;
    await pause(10);
  }
}

/** Runs the load, and puts what CPU it took down to its requests. */
async function measured(
  cluster: Cluster,
  server: number | undefined,
  run: () => Promise<Load>,
): Promise<Omit<Run, "ratio">> {
  const before = [cpuSeconds(server), cpuSeconds(cluster.pid)];
  const { requests, ...load } = await run();
  const after = [cpuSeconds(server), cpuSeconds(cluster.pid)];
  const [serverCpu, databaseCpu] = after.map((seconds, i) =>
    seconds === undefined ? undefined : (seconds - before[i]!) / requests
  );
  return { ...load, serverCpu, databaseCpu };
}

async function warmUp(scenario: Scenario, { origin }: Service): Promise<void> {
  const [first, last] = scenario.numbers;
  const until = performance.now() + WARM_UP.ms;
  for (
    let batch = 0;
    batch < WARM_UP.batches && performance.now() < until;
    batch++
  ) {
    await Promise.all(
      Array.from({ length: WARM_UP.requests }, (_, i) =>
        send(
          scenario,
          origin,
          first + (batch * WARM_UP.requests + i) % (last - first + 1),
        )),
    );
  }
}
