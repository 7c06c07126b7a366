import type { Element } from "../../schema/xml/element.ts";
import type { Part } from "../../schema/xml/read.ts";
import { type Report, ReportTally } from "../../schema/report/report.ts";
import { XmlError } from "../../schema/xml/xml_error.ts";
import type { Queries } from "../../../../db/database.ts";
import { ImportEnded } from "../../../../db/import_ended.ts";
import type { GroupSettings } from "./group.ts";
import { MessageBooks } from "./message_books.ts";
import { RecordGroup } from "./record_group.ts";

/*
 * Imports a message while it arrives: one group of records is written while the next one is read.
 * If only the rest of the message can show the product of a record, the record waits in a second
 * group until that is full or the message ends.
 */

/** Settings of an import. */
export interface ImportOptions extends GroupSettings {
  /** Awaited before a group is written. The result is disposed of afterwards. May throw. */
  admit?: () => Promise<Disposable>;
  /** Called after each group with the number of records so far. */
  progress?: (records: number) => void;
}

/** The result of an import. */
export interface Imported {
  report: Report;
  /** The number of records with warnings that are not rejected. */
  warned: number;
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
): Promise<Imported> {
  const { pace, admit, progress } = options;
  const tally = new ReportTally(options.dryRun);
  const books = new MessageBooks();
  let group = new RecordGroup(books);
  let waiting = new RecordGroup(books);
  let header: Element | undefined;
  let records = 0;
  let writing = Promise.resolve();

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

  /** Reads the group, and writes it while the next one arrives. */
  async function flush(): Promise<void> {
    await group.read(queries, pace);
    await writing;
    writing = write(group);
    // It is awaited before the next group is written.
    writing.catch(() => {});
    group = new RecordGroup(books);
  }

  async function write(current: RecordGroup): Promise<void> {
    await writeAndCount(current, waiting);
    if (waiting.isFull) await writeWaiting();
  }

  async function writeWaiting(): Promise<void> {
    const waited = waiting;
    waiting = new RecordGroup(books);
    await writeAndCount(waited);
  }

  /**
   * Writes the records of a group, and counts them. A record that has to wait goes to
   * `waitingGroup`, and is counted there.
   */
  async function writeAndCount(current: RecordGroup, waitingGroup?: RecordGroup): Promise<void> {
    using _permit = await admit?.();
    await current.write(queries, options, waitingGroup);
    // Written records are counted, even if the import fails later.
    for (const { outcome, ...leftOut } of current.results()) {
      tally.add(outcome, leftOut);
      records++;
    }
    progress?.(records);
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
  return { report: tally.report(), warned: tally.warned };
}
