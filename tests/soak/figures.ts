import type { Load } from "../faults/load.ts";

/** What came of a run in which nothing was lost: one that loses something throws. */
export interface Figures {
  faults: number;
  requests: number;
  failed: number;
  acknowledged: number;
  /** Stored writes that were not acknowledged. */
  unacknowledged: number;
  slowestMs: number;
}

/** The figures of a load that has stopped, once all that it was told is found stored. */
export async function figuresOf(load: Load, faults: number): Promise<Figures> {
  const unacknowledged = await load.verify();
  const counts = Object.entries(load.answers);
  const sum = (some: [string, number][]) =>
    some.reduce((total, [, count]) => total + count, 0);
  return {
    faults,
    requests: sum(counts),
    failed: sum(counts.filter(([status]) => /^[05]/.test(status))),
    acknowledged: load.acknowledged,
    unacknowledged,
    slowestMs: Math.round(load.slowestMs),
  };
}

/** The figures as rows of a table. */
export function rowOf(name: string, seconds: number, figures: Figures): string {
  const { faults, requests, failed, acknowledged, unacknowledged, slowestMs } =
    figures;
  return `| ${
    [
      name,
      `${Math.round(seconds)} s`,
      faults,
      requests,
      failed,
      acknowledged,
      0,
      unacknowledged,
      `${slowestMs} ms`,
    ].join(" | ")
  } |`;
}

/** What the columns of such a table are. */
export const HEAD = `| ${
  [
    "Run",
    "Took",
    "Faults",
    "Requests",
    "Failed",
    "Acknowledged writes",
    "Of them lost",
    "Stored, not acknowledged",
    "Slowest",
  ].join(" | ")
} |\n|${" --- |".repeat(9)}`;
