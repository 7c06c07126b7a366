import { type organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { isOrigin } from "../../../db/origin.ts";
import { timeline } from "../../changes/db/feed.ts";
import { BACK_OFF_AFTER } from "./state.ts";

/* Finds webhooks with something to send. */

/** Messages of a webhook that are sent at once. After a failure, it is one. */
export const MAX_IN_FLIGHT = 8;

/** The webhooks of all organizations that have something to send. */
export interface Work {
  enabled: number;
  /** Whether messages of enabled webhooks wait for their time. */
  is_waiting: boolean;
  ready: { organization_id: string; id: string }[];
}

/** The most webhooks that are found at once, and the most messages of one that wait. */
export interface WorkLimits {
  limit: number;
  waitingMax: number;
}

/** The database that runs the statement, which is the coordinator of Citus. */
export interface Place {
  /** The origin of its versions, or null in a restored dump. */
  origin: string | null;
  timeline: number;
}

export const selectPlace = sql<Place>`
  select (select o.id from change_origins o where ${isOrigin}) as origin, ${timeline} as timeline
`;

/** Finds work for a process. */
export async function findWork(
  database: Pick<Queries, "lookUp">,
  limits: WorkLimits,
): Promise<Work> {
  const [place] = await database.lookUp(selectPlace);
  const [work] = await database.lookUp(selectWork(place!, limits));
  return work!;
}

/**
 * Finds work in random order, so that no webhook is always last. It reads the
 * messages that are being sent and the next one of each webhook, not all waiting ones. It counts up
 * to `waitingMax` waiting messages only for a webhook that has no due messages, but changes in the
 * feed.
 */
export function selectWork(place: Place, { limit, waitingMax }: WorkLimits): Statement<Work> {
  return sql`
    select
      (select count(*) from webhooks where enabled)::int as enabled,
      exists (
        select 1
        from webhooks webhook
        where webhook.enabled and exists (
          select 1
          ${waitingMessages}
        )
      ) as is_waiting,
      (
        select coalesce(json_agg(row_to_json(ready)), '[]')
        from (
          select webhook.organization_id, webhook.id
          from webhooks webhook
          where webhook.enabled
            and coalesce(greatest(webhook.resumes_at, webhook.paused_until) <= now(), true)
            -- A restored dump must not call the receivers of the original.
            and ${place.origin}::uuid is not null
            and ${hasRoomInFlight}
            and (
              ${hasDueMessage}
              -- Or the feed has something new, and nothing keeps the webhook from reading it.
              or (${hasNews(place)})
              and not exists (
                select 1
                ${waitingMessages} and message.next_cursor is not null
              )
              and ${hasRoomToWait(waitingMax)}
            )
          order by random()
          limit ${limit}
        ) ready
      ) as ready
  `;
}

/** The FROM and WHERE of the messages of a `webhook` that wait. */
const waitingMessages = raw(`
  from webhook_deliveries message
  where message.organization_id = webhook.organization_id and message.webhook_id = webhook.id
    and message.status = 'waiting'`);

/** Whether a webhook may send another message at once. */
const hasRoomInFlight = sql`(
  select count(*)
  from webhook_deliveries sent
  where sent.organization_id = webhook.organization_id and sent.webhook_id = webhook.id
    and sent.sent_until >= now()
) < case when webhook.failures > 0 then 1 else ${MAX_IN_FLIGHT}::int end`;

/** Whether the next message is due. A webhook that backs off sends any message after its pause. */
const hasDueMessage = sql`(
  select min(message.next_attempt_at)
  ${waitingMessages}
    and (message.sent_until is null or message.sent_until < now())
) <= case when webhook.failures >= ${BACK_OFF_AFTER} then 'infinity' else now() end`;

/**
 * Whether the feed has entries after the cursor of a webhook, or the cursor is to be renewed: daily,
 * before it expires, and after a restore or a failover.
 */
function hasNews({ origin, timeline }: Place): Statement {
  return sql`
    exists (${entriesAfter(sql`webhook.cursor`, sql`webhook.organization_id`, 1)})
    or (webhook.cursor ->> 'issuedAt')::bigint < extract(epoch from now() - interval '1 day') * 1000
    or (webhook.cursor ->> 'origin')::uuid <> ${origin}::uuid
    or (webhook.cursor ->> 'timeline')::bigint between 1 and ${timeline}::bigint - 1
  `;
}

/** Whether fewer than `waitingMax` messages of a webhook wait. */
function hasRoomToWait(waitingMax: number): Statement {
  return sql`(
    select message.id
    ${waitingMessages}
    order by message.next_attempt_at
    offset ${waitingMax - 1}
    limit 1
  ) is null`;
}

/** Entries of an organization's feed after a cursor, about this many at most. */
export function entriesAfter(
  cursor: Statement,
  organizationId: Statement | typeof organization,
  limit: number,
): Statement {
  const position = sql`((${cursor} ->> 'version')::bigint, (${cursor} ->> 'id')::uuid)`;
  return sql`
    (
      select change.product_id
      from product_changes change
      where change.organization_id = ${organizationId}
        and (change.change_version, change.product_id) > ${position}
      limit ${limit}
    )
    union all
    (
      select deletion.product_id
      from product_deletions deletion
      where deletion.organization_id = ${organizationId}
        and (deletion.change_version, deletion.product_id) > ${position}
        and deletion.change_version > (${cursor} ->> 'start')::bigint
      limit ${limit}
    )
  `;
}
