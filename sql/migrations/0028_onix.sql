-- The ONIX record last received for a product.
create table onix_records (
  organization_id uuid not null,
  product_id uuid not null,
  -- The RecordReference that the product is bound to: that of its first record.
  record_reference text not null,
  record text not null,
  -- A hash of the record, and the product's updated_at when it was stored: the same record changes nothing while both
  -- are the same.
  digest text not null,
  product_updated_at timestamptz,
  -- What the product said otherwise than the record when it was stored.
  differences jsonb,

  constraint onix_records_pkey primary key (organization_id, product_id)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('onix_records', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

alter table onix_records add constraint onix_records_product
  foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade;

create unique index onix_records_by_reference on onix_records (organization_id, record_reference);

-- Faster than the default, pglz. Not every server has it.
do $$ begin
  alter table onix_records alter column record set compression lz4;
exception when feature_not_supported or invalid_parameter_value then
  null;
end $$;

-- An import finds contributors by their identifiers first.
create index contributors_by_orcid on contributors (organization_id, orcid) where orcid is not null;

create index contributors_by_isni on contributors (organization_id, isni) where isni is not null;

-- The reference of a deleted product, whose deletion is sent under it.
alter table product_deletions add column record_reference text;
