import type { Element } from "../../schema/onix/xml/element.ts";
import type { Part } from "../../schema/onix/xml/read.ts";
import { XmlError } from "../../schema/onix/xml/xml_error.ts";
import type { Release } from "../../schema/onix/rules/releases.ts";
import { notSentOf } from "../../schema/onix/mapping/outgoing.ts";
import {
  type Outcome,
  type Report,
  Tally,
} from "../../schema/onix/report/report.ts";
import type { Queries } from "../database.ts";
import { writeGroup } from "./group.ts";
import { type Item, readItem } from "./items.ts";

/** The limits of a group, which is written in one transaction: records, and characters. */
const MAX_RECORDS = 100;
const MAX_LENGTH = 1_000_000;

/** Records with these types of notification are tests: they write nothing. */
const TESTS = ["88", "89"];

export interface ImportOptions {
  /** Does the same work as an import, and writes nothing. */
  dryRun: boolean;
  /** Awaited between the records, so that other requests have their turn. May throw. */
  pace: () => Promise<void>;
  /** Called after each group with the number of records so far. */
  progress?: (records: number) => void;
}

/** An import that has ended before the end of its message. Its cause is the reason. */
export class ImportEnded extends Error {
  override readonly name = "ImportEnded";
  /** What became of the records before. */
  readonly report: Report;

  constructor(report: Report, cause: unknown) {
    super("The import has ended before the end of its message", { cause });
    this.report = report;
  }
}

/**
 * Writes the records of a message group by group as they arrive. `queries` begins a new
 * time limit: each group has its own. Throws `ImportEnded`, after it has written the
 * records that precede a fault of the message.
 */
export async function importMessage(
  queries: () => Queries,
  message: AsyncIterable<Part>,
  { dryRun, pace, progress }: ImportOptions,
): Promise<Report> {
  const tally = new Tally(dryRun);
  let group = new Group();
  let header: Element | undefined;
  let release: Release = "3.1";
  let records = 0;

  let writing = Promise.resolve();

  /** Writes the group while the next one is read. */
  async function flush(): Promise<void> {
    await writing;
    writing = write(group, release);
    // It is awaited before the next group is written.
    writing.catch(() => {});
    group = new Group();
  }

  async function write(group: Group, release: Release): Promise<void> {
    await group.write(queries, { dryRun, pace });
    for (const { outcome, unmapped, item } of group.results()) {
      tally.add(outcome, unmapped, item ? notSentOf(item.record, release) : []);
      records++;
      await pace();
    }
    progress?.(records);
  }

  async function read(): Promise<void> {
    for await (const part of message) {
      if (part.kind === "header") {
        ({ header, release } = part);
        continue;
      }
      group.add(part, header!);
      if (group.isFull) await flush();
      await pace();
    }
  }

  try {
    await read().catch(async (error) => {
      // The records before the fault were read.
      if (error instanceof XmlError) await flush();
      throw error;
    });
    await flush();
    await writing;
  } catch (error) {
    await writing.catch(() => {});
    throw new ImportEnded(tally.report(), error);
  }
  return tally.report();
}

/** A record of a group, which has an outcome or is still to be written. */
interface Result {
  outcome: Outcome;
  unmapped: readonly string[];
  item?: Item;
}

/** Records that are written together. */
class Group {
  readonly #entries: (Item | Outcome)[] = [];
  #length = 0;
  #outcomes = new Map<Item, Outcome>();

  get isFull(): boolean {
    return this.#entries.length >= MAX_RECORDS || this.#length >= MAX_LENGTH;
  }

  add(part: Exclude<Part, { kind: "header" }>, header: Element): void {
    if (part.kind === "unreadable") {
      const { reference, line, code, message } = part;
      this.#entries.push(rejected(reference, line, [{
        severity: "error",
        code,
        path: "/Product",
        value: null,
        message,
      }]));
      return;
    }
    const item = readItem(part.product, header, part.line);
    if ("kind" in item) {
      const { reference, line, messages } = item;
      this.#entries.push(rejected(reference, line, messages));
    } else {
      this.#entries.push(item);
      this.#length += item.text.length;
    }
  }

  async write(
    queries: () => Queries,
    { dryRun, pace }: Omit<ImportOptions, "progress">,
  ): Promise<void> {
    const items = this.#entries.filter((entry) => "incoming" in entry);
    const { tests = [], others = [] } = Object.groupBy(
      items,
      ({ incoming }) =>
        TESTS.includes(incoming.notification) ? "tests" : "others",
    );
    for (const [group, isDry] of [[others, dryRun], [tests, true]] as const) {
      if (group.length === 0) continue;
      const outcomes = await writeGroup(queries, group, {
        dryRun: isDry,
        pace,
      });
      for (const [item, outcome] of outcomes) this.#outcomes.set(item, outcome);
    }
  }

  /** The outcomes of the records, in their order. */
  *results(): Generator<Result> {
    for (const entry of this.#entries) {
      if (!("incoming" in entry)) {
        yield { outcome: entry, unmapped: [] };
        continue;
      }
      const outcome = this.#outcomes.get(entry)!;
      const { unmapped } = entry.incoming;
      yield outcome.outcome === "rejected"
        ? { outcome, unmapped: [] }
        : { outcome, unmapped, item: entry };
    }
  }
}

function rejected(
  record_reference: string | null,
  line: number,
  messages: Outcome["messages"],
): Outcome {
  return { record_reference, line, id: null, outcome: "rejected", messages };
}
