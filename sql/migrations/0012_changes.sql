-- What has changed since a cursor. Every change of a product gets the version of its transaction: transaction ids
-- grow, and the oldest one that is still running (pg_snapshot_xmin) bounds what may be given out.

-- Where versions come from. A dump keeps versions, but transaction ids begin anew where it is restored: there a new
-- origin begins above all of them, and cursors of the old one are expired. One row.
create table change_origins (
  id uuid not null default gen_random_uuid(),
  system_identifier text not null,
  database_oid bigint not null,
  -- Added to a transaction id, it is a version.
  base bigint not null,

  constraint change_origins_pkey primary key (id)
);

insert into change_origins (system_identifier, database_oid, base)
select c.system_identifier, d.oid, 0
from pg_control_system() c, pg_database d
where d.datname = current_database();

create function change_version() returns bigint
language sql stable
return (select base from change_origins) + pg_current_xact_id()::text::bigint;

-- The rows that are there get the version of this transaction, without being rewritten.
alter table products add column change_version bigint not null default change_version();

create index products_by_version on products (organization_id, change_version, id);

-- Products that were deleted, for 30 days.
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

-- SQL that writes products gives them the version of its transaction.
create function version_product() returns trigger language plpgsql as $$
begin
  new.change_version = change_version();
  return new;
end $$;

-- SQL that deletes products is remembered.
create function remember_deletions() returns trigger language plpgsql as $$
begin
  if tg_op = 'TRUNCATE' then
    insert into product_deletions (organization_id, product_id) select organization_id, id from products
    on conflict (organization_id, product_id)
    do update set change_version = excluded.change_version, deleted_at = excluded.deleted_at;
  else
    insert into product_deletions (organization_id, product_id) select organization_id, id from rows
    on conflict (organization_id, product_id)
    do update set change_version = excluded.change_version, deleted_at = excluded.deleted_at;
  end if;
  return null;
end $$;

do $$
declare
  writes_sql constant text := 'when (current_setting(''catalogue.writer'', true) is distinct from ''service'')';
begin
  if to_regclass('pg_dist_partition') is not null then
    if exists (select from pg_dist_partition where logicalrelid = 'products'::regclass) then
      return;
    end if;
  end if;
  execute 'create trigger versioned before insert or update on products for each row '
    || writes_sql || ' execute function version_product()';
  execute 'create trigger remembered after delete on products referencing old table as rows for each statement '
    || writes_sql || ' execute function remember_deletions()';
  execute 'create trigger remembered_all before truncate on products for each statement '
    || writes_sql || ' execute function remember_deletions()';
  alter table products enable always trigger versioned, enable always trigger remembered,
    enable always trigger remembered_all;
end $$;
