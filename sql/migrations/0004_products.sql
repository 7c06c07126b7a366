-- `P-` and eight Crockford base-32 characters.
create function new_product_code() returns text
language sql volatile
return 'P-' || (
  select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + floor(random() * 32)::int, 1), '')
  from generate_series(1, 8)
);

-- What search compares: Unicode's lower case, whatever the locale of the database,
-- and one sigma for both of its forms.
create function search_key(value text) returns text
language sql immutable strict parallel safe
return translate(lower(value collate "und-x-icu"), 'ς', 'σ');

create table products (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  product_code text not null default new_product_code(),
  title text not null,
  subtitle text,
  isbn13 text,
  isbn10 text,
  page_count int,
  publication_date date,
  format_id uuid,
  title_id uuid,
  publishing_status_id uuid,
  product_availability_id uuid,
  lifecycle_status_id uuid,
  license_id uuid,
  season_id uuid,
  publisher_id uuid,
  division_id uuid,
  imprint_id uuid,
  series_id uuid,
  product_type text,
  cover_image_url text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Whether product_counts knows this product: the service sets it, rows loaded by SQL wait for `deno task migrate`.
  counted boolean not null default false,
  -- U+001F keeps a term from matching across two of the parts.
  search_text text not null generated always as (
    search_key(
      title || E'\x1f' || product_code || E'\x1f' || coalesce(isbn13, '') || E'\x1f' || coalesce(isbn10, '')
    )
  ) stored,

  constraint products_pkey primary key (organization_id, id),
  constraint products_code unique (organization_id, product_code),
  constraint products_organization foreign key (organization_id) references organizations (id),

  constraint products_title_length check (char_length(title) between 1 and 500),
  constraint products_page_count_positive check (page_count > 0),
  constraint products_type check (
    product_type in ('normal', 'kit', 'kit_part', 'indent', 'charge', 'special', 'trade_only')
  ),

  constraint products_publishing_status
    foreign key (publishing_status_id) references publishing_statuses (id),
  constraint products_availability
    foreign key (product_availability_id) references product_availabilities (id),
  constraint products_lifecycle_status
    foreign key (lifecycle_status_id) references lifecycle_statuses (id),
  constraint products_format
    foreign key (organization_id, format_id) references formats (organization_id, id),
  constraint products_parent_title
    foreign key (organization_id, title_id) references titles (organization_id, id),
  constraint products_license
    foreign key (organization_id, license_id) references licenses (organization_id, id),
  constraint products_season
    foreign key (organization_id, season_id) references seasons (organization_id, id),
  constraint products_publisher
    foreign key (organization_id, publisher_id) references publishers (organization_id, id),
  constraint products_division
    foreign key (organization_id, division_id) references divisions (organization_id, id),
  constraint products_imprint
    foreign key (organization_id, imprint_id) references imprints (organization_id, id)
);

-- The list: one organization, newest first, alone or by one of the four filters.
create index products_by_age on products (organization_id, created_at desc, id desc);

create index products_by_publishing_status
  on products (organization_id, publishing_status_id, created_at desc, id desc);

create index products_by_availability
  on products (organization_id, product_availability_id, created_at desc, id desc);

create index products_by_lifecycle_status
  on products (organization_id, lifecycle_status_id, created_at desc, id desc);

create index products_by_format
  on products (organization_id, format_id, created_at desc, id desc);

-- What changed since a time, oldest change first: asked for all day long by those who keep a copy. It ends
-- heap-only updates, since every change moves updated_at, and is worth that: without it each such
-- question reads the whole organization, a third of a second for a million products.
create index products_by_change on products (organization_id, updated_at, id);

-- Sorting by title or publication date is for people, now and then, and has no index: the best of a
-- million take a quarter of a second, and none of it is paid by writes. So nothing on disk depends on a
-- version of ICU's collation either.

-- One product by its ISBN.
create index products_by_isbn13 on products (organization_id, isbn13) where isbn13 is not null;

create index products_by_isbn10 on products (organization_id, isbn10) where isbn10 is not null;

-- Search by three characters and more.
create index products_search on products using gin (organization_id, search_text gin_trgm_ops);

-- Search by one or two characters, of which the trigram index would be read whole.
create index products_short_search
  on products (organization_id, created_at desc, id desc) include (search_text);

create index products_uncounted on products (organization_id) where not counted;

-- How many products an organization has (filter 'organization_id'), and how many by each value of
-- a filtered column. The statement that writes a product writes its counts. A count is the sum of
-- its slots: with one row each, all writers of an organization would queue behind one another.
create table product_counts (
  organization_id uuid not null,
  filter text not null,
  value uuid not null,
  slot smallint not null,
  products bigint not null,

  constraint product_counts_pkey primary key (organization_id, filter, value, slot)
) with (fillfactor = 50);
