import type postgres from "postgres";
import { pause } from "../../db/connections/deadline.ts";
import type { Cluster } from "./cluster.ts";
import type { Contestant } from "./contestants.ts";
import { cpuSeconds } from "./processes.ts";
import type { Result, Run } from "./report.ts";

/** The conditions of a contest. */
export interface Rules {
  cluster: Cluster;
  /** A connection to the database, without the contestants. */
  sql: postgres.Sql;
  rounds: number;
  seconds: number;
  seed: number;
}

/**
 * Measures the contestants in turn, for several rounds, so that other load on the
 * machine affects all of them. The ratio of each is its rate divided by that of
 * the last one in the same round.
 */
export async function compete(
  scenario: string,
  contestants: Contestant[],
  { cluster, sql, rounds, seconds, seed }: Rules,
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

/** Runs the load, and divides its CPU time by the number of requests. */
async function measured(
  cluster: Cluster,
  { pid, run }: Contestant,
  how: { seconds: number; seed: number },
): Promise<Omit<Run, "ratio">> {
  const before = [cpuSeconds(pid), cpuSeconds(cluster.pid)];
  const { requests, ...load } = await run(how);
  const after = [cpuSeconds(pid), cpuSeconds(cluster.pid)];
  const [serverCpu, databaseCpu] = after.map((seconds, i) =>
    seconds === undefined ? undefined : (seconds - before[i]!) / requests
  );
  return { ...load, serverCpu, databaseCpu };
}
