import * as v from "valibot";
import { excerpt } from "../../../schema/excerpt.ts";
import { KeptOutcomes, MAX_OUTCOMES } from "../../../schema/kept_outcomes.ts";
import { Count, described } from "../../../schema/values.ts";

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

/** A sentence about the whole file. */
export const FileMessage = v.object({
  severity: described("Whether it is a fault.", v.picklist(["warning"])),
  code: described("The kind of message, for machines.", v.string()),
  message: described("The message, for people.", v.string()),
});

export type FileMessage = v.InferOutput<typeof FileMessage>;

/** The change of one value by a row. */
export const CellChange = v.object({
  column: described("The column.", v.string()),
  from: described("The value before.", v.unknown()),
  to: described("The value of the cell.", v.unknown()),
});

export type CellChange = v.InferOutput<typeof CellChange>;

export const SHEET_OUTCOMES = ["created", "updated", "unchanged", "stale", "refused"] as const;

/** The outcome of a row. */
export const RowOutcome = v.object({
  line: described("The line of the file on which the row begins.", Count),
  id: described(
    "The id of its product, or null if it has none. A dry run creates none.",
    v.nullable(v.pipe(v.string(), v.uuid())),
  ),
  isbn13: described("The ISBN-13.", v.nullable(v.string())),
  outcome: described(
    "The outcome of the row. An unchanged, stale or refused row has written nothing.",
    v.picklist(SHEET_OUTCOMES),
  ),
  changes: described("What it changes.", v.array(CellChange)),
  messages: described("The errors and warnings about it: at most 100.", v.array(SheetMessage)),
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
    "The columns that are not read, because bodies cannot have them, or another column has the same value.",
    v.array(v.string()),
  ),
  messages: described(
    "Messages about the full file, such as sheets that were not read.",
    v.array(FileMessage),
  ),
  outcomes: described(
    "The rows that are not `unchanged`, and those that are but have a message: at most 1,000, and about 8 MiB, refused ones first.",
    v.array(RowOutcome),
  ),
  more_outcomes: described("The number of outcomes that are left out.", Count),
});

export type SheetReport = v.InferOutput<typeof SheetReport>;

/** The most characters of a cell in the report. */
export const MAX_VALUE = 200;

/** The most characters of the column `error` in a sheet of refused rows. */
const MAX_ERROR = 500;

/** The most characters of all different errors. */
const MAX_ALL_ERRORS = 8 * 2 ** 20;

/** The error of rows beyond that. */
const ANOTHER_ERROR = "This row is not written either: send it again to learn why";

/**
 * The errors of refused and stale rows, by index. A sheet may have a million: equal errors are
 * stored once, and a row takes four bytes.
 */
export class RowErrors {
  readonly #texts = ["", ANOTHER_ERROR];
  /** The indexes of the texts. */
  readonly #known = new Map<string, number>();
  #room = MAX_ALL_ERRORS;
  /** The index of the text of each row, 0 for none. */
  #ofRows = new Uint32Array(1_024);

  add(row: number, messages: readonly SheetMessage[]): void {
    if (row >= this.#ofRows.length) {
      const longer = new Uint32Array(2 * Math.max(row, this.#ofRows.length));
      longer.set(this.#ofRows);
      this.#ofRows = longer;
    }
    this.#ofRows[row] = this.#indexOf(errorOf(messages));
  }

  of(row: number): string | undefined {
    return this.#texts[this.#ofRows[row] ?? 0] || undefined;
  }

  #indexOf(text: string): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (text.length > this.#room) return 1;
    this.#room -= text.length;
    this.#known.set(text, this.#texts.length);
    return this.#texts.push(text) - 1;
  }
}

/** Joins the errors of a row for one cell. */
function errorOf(messages: readonly SheetMessage[]): string {
  let text = "";
  for (const { column, message } of messages) {
    text += `${text && "; "}${column ? `${column}: ` : ""}${message}`;
    if (text.length >= MAX_ERROR) break;
  }
  return excerpt(text, MAX_ERROR);
}

/** Counts the outcomes of rows. If there are many, it keeps those of refused rows. */
export class SheetTally {
  readonly errors = new RowErrors();
  readonly #counts: Omit<SheetReport, "outcomes" | "more_outcomes">;
  readonly #refused = new KeptOutcomes<RowOutcome>();
  readonly #others = new KeptOutcomes<RowOutcome>();
  #total = 0;

  constructor(
    { dry_run, ignored_columns, skipped, messages }: Pick<
      SheetReport,
      "dry_run" | "ignored_columns" | "skipped" | "messages"
    >,
  ) {
    const none = { created: 0, updated: 0, unchanged: 0, stale: 0, refused: 0 };
    const warnings = messages.length;
    this.#counts = { rows: 0, ...none, skipped, warnings, dry_run, ignored_columns, messages };
  }

  get rows(): number {
    return this.#counts.rows;
  }

  /** Counts a row, by its index in the sheet. */
  add(row: number, one: RowOutcome): void {
    const { outcome, messages } = one;
    const counts = this.#counts;
    counts.rows++;
    counts[outcome]++;
    counts.warnings += messages.filter(({ severity }) => severity === "warning").length;
    if (outcome === "refused" || outcome === "stale") this.errors.add(row, messages);
    if (outcome === "unchanged" && messages.length === 0) return;
    this.#total++;
    const kept = outcome === "refused" ? this.#refused : this.#others;
    if (!kept.isFull) kept.add(one, JSON.stringify(one).length);
  }

  report(): SheetReport {
    const kept = [...this.#refused.outcomes, ...this.#others.outcomes];
    const outcomes = kept.slice(0, MAX_OUTCOMES).toSorted((a, b) => a.line - b.line);
    return { ...this.#counts, outcomes, more_outcomes: this.#total - outcomes.length };
  }
}
