import type { Load } from "../faults/load.ts";

/** The figures of a run without lost writes. A lost write throws. */
export interface Figures {
  faults: number;
  requests: number;
  failed: number;
  acknowledged: number;
  /** Stored writes that were not acknowledged. */
  unacknowledged: number;
  slowestMs: number;
}

/** The figures of a stopped load. Throws unless every acknowledged write is stored. */
export async function figuresOf(load: Load, faults: number): Promise<Figures> {
  const unacknowledged = await load.verify();
  const counts = Object.entries(load.responses);
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

/** The columns of the table. */
export const HEAD = `| ${
  [
    "Run",
    "Duration",
    "Faults",
    "Requests",
    "Failed",
    "Acknowledged writes",
    "Lost",
    "Stored without acknowledgement",
    "Slowest response",
  ].join(" | ")
} |\n|${" --- |".repeat(9)}`;
