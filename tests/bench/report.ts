import { median } from "./load.ts";

/** One run of one contestant, with CPU seconds and bytes of WAL per request. Undefined if unknown. */
export interface Run {
  rate: number;
  p50: number;
  p99: number;
  serverCpu: number | undefined;
  databaseCpu: number | undefined;
  wal: number | undefined;
  /** The share of updates of products that wrote no index (HOT). */
  hotShare: number | undefined;
  /** The rate divided by that of the reference contestant in the same round. */
  ratio: number;
}

/** The runs of a contestant in all rounds of a scenario. */
export interface Result {
  scenario: string;
  clients: number;
  contestant: string;
  runs: Run[];
}

const HEAD = [
  "scenario",
  "contestant",
  "clients",
  "per second",
  "ratio",
  "p50 ms",
  "p99 ms",
  "p99 / p50",
  "CPU us: service",
  "PostgreSQL",
  "WAL KB",
  "HOT %",
];

/** The results as a Markdown table, with the medians of the rounds. */
export function tableOf(results: Result[]): string {
  const rows = results.map(({ scenario, clients, contestant, runs }) => {
    const of = (
      figure: (run: Run) => number | undefined,
      digits: number,
      unit = 1,
    ) => {
      const values = runs.map(figure).filter((value) => value !== undefined);
      return values.length > 0 ? (median(values) * unit).toFixed(digits) : "";
    };
    return [
      scenario,
      contestant,
      String(clients),
      of(({ rate }) => rate, 0),
      of(({ ratio }) => ratio, 2),
      of(({ p50 }) => p50, 1),
      of(({ p99 }) => p99, 1),
      of(({ p50, p99 }) => p99 / p50, 1),
      of(({ serverCpu }) => serverCpu, 0, 1e6),
      of(({ databaseCpu }) => databaseCpu, 0, 1e6),
      of(({ wal }) => wal, 1, 1 / 1024),
      of(({ hotShare }) => hotShare, 0, 100),
    ];
  });
  return markdown(HEAD, 2, rows);
}

/** The median ratio of two contestants' rates in the same rounds. */
export function rateOver(
  results: Result[],
  scenario: string,
  [contestant, other]: [string, string],
): number {
  const runsOf = (name: string) =>
    results.find((result) =>
      result.scenario === scenario && result.contestant === name
    )!.runs;
  const others = runsOf(other);
  return median(
    runsOf(contestant).map(({ rate }, round) => rate / others[round]!.rate),
  );
}

/** A Markdown table. The first `named` columns are text, the others figures. */
export function markdown(
  head: string[],
  named: number,
  rows: string[][],
): string {
  const widths = head.map((head, i) =>
    Math.max(head.length, ...rows.map((row) => row[i]!.length))
  );
  const line = (cells: string[]) =>
    `| ${
      cells.map((cell, i) =>
        i < named ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)
      ).join(" | ")
    } |`;
  const rule = widths.map((width, i) =>
    i < named ? "-".repeat(width) : "-".repeat(width - 1) + ":"
  );
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}
