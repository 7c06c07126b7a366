-- Distributes a migrated database, empty or filled, over the workers of a Citus cluster, in one
-- transaction. Run it once, after `create extension citus` and `citus_add_node`:
--
--   psql "$DATABASE_URL" -f sql/citus.sql
--
-- Tables with an organization_id are sharded by it, and organizations by id, so all rows of an organization are on one
-- node. Every node has a copy of the tables in `reference_tables`. A distributed database has no triggers: only the
-- service writes it. Other sessions are read-only by default, so SQL that writes is refused (25006).
--
-- A migration that creates a table distributes it before it adds the table's foreign keys. The following block
-- does nothing in a database that is not distributed:
--
--   do $$ begin
--     if to_regclass('pg_dist_partition') is not null then
--       perform create_distributed_table('editions', 'organization_id', colocate_with => 'products')
--       from pg_dist_partition where logicalrelid = 'products'::regclass;
--     end if;
--   end $$;
do $$
declare
  reference_tables constant text[] := array[
    'publishing_statuses',
    'product_availabilities',
    'product_forms',
    'contributor_roles',
    'lifecycle_statuses',
    'onix_codes',
    'change_origins',
    'history_clock',
    'api_keys',
    'organization_members'
  ];
  distributed_tables constant text[] := array(
    select c.relname
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> all (reference_tables)
      and (c.relname = 'organizations' or exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id'
      ))
    -- The other tables are colocated with products.
    order by c.relname <> 'products', c.relname
  );
  drops text[];
  adds text[];
  item text;
begin
  if to_regclass('pg_dist_partition') is null then
    raise exception 'This database has no Citus: create extension citus, and add its workers';
  end if;
  if not exists (select from citus_get_active_worker_nodes()) then
    raise exception 'Citus has no workers: add them with citus_add_node';
  end if;
  if exists (select from pg_dist_partition where logicalrelid = 'products'::regclass) then
    raise exception 'This database is already distributed';
  end if;
  -- Citus would refuse the statements below once a local one has used a shard. A migration that ran before
  -- citus_set_coordinator_host has made the coordinator such a node.
  if exists (select from pg_dist_node where groupid = 0 and shouldhaveshards) then
    raise exception 'The coordinator would take organizations: select citus_set_node_property(nodename, nodeport, ''shouldhaveshards'', false) from pg_dist_node where groupid = 0';
  end if;

  -- Blocks migrations, and lets Citus create tables and keys in one transaction.
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

  -- Citus copies the domains, and below the functions, that are created in a distributed database to its nodes.
  drop domain rows_found, key_unused, version_stored, version_last;
  create domain rows_found as boolean constraint rows_found check (value);
  create domain key_unused as boolean constraint key_unused check (value);
  create domain version_stored as boolean constraint version_stored check (value);
  create domain version_last as boolean constraint version_last check (value);
  -- The mark of a distributed database.
  create domain distributed as boolean;

  -- Citus cannot distribute a table that has foreign keys to a local one. Drop all and add them again, except keys from
  -- a table that every node has to organizations: Citus has none.
  select
    array_agg(format('alter table %s drop constraint %I', k.conrelid::regclass, k.conname)),
    array_agg(
      format('alter table %s add constraint %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
      order by k.oid
    ) filter (
      where k.confrelid <> 'organizations'::regclass or k.conrelid::regclass::text <> all (reference_tables)
    )
  into drops, adds
  from pg_constraint k
  where k.contype = 'f' and k.connamespace = current_schema()::regnamespace;

  foreach item in array drops loop
    execute item;
  end loop;
  foreach item in array reference_tables loop
    -- A migration has made it one already if Citus was there.
    if not exists (select from pg_dist_partition where logicalrelid = item::regclass) then
      perform create_reference_table(item);
    end if;
  end loop;
  foreach item in array distributed_tables loop
    perform create_distributed_table(
      item, case item when 'organizations' then 'id' else 'organization_id' end,
      colocate_with => case item when 'products' then 'none' else 'products' end
    );
  end loop;
  -- Distribution copies the rows to the nodes. Remove the local ones.
  foreach item in array distributed_tables || reference_tables loop
    perform truncate_local_data_after_distributing_table(item::regclass);
  end loop;
  foreach item in array adds loop
    execute item;
  end loop;

  -- Autovacuum would collect the statistics of the nodes a minute later.
  foreach item in array distributed_tables loop
    execute format('analyze %I', item);
  end loop;

  for item in
    select pg_get_functiondef(p.oid)
    from pg_proc p
    where p.pronamespace = current_schema()::regnamespace and p.prorettype <> 'trigger'::regtype and not exists (
      select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
    )
  loop
    execute item;
  end loop;

  -- The service sets these in its sessions, which end at the coordinator. The nodes need them too.
  foreach item in array array['jit = off', 'enable_memoize = off', 'random_page_cost = 1.1'] loop
    execute format('alter database %I set %s', current_database(), item);
  end loop;

  -- The service begins its transactions with READ WRITE. The nodes follow the coordinator.
  set local citus.enable_ddl_propagation = off;
  execute format('alter database %I set default_transaction_read_only = on', current_database());

  set local client_min_messages = 'notice';
  raise notice 'Distributed: % tables by organization_id, % copied to every node',
    cardinality(distributed_tables), cardinality(reference_tables);
end $$;
