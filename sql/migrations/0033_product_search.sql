-- What searches compare, apart from products: an update of a title writes this narrow row instead of all indexes of
-- products. The functions of functions.sql write it. Products that are there already follow in chunks, while the service
-- runs: until then, searches compute what they compare for each of these.
create table product_search (
  organization_id uuid not null,
  product_id uuid not null,
  created_at timestamptz not null,
  -- Their names are looked up: renaming one would rewrite many rows.
  publisher_id uuid,
  imprint_id uuid,
  -- What `search` compares: the title, the product code and the ISBNs.
  search_text text not null,
  -- The title as `q` compares it, for the order of relevance.
  title text not null,
  -- What `q` compares: search_text and the folded texts and names.
  found_text text not null,

  constraint product_search_pkey primary key (organization_id, product_id)
);

-- The last product that has followed. No row: all have.
create table search_backlog (
  only_row boolean not null default true,
  last_organization uuid,
  last_product uuid,

  constraint search_backlog_pkey primary key (only_row),
  constraint search_backlog_one check (only_row)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('product_search', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
    perform create_reference_table('search_backlog')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

alter table product_search add constraint product_search_product
  foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade;

-- By three characters and more, for `search` too, which checks what it finds.
create index product_search_by_text on product_search using gin (organization_id, found_text gin_trgm_ops);

-- By one or two characters, of which the trigram index would be read whole.
create index product_search_short on product_search (organization_id, created_at desc, product_id desc)
  include (search_text);

insert into search_backlog (only_row) select true where exists (select from products);

drop index products_subtitle;

drop index product_terms_identifiers;

drop index products_short_search;

drop index products_search;

alter table products drop column search_text;
