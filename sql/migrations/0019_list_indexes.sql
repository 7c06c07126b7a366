-- The indexes of lists contain `updated_at`, so that a list compares it with the stored JSON without reading the
-- products. For a million products, this takes 8 seconds: reads go on, writes wait. Dropping the old indexes blocks
-- reads, so it comes last.
create index products_by_age_2
  on products (organization_id, created_at desc, id desc) include (updated_at);

create index products_by_publishing_status_2
  on products (organization_id, publishing_status_id, created_at desc, id desc) include (updated_at);

create index products_by_availability_2
  on products (organization_id, product_availability_id, created_at desc, id desc) include (updated_at);

create index products_by_lifecycle_status_2
  on products (organization_id, lifecycle_status_id, created_at desc, id desc) include (updated_at);

create index products_by_format_2
  on products (organization_id, format_id, created_at desc, id desc) include (updated_at);

create index products_short_search_2
  on products (organization_id, created_at desc, id desc) include (search_text, updated_at);

drop index products_by_age;
alter index products_by_age_2 rename to products_by_age;

drop index products_by_publishing_status;
alter index products_by_publishing_status_2 rename to products_by_publishing_status;

drop index products_by_availability;
alter index products_by_availability_2 rename to products_by_availability;

drop index products_by_lifecycle_status;
alter index products_by_lifecycle_status_2 rename to products_by_lifecycle_status;

drop index products_by_format;
alter index products_by_format_2 rename to products_by_format;

drop index products_short_search;
alter index products_short_search_2 rename to products_short_search;
