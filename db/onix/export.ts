import { type Cursor, cursorText } from "../../schema/changes_query.ts";
import type { Element } from "../../schema/onix/xml/element.ts";
import { finish } from "../../schema/onix/xml/steps.ts";
import { writeMessage } from "../../schema/onix/xml/write.ts";
import type { Queries } from "../database.ts";
import { changedRecord, listRecords } from "./changes.ts";
import { type Form, readSender } from "./message.ts";

/** The records of a page of the feed, and the least size of what is written at once. */
const PAGE = 500;
const CHUNK = 65_536;

export interface ExportOptions extends Form {
  after?: Cursor | undefined;
  /** Writes a part of the message. Returns false if the reader is gone: the export then ends. */
  write(text: string): Promise<boolean>;
  /** Called after each page with the number of records so far. */
  progress?: ((records: number) => void) | undefined;
}

/**
 * Writes one message with all changes after the cursor, and returns the cursor of the next
 * export. Throws `CURSOR_EXPIRED`, and for an unknown organization.
 */
export async function exportMessage(
  database: Queries,
  { release, tags, after, write, progress }: ExportOptions,
): Promise<string> {
  const sender = await readSender(database);
  let cursor = after;
  let written = 0;

  async function* records(): AsyncGenerator<Element> {
    for (let more = true; more;) {
      const page = await listRecords(database, { after: cursor, limit: PAGE });
      for (const change of page.changes) {
        yield finish(changedRecord(change, release));
      }
      ({ cursor, more } = page);
      progress?.(written += page.changes.length);
    }
  }

  const form = { release, tags, sender, sentAt: new Date() };
  let chunk = "";
  for await (const text of writeMessage(form, records())) {
    chunk += text;
    if (chunk.length < CHUNK) continue;
    if (!await write(chunk)) return "";
    chunk = "";
  }
  await write(chunk);
  return cursorText(cursor!);
}
