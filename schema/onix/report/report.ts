/** A sentence about a record, an element or a value in it. */
export interface Message {
  severity: "error" | "warning";
  code: string;
  /** The path in reference names, such as `/Product/DescriptiveDetail/Subject[2]/SubjectCode`. */
  path: string;
  value: string | null;
  message: string;
}

export const OUTCOMES = [
  "created",
  "updated",
  "unchanged",
  "deleted",
  "rejected",
] as const;

/** What became of a record. */
export interface Outcome {
  record_reference: string | null;
  line: number;
  /** The id of its product, if it has one. */
  id: string | null;
  outcome: typeof OUTCOMES[number];
  messages: Message[];
}

/** How many records have something at a path without positions, such as `/Product/Barcode/BarcodeType`. */
export interface Paths {
  path: string;
  records: number;
}

/** What became of a message. */
export interface Report {
  records: number;
  created: number;
  updated: number;
  unchanged: number;
  deleted: number;
  rejected: number;
  warnings: number;
  dry_run: boolean;
  outcomes: Outcome[];
  more: number;
  unmapped: Paths[];
  not_sent: Paths[];
}

/** The maximum number of outcomes in a report. */
const MAX_OUTCOMES = 10_000;

/** Counts the outcomes of a message's records. */
export class Tally {
  #dryRun: boolean;
  #counts = { created: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 };
  #records = 0;
  #warnings = 0;
  #outcomes: Outcome[] = [];
  #more = 0;
  #unmapped = new Map<string, number>();
  #notSent = new Map<string, number>();

  constructor(dryRun: boolean) {
    this.#dryRun = dryRun;
  }

  /** Adds a record, with the paths that are kept in the record alone, and those that will not be sent. */
  add(
    outcome: Outcome,
    unmapped: Iterable<string> = [],
    notSent: Iterable<string> = [],
  ): void {
    this.#records++;
    this.#counts[outcome.outcome]++;
    this.#warnings +=
      outcome.messages.filter(({ severity }) => severity === "warning").length;
    count(this.#unmapped, unmapped);
    count(this.#notSent, notSent);
    if (outcome.outcome === "unchanged" && outcome.messages.length === 0) {
      return;
    }
    if (this.#outcomes.length < MAX_OUTCOMES) this.#outcomes.push(outcome);
    else this.#more++;
  }

  /** The report so far. */
  report(): Report {
    return {
      records: this.#records,
      ...this.#counts,
      warnings: this.#warnings,
      dry_run: this.#dryRun,
      outcomes: this.#outcomes,
      more: this.#more,
      unmapped: inOrder(this.#unmapped),
      not_sent: inOrder(this.#notSent),
    };
  }
}

function count(paths: Map<string, number>, found: Iterable<string>): void {
  for (const path of new Set(found)) {
    paths.set(path, (paths.get(path) ?? 0) + 1);
  }
}

function inOrder(paths: Map<string, number>): Paths[] {
  return [...paths].map(([path, records]) => ({ path, records }))
    .sort((a, b) => b.records - a.records || (a.path < b.path ? -1 : 1));
}
