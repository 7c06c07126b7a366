-- Recipients: which products, and what of them, the keys of a recipient see.
create table recipients (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  -- `selection`, `except`, `leave_out`, `currencies` and `price_types`, as they were written.
  view jsonb not null,
  -- The last change of what is left out: from then on, the feed shows every product of the view again.
  refreshed_version bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint recipients_pkey primary key (organization_id, id)
);

-- What the feed has judged for a recipient. Apart from recipients, so that a fetch is no change of them.
create table recipient_fetches (
  organization_id uuid not null,
  recipient_id uuid not null,
  -- The criteria by which products were last judged, the day of it (UTC), and up to which version.
  criteria jsonb,
  judged_on date,
  version bigint not null default 0,
  -- Since when the recipient has seen every product, so that it needs no rows. Null while it has criteria.
  open_since bigint,
  -- When a recipient that saw every product at its last fetch got criteria: newer products were never shown.
  open_until timestamptz,
  fetched_at timestamptz,

  constraint recipient_fetches_pkey primary key (organization_id, recipient_id)
);

-- The products that the feed has shown a recipient with criteria, and for 37 days those that have left its view.
-- The service judges them when the recipient reads its feed: no write of a product does.
create table recipient_products (
  organization_id uuid not null,
  recipient_id uuid not null,
  product_id uuid not null,
  is_there boolean not null,
  -- When the product entered the view, or left it. 0 since the first fetch.
  change_version bigint not null,
  -- The position at which the feed first shows it. A copy that has not come so far does not hear that it left.
  shown_version bigint not null,
  changed_at timestamptz not null default now(),
  -- What the recipient knows the product by.
  isbn13 text,
  product_code text,
  record_reference text,

  constraint recipient_products_pkey primary key (organization_id, recipient_id, product_id)
);

create index recipient_products_by_version
  on recipient_products (organization_id, recipient_id, change_version, product_id) where change_version > 0;

create index recipient_products_left
  on recipient_products (organization_id, recipient_id, changed_at) where not is_there;

-- When each product was last added to a publishing program or removed from it: its own version does not change then.
create table program_changes (
  organization_id uuid not null,
  program_id uuid not null,
  product_id uuid not null,
  change_version bigint not null default change_version(),

  constraint program_changes_pkey primary key (organization_id, program_id, product_id)
);

create index program_changes_by_version on program_changes (organization_id, change_version, product_id);

-- A reference table in a distributed database has no keys to distributed ones: the service checks the recipient.
alter table api_keys add recipient_id uuid;

alter table api_keys add constraint api_keys_of_recipients_read
  check (recipient_id is null or scope = 'read') not valid;

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('recipients', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
    perform create_distributed_table('recipient_fetches', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
    perform create_distributed_table('recipient_products', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
    perform create_distributed_table('program_changes', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

alter table recipients add constraint recipients_organization
  foreign key (organization_id) references organizations (id);

alter table recipient_fetches add constraint recipient_fetches_recipient
  foreign key (organization_id, recipient_id) references recipients (organization_id, id) on delete cascade;
