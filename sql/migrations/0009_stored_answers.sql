-- The answer to each product, stored as text and checked when it is read: it is right while it has the product's
-- updated_at and the organization's names_version. Triggers move these two when SQL changes what answers show. The
-- service moves them itself, and sets catalogue.writer so that the triggers stay off.

-- Moves when a name changes that answers show. Null in a distributed database, which has no triggers: nothing is
-- stored there.
alter table organizations add column names_version bigint default 0;

create table product_documents (
  organization_id uuid not null,
  product_id uuid not null,
  updated_at timestamptz not null,
  names_version bigint not null,
  -- The fields that lists show, and those that only the full product has: JSON without its braces.
  summary text not null,
  details text not null,

  constraint product_documents_pkey primary key (organization_id, product_id),
  -- The largest answer is 4 MiB.
  constraint product_documents_size check (octet_length(summary) + octet_length(details) <= 4194304)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('product_documents', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

alter table product_documents add constraint product_documents_product
  foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade;

-- A product has at most 500 rows in an array, as stored and not only as sent. The other arrays are replaced whole.
alter table product_prices add constraint product_prices_position check (position < 500) not valid;

alter table packing_configurations add constraint packing_configurations_position check (position < 500) not valid;

-- The counts of products that were loaded by SQL; from now on a trigger keeps them.
lock table products in share row exclusive mode;

insert into product_counts as c (organization_id, filter, value, slot, products)
select p.organization_id, f.filter, f.value, 0, count(*)
from products p
cross join lateral (values
  ('organization_id', p.organization_id),
  ('publishing_status_id', p.publishing_status_id),
  ('lifecycle_status_id', p.lifecycle_status_id),
  ('product_availability_id', p.product_availability_id),
  ('format_id', p.format_id)
) f (filter, value)
where not p.counted and f.value is not null
group by p.organization_id, f.filter, f.value
order by p.organization_id, f.filter, f.value
on conflict (organization_id, filter, value, slot)
do update set products = c.products + excluded.products;

drop index products_uncounted;

alter table products drop column counted;

drop table last_writes;

create function next_version(version timestamptz) returns timestamptz
language sql stable
return greatest(now(), version + interval '1 millisecond');

-- SQL that writes rows below products moves the products' updated_at.
create function move_products() returns trigger language plpgsql as $$
begin
  case tg_op
    when 'INSERT' then
      update products p set updated_at = next_version(p.updated_at)
      from (select distinct organization_id, product_id from new_rows) r
      where p.organization_id = r.organization_id and p.id = r.product_id;
    when 'UPDATE' then
      update products p set updated_at = next_version(p.updated_at)
      from (
        select organization_id, product_id from old_rows
        union
        select organization_id, product_id from new_rows
      ) r
      where p.organization_id = r.organization_id and p.id = r.product_id;
    when 'DELETE' then
      update products p set updated_at = next_version(p.updated_at)
      from (select distinct organization_id, product_id from old_rows) r
      where p.organization_id = r.organization_id and p.id = r.product_id;
    when 'TRUNCATE' then
      execute format(
        'update products p set updated_at = next_version(p.updated_at)
        from (select distinct organization_id, product_id from %I.%I) r
        where p.organization_id = r.organization_id and p.id = r.product_id',
        tg_table_schema, tg_table_name
      );
  end case;
  return null;
end $$;

-- SQL that changes products moves their updated_at too, and never back.
create function move_changed_products() returns trigger language plpgsql as $$
begin
  -- A statement trigger fires for no rows too: without this it would fire itself for ever.
  if not exists (
    select
    from old_rows o
    join new_rows n on n.organization_id = o.organization_id and n.id = o.id
    where n.updated_at <= o.updated_at and n is distinct from o
  ) then
    return null;
  end if;
  update products p set updated_at = next_version(o.updated_at)
  from old_rows o
  join new_rows n on n.organization_id = o.organization_id and n.id = o.id
  where p.organization_id = n.organization_id and p.id = n.id
    and n.updated_at <= o.updated_at and n is distinct from o;
  return null;
end $$;

-- SQL that inserts or deletes products keeps their counts; the argument is 1 or -1.
create function count_products() returns trigger language plpgsql as $$
begin
  insert into product_counts as c (organization_id, filter, value, slot, products)
  select r.organization_id, f.filter, f.value, pg_backend_pid() % 16, count(*) * tg_argv[0]::int
  from rows r
  cross join lateral (values
    ('organization_id', r.organization_id),
    ('publishing_status_id', r.publishing_status_id),
    ('lifecycle_status_id', r.lifecycle_status_id),
    ('product_availability_id', r.product_availability_id),
    ('format_id', r.format_id)
  ) f (filter, value)
  where f.value is not null
  group by r.organization_id, f.filter, f.value
  order by r.organization_id, f.filter, f.value
  on conflict (organization_id, filter, value, slot)
  do update set products = c.products + excluded.products;
  return null;
end $$;

-- SQL that moves products to other values keeps their counts.
create function count_changed_products() returns trigger language plpgsql as $$
begin
  insert into product_counts as c (organization_id, filter, value, slot, products)
  select r.organization_id, f.filter, f.value, pg_backend_pid() % 16, sum(r.by)
  from (
    select 1 as by, organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
    from new_rows
    union all
    select -1, organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
    from old_rows
  ) r
  cross join lateral (values
    ('organization_id', r.organization_id),
    ('publishing_status_id', r.publishing_status_id),
    ('lifecycle_status_id', r.lifecycle_status_id),
    ('product_availability_id', r.product_availability_id),
    ('format_id', r.format_id)
  ) f (filter, value)
  where f.value is not null
  group by r.organization_id, f.filter, f.value
  having sum(r.by) <> 0
  order by r.organization_id, f.filter, f.value
  on conflict (organization_id, filter, value, slot)
  do update set products = c.products + excluded.products;
  return null;
end $$;

create function forget_counts() returns trigger language plpgsql as $$
begin
  delete from product_counts;
  return null;
end $$;

-- A name that answers show has changed in these organizations.
create function move_names() returns trigger language plpgsql as $$
begin
  update organizations o set names_version = o.names_version + 1
  from (
    select distinct organization_id
    from (select * from new_rows except select * from old_rows) changed
  ) r
  where o.id = r.organization_id;
  return null;
end $$;

-- A name in a list that all organizations share has changed.
create function move_shared_names() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if not exists (select * from new_rows except select * from old_rows) then
      return null;
    end if;
  end if;
  update organizations o set names_version = o.names_version + 1;
  return null;
end $$;

-- `enable always`: also where session_replication_role is replica, as in some restores.
do $$
declare
  writes_sql constant text :=
    'for each statement when (current_setting(''catalogue.writer'', true) is distinct from ''service'')';
  item text;
begin
  if to_regclass('pg_dist_partition') is not null then
    if exists (select from pg_dist_partition where logicalrelid = 'products'::regclass) then
      alter table organizations alter names_version drop default;
      update organizations set names_version = null;
      return;
    end if;
  end if;

  foreach item in array array[
    'product_prices', 'packing_configurations', 'product_contributors', 'product_collections',
    'custom_field_values', 'collateral', 'product_sales_rights', 'product_territories', 'territory_markets',
    'market_dates', 'supply_details', 'supply_dates', 'supply_prices', 'supply_price_taxes'
  ] loop
    execute format(
      'create trigger inserted after insert on %I referencing new table as new_rows %s execute function move_products()',
      item, writes_sql
    );
    execute format(
      'create trigger updated after update on %I referencing old table as old_rows new table as new_rows
      %s execute function move_products()',
      item, writes_sql
    );
    execute format(
      'create trigger deleted after delete on %I referencing old table as old_rows %s execute function move_products()',
      item, writes_sql
    );
    execute format('create trigger truncated before truncate on %I %s execute function move_products()', item, writes_sql);
    execute format('alter table %I enable always trigger inserted, enable always trigger updated, enable always trigger deleted, enable always trigger truncated', item);
  end loop;

  execute 'create trigger inserted after insert on products referencing new table as rows '
    || writes_sql || ' execute function count_products(''1'')';
  execute 'create trigger deleted after delete on products referencing old table as rows '
    || writes_sql || ' execute function count_products(''-1'')';
  execute 'create trigger counted after update on products referencing old table as old_rows new table as new_rows '
    || writes_sql || ' execute function count_changed_products()';
  execute 'create trigger moved after update on products referencing old table as old_rows new table as new_rows '
    || writes_sql || ' execute function move_changed_products()';
  execute 'create trigger truncated after truncate on products ' || writes_sql || ' execute function forget_counts()';
  alter table products enable always trigger inserted, enable always trigger deleted, enable always trigger counted,
    enable always trigger moved, enable always trigger truncated;

  foreach item in array array[
    'licenses', 'seasons', 'publishers', 'divisions', 'imprints', 'collections', 'formats', 'titles', 'contributors',
    'custom_fields'
  ] loop
    execute format(
      'create trigger renamed after update on %I referencing old table as old_rows new table as new_rows
      for each statement execute function move_names()',
      item
    );
    execute format('alter table %I enable always trigger renamed', item);
  end loop;

  foreach item in array array[
    'publishing_statuses', 'product_availabilities', 'product_forms', 'contributor_roles', 'lifecycle_statuses',
    'onix_codes'
  ] loop
    execute format(
      'create trigger renamed after update on %I referencing old table as old_rows new table as new_rows
      for each statement execute function move_shared_names()',
      item
    );
    execute format('alter table %I enable always trigger renamed', item);
  end loop;

  -- The labels of codes are not referred to by a key, so they may come and go.
  create trigger changed after insert or delete or truncate on onix_codes
    for each statement execute function move_shared_names();
  alter table onix_codes enable always trigger changed;
end $$;
