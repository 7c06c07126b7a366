import { isbnNumber } from "../../schema/isbn.ts";
import { MAX_REFERENCE } from "../../schema/onix/mapping/incoming.ts";
import type { Element } from "../../schema/onix/xml/element.ts";
import type { Part, ProductPart, Unreadable } from "../../schema/onix/xml/read.ts";
import {
  type Beside,
  type Outcome,
  type Report,
  ReportTally,
} from "../../schema/onix/report/report.ts";
import { XmlError } from "../../schema/onix/xml/xml_error.ts";
import type { Queries } from "../database.ts";
import { ImportEnded } from "../import_ended.ts";
import type { Numbers } from "./find.ts";
import { importGroup } from "./group.ts";
import { type Arrived, arrivedOf, Item, type Readings, readItem } from "./items.ts";
import type { PlanOptions } from "./plan.ts";
import { fault, referenceOfAnother } from "./record_messages.ts";
import { findReadings } from "./records.ts";

/** The maximum number of records in a group, which is written in one transaction. */
const MAX_RECORDS = 100;

/** The maximum number of characters in a group. */
const MAX_GROUP_LENGTH = 1_000_000;

/** A group of a message that arrives slowly is written after this time. */
const MAX_GROUP_AGE_MS = 1_000;

/** The maximum number of books of a message that are remembered. */
const MAX_BOOKS = 1_000_000;

/** Records with these types of notification are tests: they write nothing. */
const TESTS = ["88", "89"];

export interface ImportOptions extends PlanOptions {
  /** Does the same work as an import, and writes nothing. */
  dryRun: boolean;
  /** Awaited between the steps of the work, so that other requests run. May throw. */
  pace: () => Promise<void>;
  /** Awaited before a group is written. The result is disposed of afterwards. May throw. */
  admit?: () => Promise<Disposable>;
  /** Called after each group with the number of records so far. */
  progress?: (records: number) => void;
}

/**
 * Writes the records of a message group by group as they arrive. `queries` begins a new
 * time limit: each group has its own. Throws `ImportEnded`, after it has written the
 * records that precede a fault of the message.
 */
export async function importMessage(
  queries: () => Queries,
  message: AsyncIterable<Part>,
  options: ImportOptions,
): Promise<Report> {
  const { pace, admit, progress } = options;
  const tally = new ReportTally(options.dryRun);
  const books = new Books();
  let group = new RecordGroup(books);
  // The records that wait for the rest of the message.
  let waiting = new RecordGroup(books);
  let header: Element | undefined;
  let records = 0;
  let writing = Promise.resolve();

  /** Writes the group while the next one is read. */
  async function flush(): Promise<void> {
    await group.read(queries, pace);
    await writing;
    writing = write(group);
    // It is awaited before the next group is written.
    writing.catch(() => {});
    group = new RecordGroup(books);
  }

  async function write(group: RecordGroup): Promise<void> {
    await writeNow(group, waiting);
    if (waiting.isFull) await writeWaiting();
  }

  async function writeWaiting(): Promise<void> {
    const group = waiting;
    waiting = new RecordGroup(books);
    await writeNow(group);
  }

  async function writeNow(
    group: RecordGroup,
    waiting?: RecordGroup,
  ): Promise<void> {
    using _permit = await admit?.();
    await group.write(queries, options, waiting);
    // What is written is counted, whatever happens next.
    for (const { outcome, ...beside } of group.results()) {
      tally.add(outcome, beside);
      records++;
    }
    progress?.(records);
  }

  async function read(): Promise<void> {
    for await (const part of message) {
      if (part.kind === "header") {
        header = part.header;
        continue;
      }
      group.add(part, header!);
      if (group.isFull || group.isOld) await flush();
    }
  }

  try {
    // The records before a fault are written.
    const fault = await read().catch((error) => {
      if (error instanceof XmlError) return error;
      throw error;
    });
    await flush();
    await writing;
    await writeWaiting();
    if (fault) throw fault;
  } catch (error) {
    await writing.catch(() => {});
    throw new ImportEnded(tally.report(), error);
  }
  return tally.report();
}

/** What became of a record of a group. */
interface ImportedGroup extends Beside {
  outcome: Outcome;
}

/** The books of a message: their ISBNs, references and forms. */
class Books implements Numbers {
  readonly #references = new Map<string, string>();
  /** The latest ISBN and the first form of each reference. */
  readonly #books = new Map<string, { isbn: string; form: string | null }>();

  /** Adds the ISBN of a record. Returns the other reference under which an earlier record has it. */
  add({ gist }: Item): string | undefined {
    const isbn = isbnNumber(gist);
    const { reference, notification, form } = gist;
    if (isbn === null || notification === "05") return;
    const book = this.#books.get(reference);
    if (book) book.isbn = isbn;
    else if (this.#books.size < MAX_BOOKS) {
      this.#books.set(reference, { isbn, form });
    }
    const known = this.#references.get(isbn);
    if (known !== undefined) return known === reference ? undefined : known;
    if (this.#references.size < MAX_BOOKS) {
      this.#references.set(isbn, reference);
    }
  }

  /** Whether an earlier record with this reference has another ISBN and another form. */
  isAnother({ gist }: Item): boolean {
    const isbn = isbnNumber(gist);
    const { reference, notification, form } = gist;
    if (isbn === null || ["04", "05"].includes(notification)) return false;
    const known = this.#books.get(reference);
    return known !== undefined && known.isbn !== isbn && known.form !== form;
  }

  isbnOf(reference: string): string | undefined {
    return this.#books.get(reference)?.isbn;
  }
}

/** Records that are written together. */
class RecordGroup {
  /** Those that wait to be read together: what is stored of them is looked up at once. */
  #unread: (Arrived | Unreadable)[] = [];
  readonly #entries: (Item | ImportedGroup)[] = [];
  #length = 0;
  #started = 0;
  #outcomes = new Map<Item, Outcome>();
  readonly #books: Books;

  constructor(books: Books) {
    this.#books = books;
  }

  get isFull(): boolean {
    return this.#unread.length + this.#entries.length >= MAX_RECORDS ||
      this.#length >= MAX_GROUP_LENGTH;
  }

  get isOld(): boolean {
    return performance.now() > this.#started + MAX_GROUP_AGE_MS;
  }

  /** Adds a record of a message with this header. */
  add(part: ProductPart | Unreadable, header: Element): void {
    this.#started ||= performance.now();
    const one = part.kind === "product" ? arrivedOf(part.product, header) : part;
    if (one.kind === "arrived") this.#length += one.length;
    this.#unread.push(one);
  }

  /** Reads the records that were added. */
  async read(queries: () => Queries, pace: () => Promise<void>): Promise<void> {
    const arrived = this.#unread.filter((one) => one.kind === "arrived");
    const readings = await findReadings(queries(), arrived);
    for (const one of this.#unread) {
      await pace();
      if (one.kind === "arrived") this.#read(one, readings);
      else {
        const { reference, line, code, message } = one;
        this.#entries.push(rejected(reference, line, [fault(code, message)]));
      }
    }
    this.#unread = [];
  }

  #read(arrived: Arrived, readings: Readings): void {
    const item = readItem(arrived, readings);
    if ("kind" in item) {
      const { reference, line, messages, moreMessages } = item;
      this.#entries.push({
        ...rejected(reference, line, messages),
        moreMessages,
      });
    } else if (this.#books.isAnother(item)) {
      const { reference, messages, moreMessages } = item.gist;
      const all = [...messages, referenceOfAnother(reference)];
      this.#entries.push({ ...rejected(reference, arrived.line, all), moreMessages });
    } else {
      item.rival = this.#books.add(item);
      this.#entries.push(item);
    }
  }

  /** Adds a record that has been read. */
  push(item: Item): void {
    this.#entries.push(item);
    this.#length += item.arrived.length;
  }

  /** Whether a record has this reference. */
  has(reference: string): boolean {
    return this.#entries.some((entry) =>
      entry instanceof Item && entry.gist.reference === reference
    );
  }

  /** Writes the records. Adds those that wait to the other group, if there is one. */
  async write(
    queries: () => Queries,
    options: ImportOptions,
    waiting?: RecordGroup,
  ): Promise<void> {
    const items = this.#entries.filter((entry) =>
      entry instanceof Item && !waiting?.has(entry.gist.reference)
    ) as Item[];
    for (const areTests of [false, true]) {
      const group = items.filter(({ gist: { notification } }) =>
        TESTS.includes(notification) === areTests
      );
      if (group.length === 0) continue;
      const dryRun = areTests || options.dryRun;
      const outcomes = await importGroup(queries, group, {
        ...options,
        dryRun,
        numbers: this.#books,
        mayWait: waiting !== undefined,
      });
      for (const [item, outcome] of outcomes) this.#outcomes.set(item, outcome);
    }
    for (const entry of this.#entries) {
      if (entry instanceof Item && !this.#outcomes.has(entry)) {
        waiting?.push(entry);
      }
    }
  }

  /** The outcomes of the records that do not wait, in their order. */
  *results(): Generator<ImportedGroup> {
    for (const entry of this.#entries) {
      if (!(entry instanceof Item)) {
        yield entry;
        continue;
      }
      const outcome = this.#outcomes.get(entry);
      if (!outcome) continue;
      const { unmapped, moreMessages, notSent } = entry.gist;
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
): ImportedGroup {
  const record_reference = reference && reference.slice(0, MAX_REFERENCE);
  return {
    outcome: {
      record_reference,
      line,
      id: null,
      outcome: "rejected",
      messages,
    },
  };
}
