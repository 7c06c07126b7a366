import { MAX_REFERENCE } from "../../schema/onix/mapping/incoming.ts";
import type { LeftOut, Outcome } from "../../schema/onix/report/report.ts";
import { isTest } from "../../schema/onix/rules/notifications.ts";
import type { Element } from "../../schema/onix/xml/element.ts";
import type { ProductPart, Unreadable } from "../../schema/onix/xml/read.ts";
import type { Queries } from "../database.ts";
import { type Arrived, arrivedOf } from "./arrived.ts";
import { findGists } from "./gists.ts";
import { type GroupSettings, importGroup } from "./group.ts";
import { Item, readItem, type StoredGists } from "./items.ts";
import type { MessageBooks } from "./message_books.ts";
import { fault, referenceOfAnother } from "./record_messages.ts";

/*
 * The records of a message that are read and written together, of bounded number, size and
 * age. In: records as they arrive. Out: what became of each, in their order.
 */

/** The maximum number of records in a group, which is written in one transaction. */
const MAX_RECORDS = 100;

/** The maximum number of characters in a group. */
const MAX_GROUP_LENGTH = 1_000_000;

/** A group of a message that arrives slowly is written after this time. */
const MAX_GROUP_AGE_MS = 1_000;

/** What the report counts of a record. */
interface Result extends LeftOut {
  outcome: Outcome;
}

/** Records that are written together. They are added, read, written, and then have results. */
export class RecordGroup {
  /** Those that wait to be read together: what is stored of them is looked up at once. */
  #unread: (Arrived | Unreadable)[] = [];
  /** Those that were read: to be written, or rejected already. */
  readonly #entries: (Item | Result)[] = [];
  #length = 0;
  #started = 0;
  #outcomes = new Map<Item, Outcome>();
  readonly #books: MessageBooks;

  constructor(books: MessageBooks) {
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
    const gists = await findGists(queries(), arrived);
    for (const one of this.#unread) {
      await pace();
      if (one.kind === "arrived") this.#read(one, gists);
      else {
        const { reference, line, code, message } = one;
        this.#entries.push(rejected(reference, line, [fault(code, message)]));
      }
    }
    this.#unread = [];
  }

  #read(arrived: Arrived, gists: StoredGists): void {
    const item = readItem(arrived, gists);
    if (!(item instanceof Item)) {
      const { reference, line, messages, moreMessages } = item;
      this.#entries.push(rejected(reference, line, messages, moreMessages));
    } else if (this.#books.isOfAnotherBook(item)) {
      const { reference, messages, moreMessages } = item.gist;
      const all = [...messages, referenceOfAnother(reference)];
      this.#entries.push(rejected(reference, arrived.line, all, moreMessages));
    } else {
      item.rival = this.#books.addAndFindRival(item);
      this.#entries.push(item);
    }
  }

  /** Adds a record that has been read. */
  addRead(item: Item): void {
    this.#entries.push(item);
    this.#length += item.arrived.length;
  }

  /** Whether a record has this reference. */
  has(reference: string): boolean {
    return this.#entries.some((entry) =>
      entry instanceof Item && entry.gist.reference === reference
    );
  }

  /**
   * Writes the records. Those whose product only the rest of the message can tell go to the group
   * of those that wait, if there is one.
   */
  async write(
    queries: () => Queries,
    options: GroupSettings,
    waiting?: RecordGroup,
  ): Promise<void> {
    // Records with one reference keep their order: those after one that waits wait, too.
    const items = this.#entries.filter((entry) => entry instanceof Item)
      .filter(({ gist }) => !waiting?.has(gist.reference));
    // Tests are run like the others, and write nothing.
    for (const areTests of [false, true]) {
      const group = items.filter(({ gist: { notification } }) => isTest(notification) === areTests);
      if (group.length === 0) continue;
      const dryRun = areTests || options.dryRun;
      const outcomes = await importGroup(queries, group, {
        ...options,
        dryRun,
        books: this.#books,
        mayWait: waiting !== undefined,
      });
      for (const [item, outcome] of outcomes) this.#outcomes.set(item, outcome);
    }
    for (const entry of this.#entries) {
      if (entry instanceof Item && !this.#outcomes.has(entry)) waiting?.addRead(entry);
    }
  }

  /** The outcomes of the records that do not wait, in their order. */
  *results(): Generator<Result> {
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
  moreMessages = 0,
): Result {
  const record_reference = reference && reference.slice(0, MAX_REFERENCE);
  return {
    outcome: {
      record_reference,
      line,
      id: null,
      outcome: "rejected",
      messages,
    },
    moreMessages,
  };
}
