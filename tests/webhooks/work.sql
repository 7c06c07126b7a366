-- To renew this file: UPDATE_GOLDEN=1 deno task test tests/webhooks/work_test.ts

-- The enabled webhooks, and $6 of those that have something to send
select (
  select count(*)
  from webhooks w
  where w.enabled
)::int as enabled,
 (
  select coalesce(json_agg(row_to_json(r)), '[]')
  from (
    select w.organization_id,
     w.id
    from webhooks w
    where w.enabled and coalesce(greatest(w.resumes_at, w.paused_until) <= now(), true) and exists (
      select
      from change_origins o
      where (o.place = catalogue_place() and (
        select count(*)
        from change_origins
      ) = 1 )
    ) and (
      select count(*)
      from webhook_deliveries d
      where d.organization_id = w.organization_id and d.webhook_id = w.id and d.sent_until >= now()
    ) < case when w.failures > 0 then 1 else $1::int end and (coalesce((
      select min(d.next_attempt_at)
      from webhook_deliveries d
      where d.organization_id = w.organization_id and d.webhook_id = w.id and d.status = 'waiting' and (d.sent_until is null or d.sent_until < now())
    ) <= case when w.failures >= $2 then 'infinity' else now() end, false ) or (exists ((
      select c.product_id
      from product_changes c
      where c.organization_id = w.organization_id and (c.change_version, c.product_id) > ((w.cursor ->> 'version')::bigint, (w.cursor ->> 'id')::uuid)
      limit $3
    ) union all (
      select c.product_id
      from product_deletions c
      where c.organization_id = w.organization_id and (c.change_version, c.product_id) > ((w.cursor ->> 'version')::bigint, (w.cursor ->> 'id')::uuid) and c.change_version > (w.cursor ->> 'start')::bigint
      limit $4
    ) ) or ((w.cursor ->> 'issuedAt')::bigint < extract(epoch from now() - interval '1 day') * 1000 or (w.cursor ->> 'origin')::uuid <> (
      select o.id
      from change_origins o
      where (o.place = catalogue_place() and (
        select count(*)
        from change_origins
      ) = 1 )
    ) or (w.cursor ->> 'timeline')::bigint between 1 and case when pg_is_in_recovery() then (
      select c.timeline_id
      from pg_control_checkpoint() c
    ) else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end - 1 )) and not exists (
      select
      from webhook_deliveries d
      where d.organization_id = w.organization_id and d.webhook_id = w.id and d.status = 'waiting' and d.next_cursor is not null
    ) and (
      select d.id
      from webhook_deliveries d
      where d.organization_id = w.organization_id and d.webhook_id = w.id and d.status = 'waiting'
      order by d.next_attempt_at offset $5
      limit 1
    ) is null )
    order by random()
    limit $6
  ) r
) as ready
