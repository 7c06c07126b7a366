import { MAX_REFERENCE } from "../../schema/doors/incoming.ts";
import type { LeftOut, Outcome } from "../../schema/report/report.ts";
import { isTest } from "../../schema/rules/notifications.ts";
import type { Element } from "../../schema/xml/element.ts";
import type { ProductPart, Unreadable } from "../../schema/xml/read.ts";
import { copied, excerpt } from "../../../../schema/excerpt.ts";
import type { Queries } from "../../../../db/database.ts";
import { type IncomingRecord, incomingRecordOf } from "./incoming_record.ts";
import { findCachedAnalyses } from "./cached_analyses.ts";
import { type GroupSettings, importGroup } from "./group.ts";
import { analyse, AnalysedRecord, type CachedAnalyses } from "./analysed_record.ts";
import type { MessageBooks } from "./message_books.ts";
import { fault, referenceOfAnother } from "./record_messages.ts";
import type { Pace } from "../../../../schema/turns.ts";

/*
 * A group of records that are read and written together, with a bounded number, size and age. In:
 * records as they arrive. Out: the outcome of each, in their order.
 */

/** The maximum number of records in a group, which is written in one transaction. */
const MAX_RECORDS = 100;

/** The maximum number of characters in a group. */
const MAX_GROUP_LENGTH = 1_000_000;

/**
 * The number of contributors at which a group ends. A new one costs up to a millisecond, and the
 * transaction has a time limit.
 */
const MAX_CONTRIBUTORS = 2_500;

/** A group of a message that arrives slowly is written after this time. */
const MAX_GROUP_AGE_MS = 1_000;

/** The counts of a record for the report. */
interface Result extends LeftOut {
  outcome: Outcome;
}

/** Records that are written together. They are added, read, written, and then have results. */
export class RecordGroup {
  /** Records that wait to be read together, so that their stored data is looked up at once. */
  #unread: (IncomingRecord | Unreadable)[] = [];
  /** Records that were read: to be written, or already rejected. */
  readonly #entries: (AnalysedRecord | Result)[] = [];
  #length = 0;
  #contributors = 0;
  #started = 0;
  #outcomes = new Map<AnalysedRecord, Outcome>();
  readonly #books: MessageBooks;

  constructor(books: MessageBooks) {
    this.#books = books;
  }

  get isFull(): boolean {
    return this.#unread.length + this.#entries.length >= MAX_RECORDS ||
      this.#length >= MAX_GROUP_LENGTH || this.#contributors >= MAX_CONTRIBUTORS;
  }

  get isOld(): boolean {
    return performance.now() > this.#started + MAX_GROUP_AGE_MS;
  }

  /** Adds a record of a message with this header. */
  add(part: ProductPart | Unreadable, header: Element): void {
    this.#started ||= performance.now();
    const one = part.kind === "product" ? incomingRecordOf(part.product, header) : part;
    if (one.kind === "incoming") this.#count(one);
    this.#unread.push(one);
  }

  #count({ length, contributors }: IncomingRecord): void {
    this.#length += length;
    this.#contributors += contributors;
  }

  /** Reads the records that were added. */
  async read(queries: () => Queries, pace: Pace): Promise<void> {
    const unread = this.#unread.filter((one) => one.kind === "incoming");
    const cached = await findCachedAnalyses(queries(), unread);
    for (const one of this.#unread) {
      await pace();
      if (one.kind === "incoming") this.#read(one, cached);
      else {
        const { reference, line, code, message } = one;
        this.#entries.push(rejected(reference, line, [fault(code, message)]));
      }
    }
    this.#unread = [];
  }

  #read(incomingRecord: IncomingRecord, cached: CachedAnalyses): void {
    const analysed = analyse(incomingRecord, cached);
    if (!(analysed instanceof AnalysedRecord)) {
      const { reference, line, messages, moreMessages } = analysed;
      this.#entries.push(rejected(reference, line, messages, moreMessages));
    } else if (this.#books.isOfAnotherBook(analysed)) {
      const { reference, messages, moreMessages } = analysed.analysis;
      const all = [...messages, referenceOfAnother(reference)];
      this.#entries.push(rejected(reference, incomingRecord.line, all, moreMessages));
    } else {
      analysed.rival = this.#books.addAndFindRival(analysed);
      this.#entries.push(analysed);
    }
  }

  /** Adds a record that has been read. */
  addRead(analysed: AnalysedRecord): void {
    this.#entries.push(analysed);
    this.#count(analysed.incomingRecord);
  }

  /** Whether a record has this reference. */
  has(reference: string): boolean {
    return this.#entries.some((entry) =>
      entry instanceof AnalysedRecord && entry.analysis.reference === reference
    );
  }

  /**
   * Writes the records. Those whose product depends on the rest of the message go to the waiting
   * group, if there is one.
   */
  async write(
    queries: () => Queries,
    options: GroupSettings,
    waiting?: RecordGroup,
  ): Promise<void> {
    // Records with one reference keep their order: those after one that waits wait, too.
    const records = this.#entries.filter((entry) => entry instanceof AnalysedRecord)
      .filter(({ analysis }) => !waiting?.has(analysis.reference));
    // Tests are run like the others, and write nothing.
    for (const areTests of [false, true]) {
      const group = records.filter(({ analysis: { notification } }) =>
        isTest(notification) === areTests
      );
      if (group.length === 0) continue;
      const dryRun = areTests || options.dryRun;
      const outcomes = await importGroup(queries, group, {
        ...options,
        dryRun,
        books: this.#books,
        mayWait: waiting !== undefined,
      });
      for (const [analysed, outcome] of outcomes) this.#outcomes.set(analysed, outcome);
    }
    for (const entry of this.#entries) {
      if (entry instanceof AnalysedRecord && !this.#outcomes.has(entry)) waiting?.addRead(entry);
    }
  }

  /** The outcomes of the records that do not wait, in their order. */
  *results(): Generator<Result> {
    for (const entry of this.#entries) {
      if (!(entry instanceof AnalysedRecord)) {
        yield entry;
        continue;
      }
      const outcome = this.#outcomes.get(entry);
      if (!outcome) continue;
      const { unmapped, moreMessages, notSent } = entry.analysis;
      yield outcome.outcome === "rejected"
        ? { outcome, moreMessages }
        : { outcome, moreMessages, unmapped, notSent };
    }
  }
}

function rejected(
  reference: string | null,
  line: number,
  messages: Outcome["messages"],
  moreMessages = 0,
): Result {
  const record_reference = reference && excerpt(reference, MAX_REFERENCE);
  return {
    outcome: {
      record_reference,
      line,
      id: null,
      outcome: "rejected",
      messages: copied(messages),
    },
    moreMessages,
  };
}
