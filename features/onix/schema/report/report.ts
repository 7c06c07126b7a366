import { MAX_PATHS, NO_PATHS, type Paths } from "../xml/paths.ts";
import { MAX_RECORD_MESSAGES, type Message } from "./message.ts";

/*
 * The report of an import. In: the outcome of each record. Out: counts, outcomes up to a limit, and
 * the paths of elements without a field.
 */

export const OUTCOMES = [
  "created",
  "updated",
  "unchanged",
  "deleted",
  "rejected",
] as const;

/** The outcome of a record. */
export interface Outcome {
  record_reference: string | null;
  line: number;
  /** The id of its product, if it has one. */
  id: string | null;
  outcome: typeof OUTCOMES[number];
  messages: Message[];
}

/**
 * The number of records with content at a path without positions, such as
 * `/Product/Barcode/BarcodeType`.
 */
export interface Counted {
  path: string;
  records: number;
}

/** The report on a message. */
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
  /** The number of outcomes, messages and paths that are left out. */
  more: number;
  more_messages: number;
  more_paths: number;
  unmapped: Counted[];
  not_sent: Counted[];
}

/** The maximum numbers of outcomes and of their messages in a report. */
const MAX_OUTCOMES = 10_000;
const MAX_MESSAGES = 20_000;

/** The parts of a record that have no field, are not sent, or are not in the report. */
export interface LeftOut {
  /** Content without a field, which is kept in the record. */
  unmapped?: Paths | undefined;
  /** Content that is not sent. */
  notSent?: Paths | undefined;
  /** The number of warnings that are left out of its outcome. */
  moreMessages?: number | undefined;
}

/** Counts the outcomes of a message's records. */
export class ReportTally {
  #dryRun: boolean;
  #counts = { created: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 };
  #records = 0;
  #warnings = 0;
  #warned = 0;
  #outcomes: Outcome[] = [];
  #more = 0;
  #messages = 0;
  #moreMessages = 0;
  #morePaths = 0;
  #unmapped = new Map<string, number>();
  #notSent = new Map<string, number>();

  constructor(dryRun: boolean) {
    this.#dryRun = dryRun;
  }

  /** Adds a record. */
  add(
    outcome: Outcome,
    { unmapped, notSent, moreMessages = 0 }: LeftOut = {},
  ): void {
    const { messages } = outcome;
    this.#records++;
    this.#counts[outcome.outcome]++;
    this.#warnings += moreMessages +
      messages.filter(({ severity }) => severity === "warning").length;
    if (outcome.outcome !== "rejected" && messages.length > 0) this.#warned++;
    this.#moreMessages += moreMessages;
    this.#count(this.#unmapped, unmapped);
    this.#count(this.#notSent, notSent);
    if (outcome.outcome === "unchanged" && messages.length === 0) return;
    if (this.#outcomes.length === MAX_OUTCOMES) {
      this.#more++;
      this.#moreMessages += messages.length;
      return;
    }
    const room = Math.min(MAX_RECORD_MESSAGES, MAX_MESSAGES - this.#messages);
    // Errors come first, since they reject the record.
    const shown = messages.length > room ? messages.toSorted(errorsFirst).slice(0, room) : messages;
    this.#messages += shown.length;
    this.#moreMessages += messages.length - shown.length;
    this.#outcomes.push({ ...outcome, messages: shown });
  }

  /**
   * The number of records with warnings that are not rejected. The report may list only some of
   * them.
   */
  get warned(): number {
    return this.#warned;
  }

  /** The report so far. */
  report(): Report {
    return {
      records: this.#records,
      ...this.#counts,
      warnings: this.#warnings,
      dry_run: this.#dryRun,
      outcomes: this.#outcomes.toSorted((a, b) => a.line - b.line),
      more: this.#more,
      more_messages: this.#moreMessages,
      more_paths: this.#morePaths,
      unmapped: mostFrequentFirst(this.#unmapped),
      not_sent: mostFrequentFirst(this.#notSent),
    };
  }

  #count(counts: Map<string, number>, { paths, more } = NO_PATHS): void {
    this.#morePaths += more;
    for (const path of paths) {
      const known = counts.get(path);
      if (known === undefined && counts.size === MAX_PATHS) this.#morePaths++;
      else counts.set(path, (known ?? 0) + 1);
    }
  }
}

function errorsFirst(a: Message, b: Message): number {
  return Number(b.severity === "error") - Number(a.severity === "error");
}

function mostFrequentFirst(counts: Map<string, number>): Counted[] {
  return [...counts].map(([path, records]) => ({ path, records }))
    .sort((a, b) => b.records - a.records || (a.path < b.path ? -1 : 1));
}
