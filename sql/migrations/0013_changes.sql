-- What has changed since a cursor. Every change of a product gets the version of its transaction: transaction ids
-- grow, and the oldest one that is still running (pg_snapshot_xmin) bounds what may be given out.

-- Names the table of products: no other server, database or restored table has the same name.
create function catalogue_place() returns text
language sql stable
return (
  select c.system_identifier || '/' || d.oid || '/' || 'products'::regclass::oid
  from pg_control_system() c, pg_database d
  where d.datname = current_database()
);

-- Where versions come from. A copy keeps versions, but transaction ids are others where it is restored: there a new
-- origin begins above all of them, and cursors of the old one are expired. One row.
create table change_origins (
  id uuid not null default gen_random_uuid(),
  -- The catalogue_place() at which the origin began.
  place text not null,
  -- Added to a transaction id, it is a version.
  base bigint not null,

  constraint change_origins_pkey primary key (id)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_reference_table('change_origins')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

-- Begins an origin here, above all versions that there are. The base stands in the text of change_version(), because
-- a function that looks it up costs each write more than its index does.
create function begin_origin(base bigint) returns void
language plpgsql as $$
begin
  delete from change_origins;
  insert into change_origins (place, base) values (catalogue_place(), begin_origin.base);
  execute format(
    'create or replace function change_version() returns bigint
    language sql stable
    return %s::bigint + pg_current_xact_id()::text::bigint',
    begin_origin.base
  );
end $$;

select begin_origin(0);

-- The rows that are there get a version below those of all transactions, without being rewritten.
alter table products add column change_version bigint not null default 1;

alter table products alter column change_version set default change_version();

create index products_by_version on products (organization_id, change_version, id);

-- Products that were deleted.
create table product_deletions (
  organization_id uuid not null,
  product_id uuid not null,
  change_version bigint not null default change_version(),
  deleted_at timestamptz not null default now(),

  constraint product_deletions_pkey primary key (organization_id, product_id)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('product_deletions', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

create index product_deletions_by_version on product_deletions (organization_id, change_version, product_id);

create index product_deletions_by_age on product_deletions (organization_id, deleted_at);

create function version_product() returns trigger language plpgsql as $$
begin
  new.change_version = change_version();
  return new;
end $$;

-- SQL that deletes products, or gives them another key, is remembered.
create function remember_deletions() returns trigger
language plpgsql security definer as $$
declare
  gone constant text := case
    when tg_op = 'DELETE' then 'select organization_id, id from rows'
    when tg_op = 'TRUNCATE' then 'select organization_id, id from products'
    else 'select $1, $2'
  end;
  remembering constant text := format(
    'insert into product_deletions (organization_id, product_id) %s
    on conflict (organization_id, product_id)
    do update set change_version = excluded.change_version, deleted_at = excluded.deleted_at',
    gone
  );
begin
  if tg_op = 'UPDATE' then
    execute remembering using old.organization_id, old.id;
  else
    execute remembering;
  end if;
  return null;
end $$;

do $$
declare
  writes_sql constant text := '(current_setting(''catalogue.writer'', true) is distinct from ''service'')';
begin
  if to_regclass('pg_dist_partition') is not null then
    if exists (select from pg_dist_partition where logicalrelid = 'products'::regclass) then
      return;
    end if;
  end if;
  -- As in 0009_stored_answers.sql: whatever the search_path and the rights of who writes.
  execute format('alter function version_product() set search_path to %I, pg_temp', current_schema());
  execute format('alter function remember_deletions() set search_path to %I, pg_temp', current_schema());
  revoke execute on function remember_deletions() from public;
  execute 'create trigger versioned before insert on products for each row when '
    || writes_sql || ' execute function version_product()';
  -- All that changes a product moves its updated_at; the service moves the version with it.
  execute 'create trigger version_moved before update on products for each row
    when (new.updated_at is distinct from old.updated_at and (new.change_version = old.change_version or '
    || writes_sql || ')) execute function version_product()';
  execute 'create trigger remembered after delete on products referencing old table as rows for each statement when '
    || writes_sql || ' execute function remember_deletions()';
  execute 'create trigger remembered_all before truncate on products for each statement when '
    || writes_sql || ' execute function remember_deletions()';
  create trigger remembered_key after update of organization_id, id on products for each row
    when ((old.organization_id, old.id) is distinct from (new.organization_id, new.id))
    execute function remember_deletions();
  alter table products enable always trigger versioned, enable always trigger version_moved,
    enable always trigger remembered, enable always trigger remembered_all, enable always trigger remembered_key;
end $$;
