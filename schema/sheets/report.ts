import * as v from "valibot";
import { Count, described } from "../values.ts";

/* The report on an imported sheet. */

/** A sentence about a row or one of its cells. */
export const SheetMessage = v.object({
  severity: described(
    "An error keeps its row from being written.",
    v.picklist(["error", "warning"]),
  ),
  column: described(
    "The column, or null if the message is about the row.",
    v.nullable(v.string()),
  ),
  code: described("The kind of message, for machines.", v.string()),
  message: described("What is wrong, for people.", v.string()),
  value: described("The cell as it was sent.", v.nullable(v.string())),
});

export type SheetMessage = v.InferOutput<typeof SheetMessage>;

/** What a row changes in one place. */
export const CellChange = v.object({
  column: described("The column.", v.string()),
  from: described("The value before.", v.unknown()),
  to: described("The value of the cell.", v.unknown()),
});

export type CellChange = v.InferOutput<typeof CellChange>;

export const SHEET_OUTCOMES = ["created", "updated", "unchanged", "stale", "refused"] as const;

/** What became of a row. */
export const RowOutcome = v.object({
  line: described("The line of the file on which the row begins.", Count),
  id: described(
    "The id of its product, or null if it has none. A dry run creates none.",
    v.nullable(v.pipe(v.string(), v.uuid())),
  ),
  isbn13: described("The ISBN-13.", v.nullable(v.string())),
  outcome: described(
    "What became of the row. An unchanged, stale or refused row has written nothing.",
    v.picklist(SHEET_OUTCOMES),
  ),
  changes: described("What it changes.", v.array(CellChange)),
  messages: described("The errors and warnings about it.", v.array(SheetMessage)),
});

export type RowOutcome = v.InferOutput<typeof RowOutcome>;

export const SheetReport = v.object({
  rows: described("The number of rows.", Count),
  created: described("The rows that have created a product.", Count),
  updated: described("The rows that have changed their product.", Count),
  unchanged: described("The rows that have changed nothing.", Count),
  stale: described("The rows whose product is newer than the sheet.", Count),
  refused: described("The rows at fault.", Count),
  skipped: described("The blank lines.", Count),
  warnings: described("The number of warnings.", Count),
  dry_run: described("Whether nothing was written.", v.boolean()),
  ignored_columns: described(
    "The columns that are not read: bodies cannot have them, or another column says the same.",
    v.array(v.string()),
  ),
  outcomes: described(
    "The rows that are not `unchanged`, and those that are but have a message: at most 1,000, and about 8 MiB, refused ones first.",
    v.array(RowOutcome),
  ),
  more_outcomes: described("The number of outcomes that are left out.", Count),
});

export type SheetReport = v.InferOutput<typeof SheetReport>;

const MAX_ROW_OUTCOMES = 1_000;

/** The most characters of outcomes: what a row changes may be long. */
const MAX_OUTCOMES_LENGTH = 4 * 2 ** 20;

/** The first outcomes, as many as have room. */
class KeptOutcomes {
  readonly outcomes: RowOutcome[] = [];
  #room = MAX_OUTCOMES_LENGTH;

  add(one: RowOutcome): void {
    if (this.outcomes.length === MAX_ROW_OUTCOMES) return;
    const { length } = JSON.stringify(one);
    if (length > this.#room) return;
    this.#room -= length;
    this.outcomes.push(one);
  }
}

/** Counts what became of the rows. If there are many outcomes, it keeps those of refused rows. */
export class SheetTally {
  /** What is wrong with each row that is not written, by its line. */
  readonly errors = new Map<number, string>();
  readonly #counts: Omit<SheetReport, "outcomes" | "more_outcomes">;
  readonly #refused = new KeptOutcomes();
  readonly #others = new KeptOutcomes();
  #total = 0;

  constructor(dry_run: boolean, ignored_columns: string[], skipped: number) {
    const none = { created: 0, updated: 0, unchanged: 0, stale: 0, refused: 0 };
    this.#counts = { rows: 0, ...none, skipped, warnings: 0, dry_run, ignored_columns };
  }

  get rows(): number {
    return this.#counts.rows;
  }

  add(one: RowOutcome): void {
    const { line, outcome, messages } = one;
    const counts = this.#counts;
    counts.rows++;
    counts[outcome]++;
    counts.warnings += messages.filter(({ severity }) => severity === "warning").length;
    if (outcome === "refused" || outcome === "stale") {
      const sentences = messages.map(({ column, message }) =>
        column ? `${column}: ${message}` : message
      );
      this.errors.set(line, sentences.join("; ").slice(0, 500));
    }
    if (outcome === "unchanged" && messages.length === 0) return;
    this.#total++;
    (outcome === "refused" ? this.#refused : this.#others).add(one);
  }

  report(): SheetReport {
    const kept = [...this.#refused.outcomes, ...this.#others.outcomes];
    const outcomes = kept.slice(0, MAX_ROW_OUTCOMES).toSorted((a, b) => a.line - b.line);
    return { ...this.#counts, outcomes, more_outcomes: this.#total - outcomes.length };
  }
}
