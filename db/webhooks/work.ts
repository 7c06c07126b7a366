import { type organization, sql, type Statement } from "../connections/sql.ts";
import { isOrigin } from "../origin.ts";
import { timeline } from "../products/feed.ts";
import { BACK_OFF_AFTER } from "./state.ts";

/* Which webhooks have something to send. */

/** Messages of a webhook that are sent at once. After a failure, it is one. */
export const MAX_IN_FLIGHT = 8;

/** The webhooks of all organizations that have something to send. */
export interface Work {
  enabled: number;
  ready: { organization_id: string; id: string }[];
}

/**
 * Finds work for a process, in random order, so that no webhook is last each time. It reads
 * what is being sent and the next message of each webhook, not all that wait. Only a
 * webhook that has nothing due, and changes in the feed, is asked whether `waitingMax`
 * messages wait.
 */
export function findWork(limit: number, waitingMax: number): Statement<Work> {
  return sql`
    select
      (select count(*) from webhooks where enabled)::int as enabled,
      (
        select coalesce(json_agg(row_to_json(ready)), '[]')
        from (
          select webhook.organization_id, webhook.id
          from webhooks webhook
          where webhook.enabled
            and coalesce(greatest(webhook.resumes_at, webhook.paused_until) <= now(), true)
            -- A restored dump must not call the receivers of the original.
            and exists (select from change_origins o where ${isOrigin})
            and (
              select count(*)
              from webhook_deliveries sent
              where sent.organization_id = webhook.organization_id and sent.webhook_id = webhook.id
                and sent.sent_until >= now()
            ) < case when webhook.failures > 0 then 1 else ${MAX_IN_FLIGHT}::int end
            and (
              -- The next message is due. A webhook that backs off sends any message after its pause.
              (
                select min(message.next_attempt_at)
                from webhook_deliveries message
                where message.organization_id = webhook.organization_id and message.webhook_id = webhook.id
                  and message.status = 'waiting'
                  and (message.sent_until is null or message.sent_until < now())
              ) <= case when webhook.failures >= ${BACK_OFF_AFTER} then 'infinity' else now() end
              -- Or the feed has something new, and nothing keeps the webhook from reading it.
              or (
                exists (${entriesAfter(sql`webhook.cursor`, sql`webhook.organization_id`, 1)})
                -- The cursor is renewed daily, before it expires, and after a restore or a failover.
                or (webhook.cursor ->> 'issuedAt')::bigint
                  < extract(epoch from now() - interval '1 day') * 1000
                or (webhook.cursor ->> 'origin')::uuid
                  <> (select o.id from change_origins o where ${isOrigin})
                or (webhook.cursor ->> 'timeline')::bigint between 1 and ${timeline} - 1
              )
              and not exists (
                select
                from webhook_deliveries message
                where message.organization_id = webhook.organization_id and message.webhook_id = webhook.id
                  and message.status = 'waiting' and message.next_cursor is not null
              )
              and (
                select message.id
                from webhook_deliveries message
                where message.organization_id = webhook.organization_id and message.webhook_id = webhook.id
                  and message.status = 'waiting'
                order by message.next_attempt_at
                offset ${waitingMax - 1}
                limit 1
              ) is null
            )
          order by random()
          limit ${limit}
        ) ready
      ) as ready
  `;
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
