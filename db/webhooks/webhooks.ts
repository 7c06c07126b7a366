import { randomBytes } from "node:crypto";
import { type Cursor, cursorText } from "../../schema/changes_query.ts";
import { ApiError } from "../../schema/errors.ts";
import {
  MAX_WEBHOOKS,
  type NewWebhook,
  type Rotation,
  type WebhookChange,
} from "../../schema/webhooks.ts";
import { json, organization, sql, type Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { nextUpdate, rfc3339 } from "../times.ts";
import { uuidv7 } from "../uuid.ts";
import { sendAll } from "./deliveries.ts";
import { cursorAt } from "./feed.ts";
import { announceDisabled, disable, type Disabled } from "./outcomes.ts";
import { backlog, behind, type Secret, webhookNotFound } from "./work.ts";

/* Webhooks as callers see them. */

/** A webhook as responses have it. */
export interface ShownWebhook {
  id: string;
  cursor: string;
  secrets: Omit<Secret, "secret">[];
  [column: string]: unknown;
}

interface Row {
  id: string;
  url: string;
  description: string | null;
  enabled: boolean;
  cursor: Cursor;
  secrets: Secret[];
  [column: string]: unknown;
}

const webhooks = sql<Row>`
  select
    w.id, w.url, w.description, to_json(w.events) as events, w.enabled,
    w.disabled_reason, ${rfc3339("w.disabled_at")} as disabled_at, w.cursor,
    ${behind()} as behind,
    b.waiting,
    ${rfc3339("w.failing_since")} as failing_since,
    ${rfc3339("w.resumes_at")} as resumes_at,
    ${rfc3339("w.last_success_at")} as last_success_at,
    w.secrets,
    ${rfc3339("w.created_at")} as created_at,
    ${rfc3339("w.updated_at")} as updated_at
  from webhooks w
  cross join lateral (${backlog()}) b
  where w.organization_id = ${organization}
`;

function webhookById(id: string): Statement<Row> {
  return sql`${webhooks} and w.id = ${id}`;
}

/** The webhooks of the organization, oldest first. */
export async function listWebhooks(database: Queries): Promise<ShownWebhook[]> {
  const rows = await database.scan(
    sql<Row>`${webhooks} order by w.created_at, w.id`,
  );
  return rows.map(shown);
}

/** Throws `NOT_FOUND`. */
export async function getWebhook(
  database: Queries,
  id: string,
): Promise<ShownWebhook> {
  const [row] = await database.scan(webhookById(id));
  if (!row) throw webhookNotFound(id);
  return shown(row);
}

/** Creates a webhook, and returns it with its secret. Throws `CONFLICT` beyond `MAX_WEBHOOKS`, or `CURSOR_EXPIRED`. */
export async function createWebhook(
  database: Queries,
  { url, description, events, enabled, after }: NewWebhook,
): Promise<ShownWebhook & { secret: string }> {
  const id = uuidv7();
  const made = newSecret();
  const cursor = await cursorAt(database, after);
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
          ${organization}, ${id}, ${url}, ${description ?? null}, ${
        textArray(events)
      },
          ${json([made])}, ${enabled}, ${enabled ? null : "by_hand"},
          ${enabled ? null : made.created_at}, ${json(cursor)}
        )
      `,
      sql<{ count: number }>`
        select count(*)::int as count
        from webhooks w
        where w.organization_id = ${organization}
      `,
    );
    if (known!.count > MAX_WEBHOOKS) throw tooMany();
    const [[row]] = await tx.commit(webhookById(id));
    return { ...shown(row!), secret: made.secret };
  });
}

/**
 * Changes the fields that the body has. A new URL, `enabled: true` and `after` end a rest:
 * all that waits is sent at once. Throws `NOT_FOUND` or `CURSOR_EXPIRED`.
 */
export async function updateWebhook(
  database: Queries,
  id: string,
  { url, description, events, enabled, after }: WebhookChange,
): Promise<{ webhook: ShownWebhook; disabled?: Disabled | undefined }> {
  const cursor = after && await cursorAt(database, after);
  const isChanged = [url, description, events, enabled, after]
    .some((value) => value !== undefined);
  return await database.transaction(async (tx) => {
    const before = await lockWebhook(tx, id);
    const endsRest = url !== undefined && url !== before.url || enabled ||
      cursor !== undefined;
    const disabled = enabled === false && before.enabled
      ? { ...before, url: url ?? before.url, reason: "by_hand" as const }
      : undefined;
    const results = await tx.commit(
      ...isChanged
        ? [sql`
          update webhooks w
          set
            updated_at = ${nextUpdate("w.updated_at")}
            ${url === undefined ? [] : sql`, url = ${url}`}
            ${
          description === undefined ? [] : sql`, description = ${description}`
        }
            ${events ? sql`, events = ${textArray(events)}` : []}
            ${cursor ? sql`, cursor = ${json(cursor)}` : []}
            ${enabled ? ENABLE : []}
            ${disabled ? disable(disabled.reason) : []}
            ${endsRest ? sql`, ${END_PAUSES}` : []}
          where w.organization_id = ${organization} and w.id = ${id}
        `]
        : [],
      // Such a message was about the cursor or the events that were.
      ...cursor || events ? [dropCursors(id)] : [],
      ...endsRest ? [sendAll(id)] : [],
      ...disabled ? [announceDisabled(disabled)] : [],
      webhookById(id),
    );
    return { webhook: shown(results.at(-1)![0] as Row), disabled };
  });
}

const ENABLE =
  sql`, enabled = true, disabled_reason = null, disabled_at = null`;

/** Ends a rest, and a pause that the receiver has asked for. */
const END_PAUSES =
  sql`failures = 0, failing_since = null, resumes_at = null, paused_until = null`;

/** Ends the rest of a webhook: all that waits is sent at once, or after a pause that the receiver has asked for. */
export async function endRest(database: Queries, id: string): Promise<void> {
  await database.write(
    sql`
      update webhooks w
      set
        failures = 0,
        failing_since = null,
        resumes_at = nullif(greatest(w.paused_until, now()), now())
      where w.organization_id = ${organization} and w.id = ${id}
    `,
    sendAll(id),
  );
}

function dropCursors(id: string): Statement {
  return sql`
    delete from webhook_deliveries d
    where d.organization_id = ${organization} and d.webhook_id = ${id}
      and d.status = 'waiting' and d.next_cursor is not null
  `;
}

/** Returns whether the webhook existed. */
export async function deleteWebhook(
  database: Queries,
  id: string,
): Promise<boolean> {
  const [deleted] = await database.write(sql`
    delete from webhooks w where w.organization_id = ${organization} and w.id = ${id}
  `);
  return deleted.count > 0;
}

/** The maximum number of secrets that sign a message. */
const MAX_SECRETS = 3;

/** Makes a new secret. The older ones sign too until the grace is over. Throws `NOT_FOUND`. */
export async function rotateSecret(
  database: Queries,
  id: string,
  { grace_seconds: grace }: Rotation,
): Promise<ShownWebhook & { secret: string }> {
  const made = newSecret();
  const end = new Date(Date.now() + grace * 1_000).toISOString();
  return await database.transaction(async (tx) => {
    const { secrets } = await lockWebhook(tx, id);
    const older = grace === 0 ? [] : signing(secrets).map((secret) => ({
      ...secret,
      expires_at: secret.expires_at && secret.expires_at < end
        ? secret.expires_at
        : end,
    }));
    const [, [row]] = await tx.commit(
      sql`
        update webhooks w
        set
          secrets = ${json([made, ...older].slice(0, MAX_SECRETS))},
          updated_at = ${nextUpdate("w.updated_at")}
        where w.organization_id = ${organization} and w.id = ${id}
      `,
      webhookById(id),
    );
    return { ...shown(row!), secret: made.secret };
  });
}

/** The secrets that are not over. */
export function signing(secrets: readonly Secret[]): Secret[] {
  const now = new Date().toISOString();
  return secrets.filter(({ expires_at }) => !expires_at || expires_at > now);
}

function newSecret(): Secret {
  return {
    secret: `whsec_${randomBytes(32).toString("base64")}`,
    created_at: new Date().toISOString(),
    expires_at: null,
  };
}

async function lockWebhook(tx: Transaction, id: string): Promise<Row> {
  const [[row]] = await tx.send(
    sql<Row>`${webhookById(id)} for no key update of w`,
  );
  if (!row) throw webhookNotFound(id);
  return row;
}

function shown({ cursor, secrets, ...row }: Row): ShownWebhook {
  return {
    ...row,
    cursor: cursorText(cursor),
    secrets: signing(secrets).map(({ secret: _, ...times }) => times),
  };
}

/** The driver sends arrays of text as JSON. */
function textArray(values: readonly string[]): Statement {
  return sql`string_to_array(${values.join()}, ',')`;
}

function tooMany(): ApiError {
  const message = `An organization has at most ${MAX_WEBHOOKS} webhooks`;
  return new ApiError("CONFLICT", message, {
    details: [{ code: "limit_reached", count: MAX_WEBHOOKS, message }],
  });
}
