-- The checks of `deno task doctor`: one per statement, named by the comment above it. A check returns at most one
-- row: the problem or null, the remedy, and the text to print without a problem. It may have `noted`: what customers
-- should mend, which is no problem of the service. The setting doctor.fact passes a
-- value that only the service knows.

-- database
select
  case
    when current_setting('server_version_num')::int < 150000 then s.finding
    when current_setting('server_encoding') <> 'UTF8'
      then format('The encoding of %s is %s', current_database(), current_setting('server_encoding'))
  end as wrong,
  case
    when current_setting('server_version_num')::int < 150000 then 'Use PostgreSQL 15 or later'
    else 'Create a database with the encoding UTF8: create database catalogue encoding ''UTF8'' template template0'
  end as advice,
  s.finding as fine
from (
  select format('PostgreSQL %s responds in %s ms', current_setting('server_version'), current_setting('doctor.fact')) as finding
) s;

-- time-outs
select
  'The role does not have ' || string_agg(s.name, ', ' order by s.name) as wrong,
  string_agg(
    format('alter role %I set %s = %L', current_user, s.name, case s.name when 'lock_timeout' then '2s' else '10s' end),
    '; ' order by s.name
  ) as advice,
  case current_setting('doctor.fact') when 'true' then 'The service sets them' else 'The role has them' end as fine
from pg_settings s
where s.name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')
  and s.reset_val = '0' and current_setting('doctor.fact') = 'false';

-- extensions
select
  case
    when e.missing is not null then 'Missing: ' || e.missing
    when not e.has_icu then 'This PostgreSQL is built without ICU'
    when not e.may_create then format('The role %s may not create %s', current_user, e.pending)
    when e.hidden is not null then format('The role %s cannot use %s', current_user, e.hidden)
  end as wrong,
  case
    when e.missing is not null then 'Install PostgreSQL''s own additional modules (the package postgresql-contrib)'
    when not e.has_icu then 'Use a PostgreSQL with ICU, as in all packages'
    when not e.may_create
      then format('As a superuser or the owner of the database %s, in it: %s', current_database(), e.statements)
    else format('As a superuser, in the database %s: %s; then open new sessions', current_database(), e.grants)
  end as advice,
  'btree_gin, pg_trgm, ICU' as fine
from (
  select
    string_agg(w.name, ', ') filter (where a.name is null) as missing,
    string_agg(w.name, ', ') filter (where a.installed_version is null) as pending,
    string_agg('create extension ' || w.name, '; ') filter (where a.installed_version is null) || case
      when has_schema_privilege(current_schema(), 'create') then ''
      else format('; grant create on schema public to %I', current_user)
    end as statements,
    bool_and(a.installed_version is not null) or has_database_privilege(current_database(), 'create') as may_create,
    -- Schemas of the search path that the role may not use are left out.
    string_agg(format('%s in the schema %s', w.name, n.nspname), ', ') filter (where n.is_hidden) as hidden,
    nullif(concat_ws(
      '; ',
      string_agg(distinct format('grant usage on schema %I to %I', n.nspname, current_user), '; ') filter (where n.is_closed),
      case when bool_or(n.is_unnamed) then format(
        'alter role %I in database %I set search_path = %s, %s', current_user, current_database(),
        current_setting('search_path'), string_agg(distinct quote_ident(n.nspname), ', ') filter (where n.is_unnamed)
      ) end
    ), '') as grants,
    exists (select from pg_collation where collname = 'und-x-icu') as has_icu
  from (values ('btree_gin'), ('pg_trgm')) w (name)
  left join pg_available_extensions a on a.name = w.name
  left join pg_extension x on x.extname = w.name
  left join lateral (
    select
      n.nspname,
      n.nspname <> all (current_schemas(true)) as is_hidden,
      not has_schema_privilege(n.oid, 'usage') as is_closed,
      not exists (
        select
        from regexp_split_to_table(current_setting('search_path'), '\s*,\s*') p (name)
        where trim(p.name, '" ') = n.nspname
      ) as is_unnamed
    from pg_namespace n
    where n.oid = x.extnamespace and n.nspname <> 'pg_catalog'
  ) n on true
) e;

-- migrations
select
  nullif(current_setting('doctor.fact'), '') as wrong,
  case
    when has_schema_privilege(current_schema(), 'create') then 'deno task migrate'
    else format(
      'As a superuser or the owner of the database %s, in it: grant create on schema public to %I; then deno task migrate',
      current_database(), current_user
    )
  end as advice,
  'All applied' as fine;

-- code lists
select
  case when not exists (select from publishing_statuses) then 'Empty' end as wrong,
  'deno task seed' as advice,
  'Filled' as fine;

-- counters
select
  case when c.organizations <> '' then format(
    'Counts, searches or changes are wrong, probably after SQL without triggers, in organization %s', c.organizations
  ) end as wrong,
  'deno task recount' as advice,
  'All counts, searches and changes are right' as fine
from (select current_setting('doctor.fact') as organizations) c;

-- statistics
select
  case when s.is_off then s.finding end as wrong,
  case when not s.is_off then s.finding end as noted,
  case
    when s.is_off and current_setting('autovacuum') = 'off'
      then 'As the owner of the tables: analyze. Then turn autovacuum on: alter system set autovacuum = on; select pg_reload_conf()'
    when s.is_off then 'As the owner of the tables: analyze. Then turn autovacuum on: alter table ... reset (autovacuum_enabled)'
    else 'Autovacuum does it within minutes of a load. After that, or to have it at once, as the owner of the tables: analyze'
  end as advice,
  'All tables over 1 MB are analyzed' as fine
from (
  select
    'Never analyzed, so that PostgreSQL plans without statistics: ' || string_agg(c.relname, ', ' order by c.relname) as finding,
    current_setting('autovacuum') = 'off' or bool_or(coalesce(c.reloptions @> '{autovacuum_enabled=false}', false)) as is_off
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and pg_relation_size(c.oid) > 1000000
    -- pg_class has a number of rows after CREATE INDEX, too, and a restart may lose the times of pg_stat_all_tables.
    and not exists (select from pg_stats t where t.schemaname = current_schema() and t.tablename = c.relname)
) s;

-- history
select
  null as wrong,
  null as advice,
  format(
    '%s versions of products in %s%s. A product keeps at most 1,000 and 64 MiB of them, the newest first', v.versions, pg_size_pretty(v.bytes),
    to_char(v.oldest at time zone 'UTC', '", the oldest of "YYYY-MM-DD"T"HH24:MI:SS"Z"')
  ) as fine
from (
  select
    count(*) as versions,
    min(d.changed_at) as oldest,
    -- Of the rows: the table of a distributed database is empty on the coordinator.
    coalesce(sum(pg_column_size(d.summary) + pg_column_size(d.details)), 0) as bytes
  from product_documents d
) v;

-- changes
select
  case
    when current_setting('doctor.fact') = 'copied' then 'The database was copied'
    when w.name is not null
      then format('%s has been writing for %s s: the feed of changes waits for it', w.name, w.seconds)
    when u.pid is not null
      then format('Session %s of the role %s and the database %s is writing: the feed of changes waits for it', u.pid, u.usename, u.datname)
  end as wrong,
  case
    when current_setting('doctor.fact') = 'copied' then 'deno task migrate'
    when w.name is not null then 'End it: ' || w.remedy
    else format(
      'End it, as that role or a superuser: select pg_terminate_backend(%s). Members of pg_read_all_stats see since when it writes: grant pg_read_all_stats to %I',
      u.pid, current_user
    )
  end as advice,
  'The feed waits for no transaction' as fine
from (select) one
left join (
  select writing.name, writing.seconds, writing.remedy
  from (
    -- Only members of pg_read_all_stats see those of other roles: doctor.fact is the session of one that lasts.
    select
      format('Session %s of the database %s', a.pid, a.datname) as name,
      extract(epoch from now() - a.xact_start)::int as seconds,
      format('select pg_terminate_backend(%s)', a.pid) as remedy
    from pg_stat_activity a
    where a.backend_xid is not null
    union all
    select
      format('The prepared transaction %s of the database %s', x.gid, x.database),
      extract(epoch from now() - x.prepared)::int,
      format('commit prepared %1$L or rollback prepared %1$L, in the database %2$s', x.gid, x.database)
    from pg_prepared_xacts x
  ) writing
  where writing.seconds >= 10
  order by writing.seconds desc
  limit 1
) w on true
left join pg_stat_activity u on u.pid::text = current_setting('doctor.fact');

-- keys
select
  case
    when not exists (select 1 from organizations) then 'There is no organization'
    when k.number = 0 and current_setting('doctor.fact') = 'false'
      then 'There is no active API key, and no Bearer tokens are configured'
    else 'These keys expire within 14 days: ' || k.ending || k.planned
  end as wrong,
  case
    when not exists (select 1 from organizations) then 'deno task organization create NAME'
    when k.number = 0 then 'deno task key create --organization ID --name NAME'
    else 'Replace them: deno task key create'
  end as advice,
  format('Active: %s; none expires within 14 days', k.number) || k.planned as fine
from (
  select
    count(*) as number,
    string_agg(a.id, ', ' order by a.expires_at) filter (
      where a.revoked_at is null and a.expires_at < now() + interval '14 days'
    ) as ending,
    coalesce(
      string_agg(
        format('; %s will be revoked at %s', a.id, to_char(a.revoked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
        '' order by a.revoked_at
      ) filter (where a.revoked_at is not null),
      ''
    ) as planned
  from api_keys a
  where coalesce(least(a.expires_at, a.revoked_at), 'infinity') > now()
) k;

-- shared isbns
select
  null as wrong,
  'Their owners find the products by GET /products?shared_isbn=true, and delete or correct one: until then, upserts and ONIX records with the ISBN are refused as ambiguous' as advice,
  'ISBNs that several products of an organization have: ' || sum(o.isbns) || ', of organization '
    || string_agg(o.organization_id::text, ', ' order by o.isbns desc) as noted,
  'No two products of an organization have one ISBN' as fine
from (
  select s.organization_id, count(*) as isbns
  from (
    select n.organization_id, n.number
    from (
      select organization_id, id, left(isbn13, 12) as number from products where isbn13 is not null
      union
      select organization_id, id, '978' || left(isbn10, 9) from products where isbn10 is not null
    ) n
    group by n.organization_id, n.number
    having count(*) > 1
  ) s
  group by s.organization_id
  order by isbns desc
  limit 10
) o;

-- webhooks
select
  'Disabled, since the database was copied: ' || string_agg(
    format('%s of organization %s', w.id, w.organization_id), ', ' order by w.disabled_at desc
  ) filter (where w.disabled_reason = 'copied') as wrong,
  'Disabled, since their receivers fail: ' || string_agg(
    format('%s of organization %s (%s)', w.id, w.organization_id, w.disabled_reason), ', ' order by w.disabled_at desc
  ) filter (where w.disabled_reason not in ('by_hand', 'copied')) as noted,
  case
    when bool_or(w.disabled_reason = 'copied')
      then 'Enable those that this copy of the database may call: PUT /webhooks/{id} {"enabled":true}; deno task webhook list shows all'
    else 'Once their receivers work, enable them: PUT /webhooks/{id} {"enabled":true}; deno task webhook list shows all'
  end as advice,
  format('%s enabled, %s failing', count(*) filter (where w.enabled), count(*) filter (where w.enabled and w.failures > 0))
    || coalesce(
      '; disabled by hand: ' || string_agg(format('%s of organization %s', w.id, w.organization_id), ', ')
        filter (where w.disabled_reason = 'by_hand'),
      ''
    ) as fine
from webhooks w;

-- recipients
select
  null as wrong,
  'Not fetched for 30 days: ' || string_agg(
    format(
      '%s of organization %s (%s)', r.name, r.organization_id,
      coalesce('last on ' || (r.fetched_at at time zone 'UTC')::date, 'never')
    ),
    ', ' order by r.name, r.id
  ) filter (where coalesce(r.fetched_at, r.created_at) < now() - interval '30 days') as noted,
  'Ask them whether their key works: their copies keep titles that have left. DELETE /recipients/{id} those that are gone' as advice,
  format('Number of recipients: %s', count(*)) as fine
from (
  select r.organization_id, r.id, r.name, r.created_at, f.fetched_at
  from recipients r
  left join recipient_fetches f on f.organization_id = r.organization_id and f.recipient_id = r.id
) r;

-- distribution
select
  case
    when d.shards > 0 and d.remaining is not null then format('%s, except %s', d.finding, d.remaining)
    when d.shards > 0 and current_setting('doctor.fact') = 'true' then d.finding
  end as wrong,
  case
    when d.remaining is not null then 'Distribute these tables with create_distributed_table, as sql/citus.sql explains'
    else 'Unset DATABASE_REPLICA_URL: the coordinator does not know the replay positions of the workers'' replicas'
  end as advice,
  case when d.shards = 0 then 'One node: Citus is installed but unused' else d.finding end as fine
from (
  select
    s.shards,
    format('Distributed over %s workers, in %s shards', s.workers, s.shards) as finding,
    (
      select string_agg(c.relname, ', ' order by c.relname)
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
        and c.oid not in (select logicalrelid from pg_dist_partition)
    ) as remaining
  from (
    select
      (select count(*) from citus_get_active_worker_nodes()) as workers,
      (select count(*) from pg_dist_shard where logicalrelid = 'products'::regclass) as shards
  ) s
) d;
