import { randomBytes } from "node:crypto";
import { cursorText } from "../../changes/schema.ts";
import { conflict } from "../../../schema/errors.ts";
import type { PageQuery } from "../../../schema/record_query.ts";
import { MAX_WEBHOOKS, type NewWebhook, type Rotation, type WebhookChange } from "../schema.ts";
import { json, organization, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { type EntryPage, pageOf } from "../../../db/entry_page.ts";
import { uuidv7 } from "../../../db/uuid.ts";
import { announceDisabled, dropCursorMessages, isUntried, sendAll } from "./deliveries.ts";
import { cursorAt } from "./feed.ts";
import {
  disabledBy,
  isoTime,
  lockWebhook,
  msOf,
  pausedUntil,
  RECOVERED,
  type Secret,
  storeWebhook,
  type Webhook,
  webhookNotFound,
} from "./state.ts";
import { entriesAfter } from "./work.ts";

/* Creates, lists, changes and deletes webhooks, in the form of requests and responses. */

/** A webhook as responses have it. */
export type ShownWebhook = ReturnType<typeof shownWebhook>;

/** A webhook with its new secret, which is shown this once. */
export type WebhookWithSecret = ShownWebhook & { secret: string };

interface FoundWebhook {
  webhook: Webhook;
  behind: number;
  waiting: number;
}

/** Entries of the feed are counted up to this. */
const MAX_BEHIND = 1_000;

/**
 * Selects what a `webhook` has not sent: its `waiting` deliveries, and the number of entries
 * of the feed that it is `behind`, with those whose messages have not been tried.
 */
export function backlog(owner: Statement | typeof organization): Statement {
  const entries = entriesAfter(sql`webhook.cursor`, owner, MAX_BEHIND);
  return sql`
    select
      (count(*) filter (where not ${isUntried}))::int as waiting,
      least(
        count(*) filter (where ${isUntried}) + (select count(*) from (${entries}) entries),
        ${MAX_BEHIND}
      )::int as behind
    from webhook_deliveries message
    where message.organization_id = ${owner} and message.webhook_id = webhook.id
      and message.status = 'waiting'
  `;
}

const webhooks = sql<FoundWebhook>`
  select to_jsonb(webhook) as webhook, backlog.behind, backlog.waiting
  from webhooks webhook
  cross join lateral (${backlog(organization)}) backlog
  where webhook.organization_id = ${organization}
`;

function webhookById(id: string): Statement<FoundWebhook> {
  return sql`${webhooks} and webhook.id = ${id}`;
}

/** A page of the webhooks of the organization, oldest first. There are few, so all are read. */
export async function listWebhooks(
  database: Queries,
  query: PageQuery,
): Promise<EntryPage> {
  const rows = await database.scan(
    sql<FoundWebhook>`${webhooks} order by webhook.created_at, webhook.id`,
  );
  return pageOf(rows.map(shownWebhook), query);
}

/** Returns a webhook as responses have it. Throws `NOT_FOUND`. */
export async function getWebhook(
  database: Queries,
  id: string,
): Promise<ShownWebhook> {
  return shownWebhook(await readWebhook(database, id));
}

/** Reads a webhook with its secrets. Throws `NOT_FOUND`. */
export async function readWebhook(
  database: Queries,
  id: string,
): Promise<FoundWebhook> {
  const [row] = await database.scan(webhookById(id));
  if (!row) throw webhookNotFound(id);
  return row;
}

const webhookCount = sql<{ count: number }>`
  select count(*)::int as count
  from webhooks webhook
  where webhook.organization_id = ${organization}
`;

/** Throws `CONFLICT` if there are more webhooks than this. */
function checkCount(found: { count: number } | undefined, most: number): void {
  if (found!.count <= most) return;
  const message = `An organization has at most ${MAX_WEBHOOKS} webhooks`;
  throw conflict("limit_reached", message, MAX_WEBHOOKS);
}

/**
 * Creates a webhook. Throws `CONFLICT` beyond `MAX_WEBHOOKS`, or `CURSOR_EXPIRED`.
 * `checkUrl`, which may take long, comes after the other checks.
 */
export async function createWebhook(
  database: Queries,
  { url, description, events, enabled, after }: NewWebhook,
  checkUrl: () => Promise<void>,
): Promise<WebhookWithSecret> {
  const id = uuidv7();
  const made = newSecret();
  const cursor = await cursorAt(database, after);
  const [found] = await database.lookUp(webhookCount);
  checkCount(found, MAX_WEBHOOKS - 1);
  await checkUrl();
  return await database.transaction(async (tx) => {
    const [, , [known]] = await tx.send(
      // Two requests at once must not both find room for one more.
      sql`select pg_advisory_xact_lock(hashtextextended(${organization}::text, 47))`,
      sql`
        insert into webhooks (
          organization_id, id, url, description, events, secrets, enabled,
          disabled_reason, disabled_at, cursor
        )
        values (
          ${organization}, ${id}, ${url}, ${description ?? null},
          string_to_array(${events.join()}, ','), ${json([made])}, ${enabled},
          ${enabled ? null : "by_hand"}, ${enabled ? null : made.created_at},
          ${json(cursor)}
        )
      `,
      webhookCount,
    );
    checkCount(known, MAX_WEBHOOKS);
    const [[row]] = await tx.commit(webhookById(id));
    return { ...shownWebhook(row!), secret: made.secret };
  });
}

/**
 * Changes the fields that the body has. A new URL, `enabled: true` and `after` end all
 * pauses: all waiting messages are due then. `checkUrl`, which may take long, comes
 * after the other checks. Returns the webhook, and whether this has disabled it. Throws
 * `NOT_FOUND` or `CURSOR_EXPIRED`.
 */
export async function updateWebhook(
  database: Queries,
  id: string,
  { after, ...fields }: WebhookChange,
  checkUrl: (url: string) => Promise<void>,
): Promise<{ webhook: ShownWebhook; isDisabled: boolean }> {
  const cursor = after && await cursorAt(database, after);
  if (fields.url !== undefined) {
    await readWebhook(database, id);
    await checkUrl(fields.url);
  }
  const isChanged = cursor || Object.keys(fields).length > 0;
  return await database.transaction(async (tx) => {
    const { webhook: before, now } = await lockWebhook(tx, id);
    const isDisabled = before.enabled && fields.enabled === false;
    const beginsAgain = fields.enabled || cursor ||
      (fields.url ?? before.url) !== before.url;
    const webhook = {
      ...before,
      ...fields as Partial<Webhook>,
      ...cursor && { cursor },
      ...beginsAgain && { ...RECOVERED, paused_until: null },
      ...fields.enabled && { disabled_reason: null, disabled_at: null },
      ...isDisabled && disabledBy("by_hand", now),
      updated_at: timeOfUpdate(before, now),
    };
    const results = await tx.commit(
      ...isChanged ? [storeWebhook(webhook)] : [],
      ...cursor || fields.events ? [dropCursorMessages(id)] : [],
      ...beginsAgain ? [sendAll(id)] : [],
      ...isDisabled ? announceDisabled(webhook) : [],
      webhookById(id),
    );
    return {
      webhook: shownWebhook(results.at(-1)![0] as FoundWebhook),
      isDisabled,
    };
  });
}

/** Deletes a webhook. Returns whether it existed. */
export async function deleteWebhook(
  database: Queries,
  id: string,
): Promise<boolean> {
  const [deleted] = await database.write(sql`
    delete from webhooks webhook
    where webhook.organization_id = ${organization} and webhook.id = ${id}
  `);
  return deleted.count > 0;
}

const MAX_SECRETS = 3;

/** Makes a new secret. The older ones sign too until the grace is over. Throws `NOT_FOUND`. */
export async function rotateSecret(
  database: Queries,
  id: string,
  { grace_seconds: grace }: Rotation,
): Promise<WebhookWithSecret> {
  const made = newSecret();
  const end = isoTime(Date.now() + grace * 1_000);
  return await database.transaction(async (tx) => {
    const { webhook, now } = await lockWebhook(tx, id);
    const older = grace === 0 ? [] : signing(webhook.secrets).map((secret) => ({
      ...secret,
      expires_at: secret.expires_at && secret.expires_at < end ? secret.expires_at : end,
    }));
    const [, [row]] = await tx.commit(
      sql`
        update webhooks webhook
        set
          secrets = ${json([made, ...older].slice(0, MAX_SECRETS))},
          updated_at = ${timeOfUpdate(webhook, now)}
        where webhook.organization_id = ${organization} and webhook.id = ${id}
      `,
      webhookById(id),
    );
    return { ...shownWebhook(row!), secret: made.secret };
  });
}

/** The secrets that have not expired. */
export function signing(secrets: readonly Secret[]): Secret[] {
  const now = isoTime(Date.now());
  return secrets.filter(({ expires_at }) => !expires_at || expires_at > now);
}

function newSecret(): Secret {
  return {
    secret: `whsec_${randomBytes(32).toString("base64")}`,
    created_at: isoTime(Date.now()),
    expires_at: null,
  };
}

/** Now, or a millisecond after the last change if that is later. */
function timeOfUpdate({ updated_at }: Webhook, now: number): string {
  return isoTime(Math.max(now, msOf(updated_at) + 1));
}

function shownWebhook({ webhook, behind, waiting }: FoundWebhook) {
  const resumesAt = pausedUntil(webhook);
  return {
    id: webhook.id,
    url: webhook.url,
    description: webhook.description,
    events: webhook.events,
    enabled: webhook.enabled,
    disabled_reason: webhook.disabled_reason,
    disabled_at: inUtc(webhook.disabled_at),
    cursor: cursorText(webhook.cursor),
    behind,
    waiting,
    failing_since: inUtc(webhook.failing_since),
    resumes_at: resumesAt > Date.now() ? isoTime(resumesAt) : null,
    last_success_at: inUtc(webhook.last_success_at),
    secrets: signing(webhook.secrets)
      .map(({ created_at, expires_at }) => ({ created_at, expires_at })),
    created_at: inUtc(webhook.created_at),
    updated_at: inUtc(webhook.updated_at),
  };
}

/** A time as RFC 3339 in UTC. */
function inUtc(time: string | null): string | null {
  return time && isoTime(msOf(time));
}
