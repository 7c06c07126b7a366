-- Records as they went out last. The key is a hash of all that decides the text, so that nothing invalidates it.
create table onix_sent (
  organization_id uuid not null,
  product_id uuid not null,
  -- The release and the tags of the message, such as `3.1 short`.
  form text not null,
  key text not null,
  record text not null,

  constraint onix_sent_pkey primary key (organization_id, product_id, form)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('onix_sent', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

alter table onix_sent add constraint onix_sent_product
  foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade;

do $$ begin
  alter table onix_sent alter record set compression lz4;
exception when feature_not_supported or invalid_parameter_value then
  null;
end $$;
