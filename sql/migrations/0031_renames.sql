-- Records whose new name has not reached the feed of all products that show it: there are many, so they come in chunks,
-- or other transactions referred to the record meanwhile.
create table renames (
  organization_id uuid not null,
  -- The name of the record's table, such as `publishers`.
  record_table text not null,
  record_id uuid not null,
  -- The versions of products that remain to be done: from `since`, and below `before`.
  since bigint not null,
  before bigint not null,
  -- The last product that is done, in the order of their ids.
  position uuid,

  constraint renames_pkey primary key (organization_id, record_table, record_id)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('renames', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;
