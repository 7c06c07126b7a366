-- Distributes an installed database, empty or full, over the workers of a Citus cluster: once, in one
-- transaction. Run it where `create extension citus` and `citus_add_node` have been:
--
--   psql "$DATABASE_URL" -f sql/citus.sql
--
-- Every table with an organization_id is split by it, so that all of an organization's rows are on one
-- node. The tables in `shared` are copied to every node. There are no triggers in a distributed database: the
-- service answers with nothing stored, and after SQL that inserts, deletes or refiles products the counts are
-- repaired by `deno task recount`.
--
-- A migration that makes a table does the same in its own file, before it adds the table's foreign keys;
-- to a database that is not distributed this does nothing:
--
--   do $$ begin
--     if to_regclass('pg_dist_partition') is not null then
--       perform create_distributed_table('editions', 'organization_id', colocate_with => 'products')
--       from pg_dist_partition where logicalrelid = 'products'::regclass;
--     end if;
--   end $$;
do $$
declare
  shared constant text[] := array[
    'organizations',
    'publishing_statuses',
    'product_availabilities',
    'product_forms',
    'contributor_roles',
    'lifecycle_statuses',
    'onix_codes',
    'change_origins',
    'api_keys',
    'organization_members'
  ];
  split constant text[] := array(
    select c.relname
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> all (shared)
    -- The others lie where it does.
    order by c.relname <> 'products', c.relname
  );
  drops text[];
  adds text[];
  item text;
begin
  if to_regclass('pg_dist_partition') is null then
    raise exception 'There is no Citus in this database: create extension citus, and add its workers';
  end if;
  if not exists (select from citus_get_active_worker_nodes()) then
    raise exception 'Citus has no workers: add them with citus_add_node';
  end if;
  if exists (select from pg_dist_partition where logicalrelid = 'products'::regclass) then
    raise exception 'This database is distributed: there is nothing to do';
  end if;

  -- No migration meanwhile, and tables and keys in one transaction.
  perform pg_advisory_xact_lock(7305219);
  set local citus.multi_shard_modify_mode = 'sequential';
  set local client_min_messages = 'warning';

  for item in
    select format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass)
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal
  loop
    execute item;
  end loop;
  -- Without triggers nothing keeps stored answers right: with null none of them ever is.
  alter table organizations alter names_version drop default;
  update organizations set names_version = null;
  truncate product_documents;

  -- A key stops either of its tables from being distributed before the other.
  select
    array_agg(format('alter table %s drop constraint %I', k.conrelid::regclass, k.conname)),
    array_agg(
      format('alter table %s add constraint %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
      order by k.conname
    )
  into drops, adds
  from pg_constraint k
  where k.contype = 'f' and k.connamespace = current_schema()::regnamespace;

  foreach item in array drops loop
    execute item;
  end loop;
  foreach item in array shared loop
    perform create_reference_table(item);
  end loop;
  foreach item in array split loop
    perform create_distributed_table(
      item, 'organization_id',
      colocate_with => case item when 'products' then 'none' else 'products' end
    );
  end loop;
  -- What was in them before is on the nodes now, and here only in the way.
  foreach item in array split || shared loop
    perform truncate_local_data_after_distributing_table(item::regclass);
  end loop;
  foreach item in array adds loop
    execute item;
  end loop;

  set local client_min_messages = 'notice';
  raise notice 'Distributed: % tables by organization_id, % copied to every node',
    cardinality(split), cardinality(shared);
end $$;
