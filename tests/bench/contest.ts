import type postgres from "postgres";
import { pause } from "../../db/connections/deadline.ts";
import type { Baseline } from "./baseline.ts";
import type { Cluster } from "./cluster.ts";
import type { Load } from "./load.ts";
import { runPgbench } from "./pgbench.ts";
import { cpuSeconds } from "./processes.ts";
import type { Result, Run } from "./report.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import type { Service } from "./service.ts";
import { type Requests, runWrk } from "./wrk.ts";
import { countWrites } from "./written.ts";

/** The conditions of a contest. */
export interface Rules {
  cluster: Cluster;
  /** A connection to the database, without the contestants. */
  sql: postgres.Sql;
  rounds: number;
  seconds: number;
  seed: number;
  /** Whether each run begins right after a checkpoint. */
  afterCheckpoint?: boolean;
}

/**
 * Measures the contestants in turn, for several rounds, so that other load on the
 * machine affects all of them. The ratio of each is its rate divided by that of
 * the last one in the same round.
 */
export async function compete(
  scenario: string,
  contestants: Contestant[],
  { cluster, sql, rounds, seconds, seed, afterCheckpoint }: Rules,
): Promise<Result[]> {
  for (const contestant of contestants) await contestant.warmUp();
  const results = contestants.map(({ name, clients }): Result => ({
    scenario,
    contestant: name,
    clients,
    runs: [],
  }));
  for (let round = 0; round < rounds; round++) {
    const runs = [];
    for (const contestant of contestants) {
      await quiet(sql);
      if (afterCheckpoint) await sql`checkpoint`;
      const how = { seconds, seed: seed + round };
      runs.push(await measured(cluster, contestant, how));
    }
    const reference = runs.at(-1)!.rate;
    for (const [i, run] of runs.entries()) {
      results[i]!.runs.push({ ...run, ratio: run.rate / reference });
    }
  }
  return results;
}

/** Waits until the database is idle. Statements of a slow peer can outlive its load. */
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

/** Runs the load, and divides its CPU time and its WAL by the number of requests. */
async function measured(
  cluster: Cluster,
  { pid, databaseUrl, run }: Contestant,
  how: { seconds: number; seed: number },
): Promise<Omit<Run, "ratio">> {
  const endCount = databaseUrl ? await countWrites(databaseUrl) : undefined;
  const before = [cpuSeconds(pid), cpuSeconds(cluster.pid)];
  const { requests, ...load } = await run(how);
  const after = [cpuSeconds(pid), cpuSeconds(cluster.pid)];
  const writes = await endCount?.();
  const [serverCpu, databaseCpu] = after.map((seconds, i) =>
    seconds === undefined ? undefined : (seconds - before[i]!) / requests
  );
  return {
    ...load,
    serverCpu,
    databaseCpu,
    wal: writes && writes.wal / requests,
    hotShare: writes?.hotShare,
  };
}

/** A program under load. */
export interface Contestant {
  name: string;
  clients: number;
  /** The id of its process. Absent if the load generator itself is measured. */
  pid?: number;
  /** The URL of the database that it writes. Absent for the embedded one. */
  databaseUrl?: string | undefined;
  warmUp(): Promise<void>;
  run(how: { seconds: number; seed: number }): Promise<Load>;
}

/** Enough requests for every pooled connection to plan the statements, but at most a second. */
const WARM_UP = { batches: 8, requests: 8, ms: 1_000 };

/** A service that receives the scenario's requests. */
export function serving(service: Service, requests: Requests): Contestant {
  const { name, pid, origin, databaseUrl } = service;
  return {
    name,
    pid,
    databaseUrl,
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
    databaseUrl: url,
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
