-- References, besides the first, under which records of a product have come.
create table onix_aliases (
  organization_id uuid not null,
  record_reference text not null,
  product_id uuid not null,

  constraint onix_aliases_pkey primary key (organization_id, record_reference)
);

-- When each sender sent its latest message with a record of the product. An older message of the same sender is stale.
create table onix_senders (
  organization_id uuid not null,
  product_id uuid not null,
  sender_name text not null,
  sent_at timestamptz not null,

  constraint onix_senders_pkey primary key (organization_id, product_id, sender_name)
);

-- References of the form urn:uuid: under which a product went out before a record bound it to another: the feed deletes
-- them. The id is that of the position in the feed. It differs from the product's, and is lower.
create table onix_retired (
  organization_id uuid not null,
  id uuid not null,
  record_reference text not null,
  change_version bigint not null default change_version(),
  deleted_at timestamptz not null default now(),

  constraint onix_retired_pkey primary key (organization_id, id)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('onix_aliases', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('onix_senders', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('onix_retired', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

alter table onix_aliases add constraint onix_aliases_product
  foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade;

alter table onix_senders add constraint onix_senders_product
  foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade;

create index onix_aliases_by_product on onix_aliases (organization_id, product_id);

create index onix_retired_by_version on onix_retired (organization_id, change_version, id);
