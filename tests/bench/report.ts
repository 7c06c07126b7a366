/** One run of one contestant, with CPU seconds per request. Undefined if unknown. */
export interface Run {
  rate: number;
  p50?: number;
  p99?: number;
  max?: number;
  serviceCpu: number | undefined;
  databaseCpu: number | undefined;
  /** The rate divided by that of the last contestant in the same round. */
  ratio: number;
}

/** The runs of a contestant in all rounds of a scenario. */
export interface Result {
  scenario: string;
  clients: number;
  contestant: string;
  runs: Run[];
}

/** The columns, with their widths. The first two are text, the others figures. */
const COLUMNS = {
  "scenario": 34,
  "contestant": 18,
  "clients": 7,
  "per second": 10,
  "ratio": 5,
  "p50 ms": 7,
  "p99 ms": 7,
  "max ms": 7,
  "CPU us: service": 15,
  "PostgreSQL": 10,
};

/** The head of the table of results (Markdown). */
export function headRows(): string {
  const names = Object.keys(COLUMNS);
  const rule = Object.values(COLUMNS).map((width, i) =>
    i < 2 ? "-".repeat(width) : "-".repeat(width - 1) + ":"
  );
  return `${line(names)}\n${line(rule)}`;
}

/** A row of the table, with the medians of the rounds. */
export function bodyRow(
  { scenario, contestant, clients, runs }: Result,
): string {
  const of = (
    figure: (run: Run) => number | undefined,
    digits: number,
    unit = 1,
  ) => {
    const values = runs.map(figure).filter((value) => value !== undefined);
    return values.length > 0 ? (median(values) * unit).toFixed(digits) : "";
  };
  return line([
    scenario,
    contestant,
    String(clients),
    of(({ rate }) => rate, 0),
    of(({ ratio }) => ratio, 2),
    of(({ p50 }) => p50, 1),
    of(({ p99 }) => p99, 1),
    of(({ max }) => max, 0),
    of(({ serviceCpu }) => serviceCpu, 0, 1e6),
    of(({ databaseCpu }) => databaseCpu, 0, 1e6),
  ]);
}

/** A table of sizes in MB, with the ratio of the first to the second. */
export function sizesTable(
  names: string[],
  sizes: Record<string, number[]>,
): string {
  const ratio = ([first, second]: number[]) =>
    second === undefined ? "" : (first! / second).toFixed(2);
  const rows = Object.entries(sizes).map(([what, figures]) => [
    what,
    ...figures.map((figure) => figure.toFixed(0)),
    ratio(figures),
  ]);
  const head = ["MB", ...names, names.length > 1 ? "ratio" : ""];
  const rule = head.map((_, i) => i === 0 ? "---" : "--:");
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function line(cells: string[]): string {
  const widths = Object.values(COLUMNS);
  const padded = cells.map((cell, i) =>
    i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)
  );
  return `| ${padded.join(" | ")} |`;
}
