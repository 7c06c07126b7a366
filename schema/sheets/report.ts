/** A sentence about a row or one of its cells. */
export interface SheetMessage {
  severity: "error" | "warning";
  column: string | null;
  code: string;
  message: string;
  value: string | null;
}

export const SHEET_OUTCOMES = [
  "created",
  "updated",
  "unchanged",
  "stale",
  "refused",
] as const;

/** What a row changes in one place. */
export interface CellChange {
  column: string;
  from: unknown;
  to: unknown;
}

/** What became of a row. */
export interface RowOutcome {
  line: number;
  id: string | null;
  isbn13: string | null;
  outcome: typeof SHEET_OUTCOMES[number];
  changes: CellChange[];
  messages: SheetMessage[];
}

export interface SheetReport
  extends Record<typeof SHEET_OUTCOMES[number], number> {
  rows: number;
  skipped: number;
  warnings: number;
  dry_run: boolean;
  ignored_columns: string[];
  outcomes: RowOutcome[];
  more_outcomes: number;
}

const MAX_OUTCOMES = 1_000;

/** Counts what became of the rows. Of many outcomes, those of refused rows are kept. */
export class SheetTally {
  readonly #report: SheetReport;
  readonly #refused: RowOutcome[] = [];
  readonly #others: RowOutcome[] = [];

  constructor(dry_run: boolean, ignored_columns: string[], skipped: number) {
    this.#report = {
      rows: 0,
      created: 0,
      updated: 0,
      unchanged: 0,
      stale: 0,
      refused: 0,
      skipped,
      warnings: 0,
      dry_run,
      ignored_columns,
      outcomes: [],
      more_outcomes: 0,
    };
  }

  add(one: RowOutcome): void {
    const report = this.#report;
    report.rows++;
    report[one.outcome]++;
    report.warnings +=
      one.messages.filter(({ severity }) => severity === "warning").length;
    if (one.outcome === "unchanged" && one.messages.length === 0) return;
    const kept = one.outcome === "refused" ? this.#refused : this.#others;
    if (kept.length < MAX_OUTCOMES) kept.push(one);
    else report.more_outcomes++;
  }

  report(): SheetReport {
    const told = [...this.#refused, ...this.#others].slice(0, MAX_OUTCOMES);
    const more = this.#refused.length + this.#others.length - told.length;
    return {
      ...this.#report,
      outcomes: told.toSorted((a, b) => a.line - b.line),
      more_outcomes: this.#report.more_outcomes + more,
    };
  }
}
