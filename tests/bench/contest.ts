import { pause } from "../../db/connections/deadline.ts";
import type { Program } from "./checkout.ts";
import { type Cluster, query } from "./cluster.ts";
import type { Data } from "./data.ts";
import { cpuSeconds } from "./processes.ts";
import type { Result, Run } from "./report.ts";

/** A program under load, and the data that it serves. */
export interface Contestant extends Program {
  data: Data;
}

/** The conditions of one run. */
export interface How {
  seconds: number;
  seed: number;
  /** The number of the round, from 0. */
  round: number;
}

/** The result of one run. Times are in milliseconds. */
export interface Load {
  /** What was done: requests, products or records. */
  count: number;
  /** How many a second. */
  rate: number;
  /** The times of requests. Absent if one request does all. */
  p50?: number;
  p99?: number;
  max?: number;
}

/** What contestants do in turn. */
export interface Scenario {
  name: string;
  /** The number of concurrent requests. */
  clients: number;
  /** Whether a command does it: its CPU time counts instead of the service's. */
  isCommand?: boolean;
  /** Whether a contestant takes part. Without it: all do. */
  isFor?(contestant: Contestant): boolean;
  /** Done once before the first round. */
  warmUp?(contestant: Contestant): Promise<void>;
  run(contestant: Contestant, how: How): Promise<Load>;
}

/**
 * Measures the contestants in turn, for several rounds, so that other load on the
 * machine affects all of them. Every second round goes the other way. The ratio of
 * each is its rate divided by that of the last contestant in the same round.
 */
export async function compete(
  scenario: Scenario,
  all: readonly Contestant[],
  { cluster, rounds, seconds, seed }: {
    cluster: Cluster;
    rounds: number;
    seconds: number;
    seed: number;
  },
): Promise<Result[]> {
  const contestants = all.filter((contestant) => scenario.isFor?.(contestant) ?? true);
  if (contestants.length === 0) return [];
  for (const contestant of contestants) await scenario.warmUp?.(contestant);
  const results = contestants.map(({ name }): Result => ({
    scenario: scenario.name,
    contestant: name,
    clients: scenario.clients,
    runs: [],
  }));
  for (let round = 0; round < rounds; round++) {
    const runs: Omit<Run, "ratio">[] = [];
    const order = contestants.map((contestant, i) => ({ contestant, i }));
    for (const { contestant, i } of round % 2 ? order.reverse() : order) {
      await quiet(cluster.url);
      const how = { seconds, seed: seed + round, round };
      runs[i] = await measured(cluster, scenario, contestant, how);
    }
    const reference = runs.at(-1)!.rate;
    for (const [i, run] of runs.entries()) {
      results[i]!.runs.push({ ...run, ratio: run.rate / reference });
    }
  }
  return results;
}

/** Waits until the database is idle. Statements of a slow peer can outlive its load. */
async function quiet(url: string): Promise<void> {
  for (let looks = 0; looks < 2; looks++) {
    const active = await query(
      url,
      `select from pg_stat_activity
      where backend_type = 'client backend' and state = 'active' and pid <> pg_backend_pid()`,
    );
    if (active.length > 0) looks = -1;
    await pause(10);
  }
}

/** Runs the scenario, and divides the CPU time by what was done. */
async function measured(
  cluster: Cluster,
  scenario: Scenario,
  contestant: Contestant,
  how: How,
): Promise<Omit<Run, "ratio">> {
  const pids = [scenario.isCommand ? Deno.pid : contestant.pid, cluster.pid];
  const before = pids.map(cpuSeconds);
  const { count, ...load } = await scenario.run(contestant, how);
  const [serviceCpu, databaseCpu] = pids.map((pid, i) => {
    const seconds = cpuSeconds(pid);
    return seconds === undefined ? undefined : (seconds - before[i]!) / count;
  });
  return { ...load, serviceCpu, databaseCpu };
}
