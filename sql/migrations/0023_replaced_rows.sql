-- Closes gaps through which stored answers stayed valid although what they show had changed: by an update that waits
-- while another transaction deletes a row and inserts it again, and by transactions that do not see new organizations.

-- SQL that writes rows of products increases the products' updated_at, once per transaction: products written by the
-- same transaction, such as those inserted with their rows, have a new updated_at already. An update that waits misses
-- a product that is inserted again meanwhile. The second pass finds it.
create or replace function move_products() returns trigger
language plpgsql security definer as $$
declare
  writer constant text := current_setting('catalogue.writer', true);
begin
  perform set_config('catalogue.writer', 'service', true);
  for pass in 1..2 loop
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
  end loop;
  perform set_config('catalogue.writer', coalesce(writer, ''), true);
  return null;
end $$;

-- Invalidates the stored answers of organizations with a changed name. The first statement waits for transactions that
-- replace an organization, so the second finds the new row.
create or replace function move_names() returns trigger
language plpgsql security definer as $$
declare
  changed uuid[];
begin
  case tg_op
    when 'INSERT' then
      changed := array(select distinct organization_id from new_rows);
    when 'UPDATE' then
      -- Answers to products do not show the times of a record.
      changed := array(
        select c.organization_id
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
        ) c
      );
    when 'DELETE' then
      changed := array(select distinct organization_id from old_rows);
  end case;
  perform from organizations o where o.id = any (changed) order by o.id for no key update;
  update organizations o set names_version = o.names_version + 1 where o.id = any (changed);
  return null;
end $$;

-- A transaction in REPEATABLE READ does not see organizations that were created after its snapshot, so it cannot
-- invalidate their answers. It fails (40001), because creating one updates the row that it locks here.
create or replace function move_shared_names() returns trigger
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
  lock table organizations in share row exclusive mode;
  perform from change_origins for share;
  update organizations o set names_version = o.names_version + 1;
  return null;
end $$;

create function mark_organization() returns trigger
language plpgsql security definer as $$
begin
  update change_origins set place = place;
  return null;
end $$;

do $$
declare
  item text;
begin
  foreach item in array array['move_products', 'move_names', 'move_shared_names', 'mark_organization'] loop
    execute format('alter function %I() set search_path to %I, pg_temp', item, current_schema());
    execute format('revoke execute on function %I() from public', item);
  end loop;

  if to_regclass('pg_dist_partition') is not null then
    if exists (select from pg_dist_partition where logicalrelid = 'products'::regclass) then
      return;
    end if;
  end if;

  create trigger marked after insert on organizations
    for each statement execute function mark_organization();
  alter table organizations enable always trigger marked;

  -- Neither infinity moves by an interval.
  drop trigger moved on products;
  create trigger moved before update on products
    for each row when (
      current_setting('catalogue.writer', true) is distinct from 'service'
      and (
        new.updated_at < old.updated_at + interval '1 millisecond'
        or not isfinite(new.updated_at)
      )
    )
    execute function move_product();
  alter table products enable always trigger moved;
end $$;
