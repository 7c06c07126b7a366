import { median } from "./load.ts";

/** One run of one contestant; CPU in seconds for each request, undefined where there is none to be seen. */
export interface Run {
  rate: number;
  p50: number;
  p99: number;
  serverCpu: number | undefined;
  databaseCpu: number | undefined;
  /** Its rate over that of the same statements without a service, in the same round. */
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
  "what",
  "who",
  "clients",
  "per second",
  "ratio",
  "p50 ms",
  "p99 ms",
  "CPU us: service",
  "PostgreSQL",
];

/** The results as a Markdown table: of each figure the median of its rounds. */
export function tableOf(results: Result[]): string {
  const rows = results.map(({ scenario, clients, contestant, runs }) => {
    const of = (figure: keyof Run, digits: number, unit = 1) => {
      const values = runs.map((run) => run[figure]).filter((value) =>
        value !== undefined
      );
      return values.length > 0 ? (median(values) * unit).toFixed(digits) : "";
    };
    return [
      scenario,
      contestant,
      String(clients),
      of("rate", 0),
      of("ratio", 2),
      of("p50", 1),
      of("p99", 1),
      of("serverCpu", 0, 1e6),
      of("databaseCpu", 0, 1e6),
    ];
  });
  return markdown(HEAD, 2, rows);
}

/** Single figures as a Markdown table, by what they are of. */
export function linesOf(figures: Record<string, string>): string {
  return markdown(["what", "figure"], 1, Object.entries(figures));
}

/** A table whose first `named` columns are text, the others figures. */
function markdown(head: string[], named: number, rows: string[][]): string {
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
