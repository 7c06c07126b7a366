import { type Cursor, cursorText } from "../../schema/changes_query.ts";
import type { Element } from "../../schema/onix/xml/element.ts";
import { type Sender, writeMessage } from "../../schema/onix/xml/write.ts";
import { readerSettings } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import type { FeedQueries } from "../products/feed.ts";
import { readAhead } from "../read_ahead.ts";
import { inSnapshot } from "../snapshot.ts";
import { changedRecord, listOnixChanges } from "./changes.ts";
import { type MessageForm, readSender } from "./message.ts";

/** The records of a page of the feed, of which two are held, and the least size of what is written at once. */
const RECORDS_PER_PAGE = 250;
const CHUNK_LENGTH = 65_536;

export interface ExportOptions extends MessageForm {
  after?: Cursor | undefined;
  /** Writes a part of the message. */
  write(text: string): Promise<void>;
  /** Called after each page with the number of records so far. */
  progress?: ((records: number) => void) | undefined;
}

/** What was exported. */
export interface Exported {
  /** The cursor of the next export. */
  next: string;
  /** The records with U+FFFD, which stands for what XML cannot hold. */
  replaced: number;
  /** The records that the service failed to write. They are not in the message. */
  failed: number;
}

/**
 * Writes one message with all changes after the cursor. It is a consistent snapshot: it has
 * each product once, whatever is written meanwhile. Throws `CURSOR_EXPIRED`, and for an
 * unknown organization.
 */
export async function exportMessage(
  database: Queries,
  { after, ...output }: ExportOptions,
): Promise<Exported> {
  const sender = await readSender(database);
  return await inSnapshot(database, readerSettings, (tx) => {
    const read: FeedQueries["scan"] = async (statement) => {
      const [rows] = await tx.send(statement);
      return rows;
    };
    const snapshot: FeedQueries = {
      lookUp: read,
      scan: read,
      inBackground: (...statements) => database.inBackground(...statements),
    };
    return writeFeed(snapshot, sender, after, output);
  });
}

async function writeFeed(
  snapshot: FeedQueries,
  sender: Sender,
  after: Cursor | undefined,
  { release, tags, write, progress }: Omit<ExportOptions, "after">,
): Promise<Exported> {
  let cursor = after;
  let written = 0;
  let failed = 0;

  async function* pages() {
    let from = after;
    for (let more = true; more;) {
      const page = await listOnixChanges(snapshot, { after: from, limit: RECORDS_PER_PAGE });
      yield page;
      ({ cursor: from, more } = page);
    }
  }

  async function* records(): AsyncGenerator<Element> {
    for await (const page of readAhead(pages())) {
      cursor = page.cursor;
      for (const change of page.changes) {
        const record = changedRecord(change, release);
        if (record) yield record;
        else failed++;
      }
      progress?.(written += page.changes.length);
    }
  }

  const form = { release, tags, sender, sentAt: new Date() };
  let chunk = "";
  let replaced = 0;
  for await (const text of writeMessage(form, records())) {
    if (text.includes("\ufffd")) replaced++;
    chunk += text;
    if (chunk.length < CHUNK_LENGTH) continue;
    await write(chunk);
    chunk = "";
  }
  await write(chunk);
  return { next: cursorText(cursor!), replaced, failed };
}
