import type { MessageForm } from "../../schema/rules/releases.ts";
import { type Cursor, cursorText } from "../../../changes/schema.ts";
import type { Element } from "../../schema/xml/element.ts";
import { type Sender, writeMessage } from "../../schema/xml/write.ts";
import { readerSettings, type Transaction } from "../../../../db/connections/transaction.ts";
import type { Queries } from "../../../../db/database.ts";
import type { FeedQueries } from "../../../changes/db/feed.ts";
import { sql } from "../../../../db/connections/sql.ts";
import { atOnce } from "../../../../schema/turns.ts";
import type { View } from "../../../../schema/view.ts";
import type { FollowedView } from "../../../changes/db/view_state.ts";
import { isSameView, StaleView, withView } from "../../../changes/db/view_page.ts";
import { readAhead } from "../../../../db/read_ahead.ts";
import { inSnapshot } from "../../../../db/snapshot.ts";
import { listOnixChanges } from "./changes.ts";
import { readSender } from "./message.ts";
import { OutgoingRecords } from "./outgoing_records.ts";

/* Exports all products, or the changes after a cursor, as one ONIX message. */

/** The number of records in a page of the feed. Two pages are in memory. */
const RECORDS_PER_PAGE = 250;

/** The minimum length of a written part, in characters. */
const CHUNK_LENGTH = 65_536;

export interface ExportOptions extends MessageForm {
  after?: Cursor | undefined;
  /** What the recipient of the message sees. */
  view?: View | undefined;
  /** Writes a part of the message. */
  write(text: string): Promise<void>;
  /** Called after each page with the number of records so far. */
  progress?: ((records: number) => void) | undefined;
}

/** The result of an export. */
export interface Exported {
  /** The cursor of the next export. */
  next: string;
  /** The number of records with U+FFFD, in place of characters that XML cannot contain. */
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
  { after, view, ...output }: ExportOptions,
): Promise<Exported> {
  const sender = await readSender(database);
  return await withView(
    database,
    view,
    true,
    (followed) =>
      inSnapshot(database, readerSettings, async (tx) => {
        await assertSameView(tx, followed);
        return await writeFeed(feedQueriesOf(tx, database), sender, after, output, followed);
      }),
  );
}

/** Throws `StaleView` if the view in the snapshot is not the one that was checked. */
async function assertSameView(
  tx: Transaction,
  followed: FollowedView | undefined,
): Promise<void> {
  const [[row]] = await tx.send(sql<{ is_same: boolean }>`
    select ${isSameView(followed)} as is_same
  `);
  if (!row!.is_same) throw new StaleView();
}

/** The queries of the feed in a snapshot. What they store is written outside it. */
function feedQueriesOf(tx: Transaction, database: Queries): FeedQueries {
  const read: FeedQueries["scan"] = async (statement) => {
    const [rows] = await tx.send(statement);
    return rows;
  };
  return {
    lookUp: read,
    scan: read,
    inBackground: (statements) => database.inBackground(statements),
  };
}

async function writeFeed(
  snapshot: FeedQueries,
  sender: Sender,
  after: Cursor | undefined,
  { release, tags, write, progress }: Omit<ExportOptions, "after" | "view">,
  followed: FollowedView | undefined,
): Promise<Exported> {
  const outgoing = new OutgoingRecords({ release, tags }, followed?.view);
  let cursor = after;
  let written = 0;
  let failed = 0;

  async function* pages() {
    let from = after;
    for (let more = true; more;) {
      const page = await listOnixChanges(
        snapshot,
        { after: from, limit: RECORDS_PER_PAGE, form: { release, tags } },
        followed,
      );
      yield page;
      ({ cursor: from, more } = page);
    }
  }

  async function* records(): AsyncGenerator<Element | string> {
    for await (const page of readAhead(pages())) {
      cursor = page.cursor;
      for (const change of page.changes) {
        const record = atOnce(outgoing.of(change));
        if (record) yield record;
        else failed++;
      }
      outgoing.store(snapshot);
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
