-- How far the write-ahead log was when a caller had last written: a replica that has replayed less must not answer
-- its reads. Written only where the service has a replica. Unlogged: it would cost each write a second wait for the
-- disk, and is worth nothing once the replica has caught up.
create unlogged table last_writes (
  organization_id uuid not null,
  -- The public id of an API key, or the subject of a Bearer token.
  caller text not null,
  wal_position pg_lsn not null,

  constraint last_writes_pkey primary key (organization_id, caller)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('last_writes', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;
