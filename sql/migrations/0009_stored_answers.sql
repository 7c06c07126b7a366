-- The stored answer of a product is valid while its updated_at is the product's and its names_version is the
-- organization's. Reads check both. Triggers increase the two versions when SQL changes displayed data. The service
-- increases them itself, and sets catalogue.writer to disable the triggers.

-- Increases when a displayed name changes. Null disables stored answers in a distributed database, which has no
-- triggers.
alter table organizations add column names_version bigint default 0;

create table product_documents (
  organization_id uuid not null,
  product_id uuid not null,
  updated_at timestamptz not null,
  names_version bigint not null,
  -- The fields in lists, and those only in the full product, both as JSON without braces.
  summary text not null,
  details text not null,

  constraint product_documents_pkey primary key (organization_id, product_id),
  -- An answer is at most 4 MiB.
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

-- A product has at most 500 rows in an array. The request body limits the arrays that it replaces whole.
alter table product_prices add constraint product_prices_position check (position < 500) not valid;

alter table packing_configurations add constraint packing_configurations_position check (position < 500) not valid;

-- Counts the products that SQL inserted. From now on, a trigger maintains the counts.
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

-- The functions below run as their owner: who may write a table need not have rights to what follows from that. Their
-- own updates of products leave nothing to do for triggers, so `catalogue.writer` keeps these off. `set` in the head of a
-- function would do that too, but only a superuser may create such a function.

create function next_version(version timestamptz) returns timestamptz
language sql stable
return greatest(now(), version + interval '1 millisecond');

-- SQL that writes rows of products increases the products' updated_at, once per transaction: products written by the
-- same transaction, such as those inserted with their rows, have a new updated_at already.
create function move_products() returns trigger
language plpgsql security definer as $$
declare
  writer constant text := current_setting('catalogue.writer', true);
begin
  perform set_config('catalogue.writer', 'service', true);
  case tg_op
    when 'INSERT' then
      update products p set updated_at = next_version(p.updated_at)
      from (select distinct organization_id, product_id from new_rows) r
      where p.organization_id = r.organization_id and p.id = r.product_id
        and p.xmin <> pg_current_xact_id()::xid;
    when 'UPDATE' then
      update products p set updated_at = next_version(p.updated_at)
      from (
        select organization_id, product_id from old_rows
        union
        select organization_id, product_id from new_rows
      ) r
      where p.organization_id = r.organization_id and p.id = r.product_id
        and p.xmin <> pg_current_xact_id()::xid;
    when 'DELETE' then
      update products p set updated_at = next_version(p.updated_at)
      from (select distinct organization_id, product_id from old_rows) r
      where p.organization_id = r.organization_id and p.id = r.product_id
        and p.xmin <> pg_current_xact_id()::xid;
    when 'TRUNCATE' then
      execute format(
        'update products p set updated_at = next_version(p.updated_at)
        from (select distinct organization_id, product_id from %I.%I) r
        where p.organization_id = r.organization_id and p.id = r.product_id
          and p.xmin <> pg_current_xact_id()::xid',
        tg_table_schema, tg_table_name
      );
  end case;
  perform set_config('catalogue.writer', coalesce(writer, ''), true);
  return null;
end $$;

-- SQL that changes a product increases its updated_at.
create function move_product() returns trigger language plpgsql as $$
begin
  new.updated_at := next_version(old.updated_at);
  return new;
end $$;

-- Deletes the stored answer, whose foreign key would prevent a change of the product's key.
create function forget_document() returns trigger
language plpgsql security definer as $$
begin
  delete from product_documents d where d.organization_id = old.organization_id and d.product_id = old.id;
  return new;
end $$;

-- With foreign keys disabled, an answer would survive its product and be valid for a new one with the same id.
create function forget_documents() returns trigger
language plpgsql security definer as $$
begin
  delete from product_documents d
  using rows r
  where d.organization_id = r.organization_id and d.product_id = r.id;
  return null;
end $$;

-- Maintains the counts when SQL inserts or deletes products; the argument is 1 or -1. SQL has separate slots, so that
-- the service does not wait for long transactions.
create function count_products() returns trigger
language plpgsql security definer as $$
begin
  insert into product_counts as c (organization_id, filter, value, slot, products)
  select r.organization_id, f.filter, f.value, 16 + pg_backend_pid() % 16, sum(r.products) * tg_argv[0]::int
  from (
    select
      organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id,
      count(*) as products
    from rows
    group by organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
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
  order by r.organization_id, f.filter, f.value
  on conflict (organization_id, filter, value, slot)
  do update set products = c.products + excluded.products;
  return null;
end $$;

-- Maintains the counts when SQL updates products.
create function count_changed_products() returns trigger
language plpgsql security definer as $$
begin
  insert into product_counts as c (organization_id, filter, value, slot, products)
  select r.organization_id, f.filter, f.value, 16 + pg_backend_pid() % 16, sum(r.products)
  from (
    select
      organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id,
      sum(by) as products
    from (
      select 1 as by, organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
      from new_rows
      union all
      select -1, organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
      from old_rows
    ) r
    group by organization_id, publishing_status_id, lifecycle_status_id, product_availability_id, format_id
    having sum(by) <> 0
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
  having sum(r.products) <> 0
  order by r.organization_id, f.filter, f.value
  on conflict (organization_id, filter, value, slot)
  do update set products = c.products + excluded.products;
  return null;
end $$;

create function forget_counts() returns trigger
language plpgsql security definer as $$
begin
  delete from product_counts;
  return null;
end $$;

-- Invalidates the stored answers of organizations with a changed name.
create function move_names() returns trigger
language plpgsql security definer as $$
begin
  case tg_op
    when 'INSERT' then
      update organizations o set names_version = o.names_version + 1
      where o.id in (select organization_id from new_rows);
    when 'UPDATE' then
      update organizations o set names_version = o.names_version + 1
      where o.id in (
        -- Answers to products do not show the times of a record.
        select changed.organization_id
        from (
          (
            select n.organization_id, to_jsonb(n) - array['created_at', 'updated_at'] from new_rows n
            except
            select r.organization_id, to_jsonb(r) - array['created_at', 'updated_at'] from old_rows r
          )
          union all
          (
            select r.organization_id, to_jsonb(r) - array['created_at', 'updated_at'] from old_rows r
            except
            select n.organization_id, to_jsonb(n) - array['created_at', 'updated_at'] from new_rows n
          )
        ) changed
      );
    when 'DELETE' then
      update organizations o set names_version = o.names_version + 1
      where o.id in (select organization_id from old_rows);
  end case;
  return null;
end $$;

-- Invalidates all stored answers after a change of a shared code list.
create function move_shared_names() returns trigger
language plpgsql security definer as $$
begin
  case tg_op
    when 'INSERT' then
      if not exists (select from new_rows) then return null; end if;
    when 'UPDATE' then
      if not exists (select * from new_rows except select * from old_rows) then return null; end if;
    when 'DELETE' then
      if not exists (select from old_rows) then return null; end if;
    when 'TRUNCATE' then
  end case;
  update organizations o set names_version = o.names_version + 1;
  return null;
end $$;

do $$
declare
  writes_sql constant text :=
    'when (current_setting(''catalogue.writer'', true) is distinct from ''service'')';
  is_replica constant text := 'when (current_setting(''session_replication_role'') = ''replica'')';
  old_rows constant text := 'referencing old table as old_rows';
  new_rows constant text := 'referencing new table as new_rows';
  item text;
begin
  -- Makes the functions independent of the writer's search_path, and prevents their use in triggers of other tables.
  foreach item in array array[
    'move_products', 'move_product', 'forget_document', 'forget_documents', 'count_products',
    'count_changed_products', 'forget_counts', 'move_names', 'move_shared_names'
  ] loop
    execute format('alter function %I() set search_path to %I, pg_temp', item, current_schema());
    execute format('revoke execute on function %I() from public', item);
  end loop;

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
      'create trigger inserted after insert on %I %s for each statement %s execute function move_products()',
      item, new_rows, writes_sql
    );
    execute format(
      'create trigger updated after update on %I %s new table as new_rows
      for each statement %s execute function move_products()',
      item, old_rows, writes_sql
    );
    execute format(
      'create trigger deleted after delete on %I %s for each statement %s execute function move_products()',
      item, old_rows, writes_sql
    );
    execute format(
      'create trigger truncated before truncate on %I for each statement %s execute function move_products()',
      item, writes_sql
    );
  end loop;

  execute 'create trigger inserted after insert on products referencing new table as rows
    for each statement ' || writes_sql || ' execute function count_products(''1'')';
  execute 'create trigger deleted after delete on products referencing old table as rows
    for each statement ' || writes_sql || ' execute function count_products(''-1'')';
  execute 'create trigger forgotten after delete on products referencing old table as rows
    for each statement ' || is_replica || ' execute function forget_documents()';
  create trigger renumbered before update of organization_id, id on products
    for each row when ((old.organization_id, old.id) <> (new.organization_id, new.id))
    execute function forget_document();
  execute format(
    'create trigger counted after update on products %s new table as new_rows
    for each statement %s execute function count_changed_products()',
    old_rows, writes_sql
  );
  create trigger moved before update on products
    for each row when (
      current_setting('catalogue.writer', true) is distinct from 'service'
      and new.updated_at < old.updated_at + interval '1 millisecond'
    )
    execute function move_product();
  execute 'create trigger truncated after truncate on products
    for each statement ' || writes_sql || ' execute function forget_counts()';

  -- Foreign keys prevent the deletion of names in use, except within a statement that inserts them again, and if
  -- foreign keys are disabled.
  foreach item in array array[
    'licenses', 'seasons', 'publishers', 'divisions', 'imprints', 'collections', 'formats', 'titles', 'contributors',
    'custom_fields'
  ] loop
    execute format(
      'create trigger renamed after update on %I %s new table as new_rows
      for each statement execute function move_names()',
      item, old_rows
    );
    execute format(
      'create trigger deleted after delete on %I %s for each statement %s execute function move_names()',
      item, old_rows, writes_sql
    );
    execute format(
      'create trigger inserted after insert on %I %s for each statement %s execute function move_names()',
      item, new_rows, is_replica
    );
  end loop;

  foreach item in array array[
    'publishing_statuses', 'product_availabilities', 'product_forms', 'contributor_roles', 'lifecycle_statuses',
    'onix_codes'
  ] loop
    execute format(
      'create trigger renamed after update on %I %s new table as new_rows
      for each statement execute function move_shared_names()',
      item, old_rows
    );
    execute format(
      'create trigger deleted after delete on %I %s for each statement execute function move_shared_names()',
      item, old_rows
    );
    -- No foreign key refers to the labels of ONIX codes, so products may exist before them.
    execute format(
      'create trigger inserted after insert on %I %s for each statement %s execute function move_shared_names()',
      item, new_rows, case when item <> 'onix_codes' then is_replica end
    );
  end loop;

  create trigger truncated after truncate on onix_codes
    for each statement execute function move_shared_names();

  -- The triggers also fire if session_replication_role is replica, as in some restores.
  for item in
    select format('alter table %s enable always trigger %I', t.tgrelid::regclass, t.tgname)
    from pg_trigger t
    join pg_proc f on f.oid = t.tgfoid
    where not t.tgisinternal and f.pronamespace = current_schema()::regnamespace
  loop
    execute item;
  end loop;
end $$;
