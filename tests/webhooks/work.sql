-- To renew this file: UPDATE_GOLDEN=1 deno task test tests/webhooks/work_test.ts

-- The enabled webhooks, and $6 of those that have something to send
select (
  select count(*)
  from webhooks
  where enabled
)::int as enabled,
 exists (
  select 1
  from webhooks webhook
  where webhook.enabled and exists (
    select 1
    from webhook_deliveries message
    where message.organization_id = webhook.organization_id and message.webhook_id = webhook.id and message.status = 'waiting'
  )
) as is_waiting,
 (
  select coalesce(json_agg(row_to_json(ready)), '[]')
  from (
    select webhook.organization_id,
     webhook.id
    from webhooks webhook
    where webhook.enabled and coalesce(greatest(webhook.resumes_at, webhook.paused_until) <= now(), true) and $1::uuid is not null and (
      select count(*)
      from webhook_deliveries sent
      where sent.organization_id = webhook.organization_id and sent.webhook_id = webhook.id and sent.sent_until >= now()
    ) < case when webhook.failures > 0 then 1 else $2::int end and ((
      select min(message.next_attempt_at)
      from webhook_deliveries message
      where message.organization_id = webhook.organization_id and message.webhook_id = webhook.id and message.status = 'waiting' and (message.sent_until is null or message.sent_until < now())
    ) <= case when webhook.failures >= $3 then 'infinity' else now() end or (exists ((
      select change.product_id
      from product_changes change
      where change.organization_id = webhook.organization_id and (change.change_version, change.product_id) > ((webhook.cursor ->> 'version')::bigint, (webhook.cursor ->> 'id')::uuid)
      limit $4
    ) union all (
      select deletion.product_id
      from product_deletions deletion
      where deletion.organization_id = webhook.organization_id and (deletion.change_version, deletion.product_id) > ((webhook.cursor ->> 'version')::bigint, (webhook.cursor ->> 'id')::uuid) and deletion.change_version > (webhook.cursor ->> 'start')::bigint
      limit $5
    ) ) or (webhook.cursor ->> 'issuedAt')::bigint < extract(epoch from now() - interval '1 day') * 1000 or (webhook.cursor ->> 'origin')::uuid <> $6::uuid or (webhook.cursor ->> 'timeline')::bigint between 1 and $7::bigint - 1 ) and not exists (
      select 1
      from webhook_deliveries message
      where message.organization_id = webhook.organization_id and message.webhook_id = webhook.id and message.status = 'waiting' and message.next_cursor is not null
    ) and (
      select message.id
      from webhook_deliveries message
      where message.organization_id = webhook.organization_id and message.webhook_id = webhook.id and message.status = 'waiting'
      order by message.next_attempt_at offset $8
      limit 1
    ) is null )
    order by random()
    limit $9
  ) ready
) as ready

-- Claims the messages of a webhook that are due
update webhook_deliveries message set sent_until = $2
where message.organization_id = $1 and message.webhook_id = $3 and message.id in (
  select due.id
  from webhook_deliveries due
  where due.organization_id = $1 and due.webhook_id = $4 and due.status = 'waiting' and due.next_attempt_at <= greatest(now(), $5::timestamptz) and (due.sent_until is null or due.sent_until < now()) and not exists (
    select
    from webhook_deliveries older
    where older.organization_id = $1 and older.webhook_id = $6 and older.sent_until >= now() and older.product_id = due.product_id
  )
  order by due.next_attempt_at,
   due.id
  limit greatest(0, least($7::bigint, $8::bigint - (
    select count(*)
    from webhook_deliveries sent
    where sent.organization_id = $1 and sent.webhook_id = $9 and sent.status = 'waiting' and sent.sent_until >= now()
  )))
) returning message.id,
 message.body,
 message.product_id
