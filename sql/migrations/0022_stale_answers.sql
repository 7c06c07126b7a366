-- Closes gaps through which stored answers stayed valid although what they show had changed.

-- The version after `infinity` is the present time: nothing is later than `infinity`.
create or replace function next_version(version timestamptz) returns timestamptz
language sql stable
return greatest(now(), nullif(version, 'infinity') + interval '1 millisecond');

-- Invalidates all stored answers after a change of a shared code list. Without the lock, an organization that is
-- created before the change is committed would keep answers with the old names.
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
  update organizations o set names_version = o.names_version + 1;
  return null;
end $$;

-- Invalidates the stored answers of organizations with rows that refer to the new record already: they were written
-- while foreign keys were disabled.
create function move_missing_names() returns trigger
language plpgsql security definer as $$
declare
  reference record;
begin
  for reference in
    select k.conrelid::regclass as referring, a.attname as column_name
    from pg_constraint k
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any (k.conkey) and a.attname <> 'organization_id'
    where k.contype = 'f' and k.confrelid = tg_relid
  loop
    execute format(
      'update organizations o set names_version = o.names_version + 1
      where o.id in (
        select n.organization_id
        from new_rows n
        where exists (
          select from %s x where x.organization_id = n.organization_id and x.%I = n.id
        )
      )',
      reference.referring, reference.column_name
    );
  end loop;
  return null;
end $$;

do $$
declare
  item text;
begin
  foreach item in array array['move_shared_names', 'move_missing_names'] loop
    execute format('alter function %I() set search_path to %I, pg_temp', item, current_schema());
    execute format('revoke execute on function %I() from public', item);
  end loop;

  if to_regclass('pg_dist_partition') is not null then
    if exists (select from pg_dist_partition where logicalrelid = 'products'::regclass) then
      return;
    end if;
  end if;

  -- An organization that is deleted and inserted again must not repeat a version of its names: the documents of that
  -- version would be valid again.
  alter table organizations alter names_version set default (random() * 9007199254740992)::bigint;

  drop trigger moved on products;
  create trigger moved before update on products
    for each row when (
      current_setting('catalogue.writer', true) is distinct from 'service'
      and (new.updated_at < old.updated_at + interval '1 millisecond' or new.updated_at = 'infinity')
    )
    execute function move_product();
  alter table products enable always trigger moved;

  foreach item in array array[
    'publishing_statuses', 'product_availabilities', 'product_forms', 'contributor_roles', 'lifecycle_statuses'
  ] loop
    execute format('drop trigger inserted on %I', item);
    execute format(
      'create trigger inserted after insert on %I referencing new table as new_rows
      for each statement execute function move_shared_names()',
      item
    );
    execute format('alter table %I enable always trigger inserted', item);
  end loop;

  -- While foreign keys are disabled, the trigger `inserted` invalidates the answers of the whole organization. The
  -- service itself inserts records with new ids.
  foreach item in array array[
    'licenses', 'seasons', 'publishers', 'divisions', 'imprints', 'collections', 'formats', 'titles', 'contributors',
    'custom_fields'
  ] loop
    execute format(
      'create trigger referred after insert on %I referencing new table as new_rows
      for each statement when (current_setting(''catalogue.writer'', true) is distinct from ''service'')
      execute function move_missing_names()',
      item
    );
  end loop;
end $$;
