import { type Cursor, cursorText } from "../../changes/schema.ts";
import type { ApiError } from "../../../schema/errors.ts";
import { sql, type Statement } from "../../../db/connections/sql.ts";
import { type FeedQueries, type FeedRange, openFeed, readChanges } from "../../changes/db/feed.ts";
import { deletionOfPosition, positionsOf, productOfPosition } from "../../changes/db/positions.ts";
import { rfc3339 } from "../../../db/times.ts";
import { MAX_UUID } from "../../../db/uuid.ts";
import { messageId, type NewMessage, payload } from "./deliveries.ts";
import { type LockedWebhook, msOf, type Webhook } from "./state.ts";

/*
 * Follows the feed of changes for a webhook. In: its cursor. Out: the next messages, and the cursor
 * after them.
 */

/** The entries that are read at once for a webhook that wants some of them. */
const ENTRIES_AT_ONCE = 100;

/** The least time between two messages `feed.advanced`. */
const BURST_MS = 1_000;

/** More changes are not counted. */
const MAX_COUNTED = 1_000;

/**
 * Returns the cursor before every product (`start`), after the last entry (`now`), or the given
 * one. Throws `CURSOR_EXPIRED`.
 */
export async function cursorAt(
  reads: LookUps,
  position: "start" | "now" | Cursor,
): Promise<Cursor> {
  const after = typeof position === "string" ? undefined : position;
  const { range: { from }, cursorAfter } = await openFeed(reads, after);
  // Later commits get higher versions, so the newest entry marks the end.
  const end = position === "now" && { version: from.start, id: MAX_UUID };
  // With `more`, a cursor that was given keeps its age. A new one begins now.
  return cursorAfter({ ...from, ...end, more: after !== undefined });
}

/** The look-ups of a transaction, or of a request. */
type LookUps = Pick<FeedQueries, "lookUp">;

/** The next part of the feed. */
export interface Followed {
  /** New messages to the webhook. */
  messages: NewMessage[];
  /** Its cursor once they are stored. */
  cursor: Cursor;
  /** Whether the feed has more, although there was room for more messages. */
  hasMore: boolean;
}

function followed(cursor: Cursor, ...messages: NewMessage[]): Followed {
  return { messages, cursor, hasMore: false };
}

/** Finds at most `room` new messages to a webhook, after its cursor. `now` is the time of the database. */
export async function nextMessages(
  reads: LookUps,
  { webhook, now }: LockedWebhook,
  room: number,
): Promise<Followed> {
  const { events, cursor } = webhook;
  if (room <= 0) return followed(cursor);
  if (events.every((event) => event === "webhook.disabled")) {
    return followed(await cursorAt(reads, "now"));
  }
  try {
    return events.includes("feed.advanced")
      ? await advance(reads, webhook, now)
      : await readMessages(reads, webhook, room);
  } catch (error) {
    if ((error as ApiError).code !== "CURSOR_EXPIRED") throw error;
    return await restart(reads, webhook);
  }
}

/** Adds the message that the receiver gets every product again. */
async function restart(
  reads: LookUps,
  { id, cursor }: Webhook,
): Promise<Followed> {
  return followed(cursor, {
    id: messageId(id, "restart", cursor.version, cursor.id, cursor.issuedAt),
    type: "feed.restarted",
    body: payload("feed.restarted", {}),
    next_cursor: await cursorAt(reads, "start"),
  });
}

async function advance(
  reads: LookUps,
  { id, cursor: from, last_success_at }: Webhook,
  now: number,
): Promise<Followed> {
  if (now - msOf(last_success_at) < BURST_MS) {
    return followed(from);
  }
  const newest = await cursorAt(reads, "now");
  const safe = String(BigInt(newest.version) + 1n);
  const { cursorAfter } = await openFeed(reads, from);
  const [row] = await reads.lookUp(sql<{ changes: number }>`
    select count(*)::int as changes
    from (${positionsOf({ from, safe }, MAX_COUNTED - 1)}) positions
  `);
  const { changes } = row!;
  if (changes === 0) return followed(cursorAfter({ ...from, more: false }));
  return followed(from, {
    id: messageId(id, newest.version, newest.id),
    type: "feed.advanced",
    body: payload("feed.advanced", { after: cursorText(from), changes }),
    next_cursor: newest,
  });
}

interface FeedEntry {
  version: string;
  id: string;
  type: "product.changed" | "product.deleted";
  /** RFC 3339. */
  updated_at: string;
  /** Null for the deletion of a product that exists again. */
  data: object | null;
}

async function readMessages(
  reads: LookUps,
  { id: webhookId, cursor: from, events }: Webhook,
  limit: number,
): Promise<Followed> {
  const wantsAll = events.includes("product.changed") &&
    events.includes("product.deleted");
  const size = wantsAll ? limit : Math.max(limit, ENTRIES_AT_ONCE);
  return await readChanges(reads, from, async (range) => {
    const entries = await reads.lookUp(nextEntries(range, size));
    const page = entries.slice(0, size);
    const wanted = page
      .filter(({ type, data }) => data !== null && events.includes(type))
      .slice(0, limit);
    const last = wanted.length === limit ? wanted.at(-1) : page.at(-1);
    return {
      messages: wanted.map(({ type, version, id, data, updated_at }) => ({
        id: messageId(webhookId, version, id),
        type,
        body: payload(type, data!, updated_at),
        product_id: id,
        version,
      })),
      version: last?.version ?? null,
      id: last?.id ?? null,
      more: last !== entries.at(-1),
      hasMore: wanted.length < limit && entries.length > size,
    };
  });
}

/** Selects the next entries, one more than `limit`. */
function nextEntries(range: FeedRange, limit: number): Statement<FeedEntry> {
  const time = rfc3339("coalesce(c.deleted_at, p.updated_at)");
  return sql`
    select
      c.version::text,
      c.id,
      case when c.deleted_at is null then 'product.changed' else 'product.deleted' end as type,
      ${time} as updated_at,
      case
        when c.deleted_at is null then json_build_object(
          'id', p.id, 'product_code', p.product_code, 'isbn13', p.isbn13, 'title', p.title,
          'created_at', ${rfc3339("p.created_at")}, 'updated_at', ${time}
        )
        when p.id is null then json_build_object(
          'id', c.id, 'isbn13', x.isbn13, 'product_code', x.product_code,
          'record_reference', x.record_reference, 'updated_at', ${time}
        )
      end as data
    from (${positionsOf(range, limit)}) c
    ${productOfPosition()}
    ${deletionOfPosition()}
    order by c.place
  `;
}
