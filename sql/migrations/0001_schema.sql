-- The tables, indexes and constraints of release 1.0. functions.sql has the triggers, and the functions that nothing
-- stores. Changes of later releases follow in files of their own: 0002_….sql and so on. An empty line ends a statement.
--
--   Organizations               and who may act for them
--   Code lists                  ONIX code lists, shared by all organizations
--   Records                     contributors, publishers …, to which products refer
--   Products                    and their rows: contributors, prices …
--   Rights and supply           trees of rows below a product
--   Derived from products       stored JSON, counts, terms, texts that searches compare
--   Changes                     the feed of changes
--   ONIX                        the records that were received
--   Webhooks                    followers of the feed, and their messages
--   Idempotency                 responses to requests that may be repeated
--
-- Every table of an organization has organization_id first in its keys. So no row can refer to a row of another
-- organization, and a distributed database keeps an organization on one node (citus.sql).
--
-- A session plans a look-up by key once, perhaps while the table is empty, and statistics may not know an organization.
-- Each index that a condition on the organization alone can use then costs the same as the primary key, and reads all of
-- the organization. So other indexes of products and records have another column first, or a condition that only lists
-- repeat: one that every row fulfils, but a look-up does not say.

-- Indexes of uuid beside trigrams: gin (organization_id, name gin_trgm_ops).
create extension if not exists btree_gin;

create extension if not exists pg_trgm;

-- Texts as searches compare them. Tables and indexes store the results of these functions, so a change of one takes a
-- migration that computes them again. None is strict: PostgreSQL inlines no strict function with a `case`.

-- Unicode's lower case, whatever the locale of the database, decomposed, without accents, and composed again, so that a
-- syllable of Korean is one character. Accents are the combining marks of Latin, Greek, Cyrillic, Hebrew and Arabic;
-- those of Devanagari or Thai write vowels, and stay. Both forms of sigma are one.
create function unaccented(value text) returns text
language sql immutable parallel safe
return translate(
  normalize(
    regexp_replace(
      normalize(lower(value collate "und-x-icu"), nfd) collate "C",
      '[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f'
        || '\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff'
        || '\ufe20-\ufe2f]+',
      '', 'g'
    ),
    nfc
  ),
  'ς', 'σ'
);

-- What `search` compares: unaccented, with apostrophes of every kind as one, and without the voicing marks of kana.
-- ASCII takes a shorter way.
create function search_key(value text) returns text
language sql immutable parallel safe
return case
  when octet_length(value) = char_length(value) then lower(value collate "C")
  else normalize(
    translate(
      normalize(unaccented(value), nfd),
      E'\u2018\u2019\u201b\u02bb\u02bc\u02b9\u2032\u00b4\uff07\uff40\u3099\u309a', repeat('''', 10)
    ),
    nfc
  )
end;

-- The name of a record as references by name compare it: composed, and with each run of white space as one space,
-- no-break and thin ones too.
create function compared_name(value text) returns text
language sql immutable parallel safe
return normalize(
  btrim(regexp_replace(value, '[\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+', ' ', 'g')), nfc
);

-- The same as searches compare it, by which it is found.
create function key_of_name(value text) returns text
language sql immutable parallel safe
return search_key(compared_name(value));

-- What `q` compares (a word and what is found alike): without apostrophes, soft hyphens, zero-width spaces and word
-- joiners, in compatibility form, unaccented, some letters as they are typed without their marks, any other sign as a
-- space, and single letters that follow each other as one word. ASCII takes a shorter way.
create function folded(value text) returns text
language sql immutable parallel safe
return case
  when octet_length(value) = char_length(value) then btrim(
    regexp_replace(
      regexp_replace(lower(translate(value, '''`', '') collate "C"), '[^a-z0-9]+', ' ', 'g'),
      '\m([a-z]) (?=[a-z]\M)', '\1', 'g'
    )
  )
  else btrim(
    regexp_replace(
      regexp_replace(
        replace(replace(replace(replace(
          translate(
            unaccented(normalize(
              translate(
                value,
                E'\'`\u2018\u2019\u201b\u02bb\u02bc\u02b9\u2032\u00b4\uff07\uff40\u00ad\u200b\u2060', ''
              ),
              nfkc
            )),
            'øłđðı', 'olddi'
          ),
          'þ', 'th'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe') collate "und-x-icu",
        '[[:punct:][:space:][:cntrl:]$+<=>^|~\u00a2-\u00a9\u00ac\u00ae-\u00b1\u00b4\u00b6-\u00b8\u00d7\u00f7'
          || '\u02c2-\u02df\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030'
          || '\ufe00-\ufe0f\ufeff\ufff0-\ufffd\U0001f000-\U0001faff]+',
        ' ', 'g'
      ),
      '\m([[:alpha:]]) (?=[[:alpha:]]\M)', '\1', 'g'
    )
  ) collate "C"
end;

-- `P-` and eight digits of Crockford's base 32.
create function new_product_code() returns text
language sql volatile
return 'P-' || (
  select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + floor(random() * 32)::int, 1), '')
  from generate_series(1, 8)
);

-- The version of a change: transaction ids grow, and the oldest one that still runs (pg_snapshot_xmin) says which
-- versions are complete. begin_origin() adds the base of change_origins.
create function change_version() returns bigint
language sql stable
return 0::bigint + pg_current_xact_id()::text::bigint;

-- A write asserts that it finds the rows that it names: a cast of `false` fails its transaction. So the statements need
-- no reply before COMMIT.
create domain rows_found as boolean
  constraint rows_found check (value);

-- A write with an Idempotency-Key asserts in the same way that the key is unused.
create domain key_unused as boolean
  constraint key_unused check (value);

-- A write asserts that the version before it is stored. If it is not, SQL has made one: that is stored first.
create domain version_stored as boolean
  constraint version_stored check (value);

-- It also asserts that its version is the last one. The version of a transaction is that of its first lock or write: while
-- it waits for one product, a later transaction may change another one that it writes.
create domain version_last as boolean
  constraint version_last check (value);

-- An array in JSON. A constraint of a domain is parsed once in a session, one of a table at each write.
create domain entries as jsonb
  constraint entries_array check (jsonb_typeof(value) = 'array');

-- Organizations

create table organizations (
  id uuid not null default gen_random_uuid(),
  name text not null,
  -- What the header of ONIX messages says of the sender. Identifiers: ONIX List 44
  sender_identifiers entries,
  contact_name text,
  email_address text,
  -- Increases when a displayed name changes. Null disables stored JSON in a distributed database, which has no triggers.
  -- An organization that is deleted and inserted again must not repeat a version: JSON of that version would be valid.
  names_version bigint default (random() * 9007199254740992)::bigint,
  created_at timestamptz not null default now(),

  constraint organizations_pkey primary key (id),
  constraint organizations_name_not_blank check (name ~ '\S')
);

-- Who may act for an organization with a Bearer token. The user_id is the token's `sub`.
create table organization_members (
  organization_id uuid not null,
  user_id text not null,
  role text not null,

  constraint organization_members_pkey primary key (organization_id, user_id),
  constraint organization_members_organization foreign key (organization_id) references organizations (id),
  constraint organization_members_role check (role in ('viewer', 'editor', 'admin', 'owner'))
);

-- A key is `cat_<id>_<secret>`. The table holds the SHA-256 of the whole key, never the key.
create table api_keys (
  id text not null,
  organization_id uuid not null,
  name text not null,
  scope text not null default 'write',
  key_hash bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  -- May lie in the future: the old key of a rotation works until then.
  revoked_at timestamptz,

  constraint api_keys_pkey primary key (id),
  constraint api_keys_organization foreign key (organization_id) references organizations (id),
  constraint api_keys_id_is_public check (id ~ '^[0-9a-z]{12}$'),
  constraint api_keys_scope check (scope in ('read', 'write')),
  constraint api_keys_hash_is_sha256 check (octet_length(key_hash) = 32)
);

-- Apart from api_keys, which a distributed database copies to every node: a use must not be a write to all of them.
create table api_key_uses (
  organization_id uuid not null,
  api_key_id text not null,
  last_used_at timestamptz not null,

  constraint api_key_uses_pkey primary key (organization_id, api_key_id),
  constraint api_key_uses_key foreign key (api_key_id) references api_keys (id) on delete cascade
);

-- Code lists: shared by all organizations, and the same in every installation. seed.sql fills them with fixed ids.

-- ONIX List 64
create table publishing_statuses (
  id uuid not null,
  code text not null,
  name text not null,

  constraint publishing_statuses_pkey primary key (id),
  constraint publishing_statuses_code unique (code)
);

-- ONIX List 65
create table product_availabilities (
  id uuid not null,
  code text not null,
  name text not null,

  constraint product_availabilities_pkey primary key (id),
  constraint product_availabilities_code unique (code)
);

-- ONIX List 150
create table product_forms (
  id uuid not null,
  code text not null,
  name text not null,

  constraint product_forms_pkey primary key (id),
  constraint product_forms_code unique (code)
);

-- ONIX List 17
create table contributor_roles (
  id uuid not null,
  code text not null,
  name text not null,

  constraint contributor_roles_pkey primary key (id),
  constraint contributor_roles_code unique (code)
);

-- Ours: ONIX has no list for the life of a product inside its publishing house.
create table lifecycle_statuses (
  id uuid not null,
  code text not null,
  name text not null,

  constraint lifecycle_statuses_pkey primary key (id),
  constraint lifecycle_statuses_code unique (code)
);

-- The labels of every other list, for the codes that are stored as they are.
create table onix_codes (
  list smallint not null,
  code text not null,
  label text not null,
  -- Whether EDItEUR advises against the code. It is accepted all the same.
  deprecated boolean not null default false,

  constraint onix_codes_pkey primary key (list, code)
);

-- Records to which an organization's products refer

create table contributors (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  -- The name as lists of records compare it, and as `q` does.
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  found_name text collate "C" not null generated always as (folded(name)) stored,
  names_before_key text,
  key_names text,
  person_name_inverted text,
  is_organization boolean not null default false,
  isni text,
  orcid text,
  biographical_note text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint contributors_pkey primary key (organization_id, id),
  constraint contributors_organization foreign key (organization_id) references organizations (id)
);

-- Lists of records are in the order of names, of which an index holds 200 characters, and find parts of a name. For
-- 300,000 contributors both indexes take 45 MB.
create index contributors_by_name on contributors (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index contributors_search on contributors using gin (organization_id, name_key gin_trgm_ops);

-- An import of ONIX finds contributors by their identifiers first.
create index contributors_by_orcid on contributors (organization_id, orcid) where orcid is not null;

create index contributors_by_isni on contributors (organization_id, isni) where isni is not null;

-- A series is a collection too.
create table collections (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  found_name text collate "C" not null generated always as (folded(name)) stored,
  collection_type text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint collections_pkey primary key (organization_id, id),
  constraint collections_organization foreign key (organization_id) references organizations (id)
);

create index collections_by_name on collections (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index collections_search on collections using gin (organization_id, name_key gin_trgm_ops);

create table titles (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint titles_pkey primary key (organization_id, id),
  constraint titles_organization foreign key (organization_id) references organizations (id)
);

create index titles_by_name on titles (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index titles_search on titles using gin (organization_id, name_key gin_trgm_ops);

create table publishers (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  found_name text collate "C" not null generated always as (folded(name)) stored,
  -- ONIX List 44
  identifiers entries,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint publishers_pkey primary key (organization_id, id),
  constraint publishers_organization foreign key (organization_id) references organizations (id)
);

create index publishers_by_name on publishers (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index publishers_search on publishers using gin (organization_id, name_key gin_trgm_ops);

-- `q` looks up publishers and imprints by parts of their names.
create index publishers_found on publishers using gin (organization_id, found_name gin_trgm_ops);

create table imprints (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  found_name text collate "C" not null generated always as (folded(name)) stored,
  -- ONIX List 44
  identifiers entries,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint imprints_pkey primary key (organization_id, id),
  constraint imprints_organization foreign key (organization_id) references organizations (id)
);

create index imprints_by_name on imprints (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index imprints_search on imprints using gin (organization_id, name_key gin_trgm_ops);

create index imprints_found on imprints using gin (organization_id, found_name gin_trgm_ops);

create table divisions (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint divisions_pkey primary key (organization_id, id),
  constraint divisions_organization foreign key (organization_id) references organizations (id)
);

create index divisions_by_name on divisions (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index divisions_search on divisions using gin (organization_id, name_key gin_trgm_ops);

create table formats (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  product_form_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint formats_pkey primary key (organization_id, id),
  constraint formats_organization foreign key (organization_id) references organizations (id),
  constraint formats_product_form foreign key (product_form_id) references product_forms (id)
);

create index formats_by_name on formats (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index formats_search on formats using gin (organization_id, name_key gin_trgm_ops);

create table licenses (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  badge_colour text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint licenses_pkey primary key (organization_id, id),
  constraint licenses_organization foreign key (organization_id) references organizations (id)
);

create index licenses_by_name on licenses (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index licenses_search on licenses using gin (organization_id, name_key gin_trgm_ops);

create table seasons (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint seasons_pkey primary key (organization_id, id),
  constraint seasons_organization foreign key (organization_id) references organizations (id)
);

create index seasons_by_name on seasons (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index seasons_search on seasons using gin (organization_id, name_key gin_trgm_ops);

create table custom_fields (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint custom_fields_pkey primary key (organization_id, id),
  constraint custom_fields_organization foreign key (organization_id) references organizations (id)
);

create index custom_fields_by_name on custom_fields (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index custom_fields_search on custom_fields using gin (organization_id, name_key gin_trgm_ops);

create table publishing_programs (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  name_key text collate "C" not null generated always as (key_of_name(name)) stored,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint publishing_programs_pkey primary key (organization_id, id),
  constraint publishing_programs_organization foreign key (organization_id) references organizations (id)
);

create index publishing_programs_by_name on publishing_programs (organization_id, left(name_key, 200), id)
  where name_key >= '';

create index publishing_programs_search on publishing_programs using gin (organization_id, name_key gin_trgm_ops);

-- Products

-- Entries are values: they have no identity, and a body replaces them whole.
create table products (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  product_code text not null default new_product_code(),
  title text not null,
  subtitle text,
  isbn13 text,
  isbn10 text,
  product_identifiers entries,
  product_type text,
  product_form_description text,
  -- ONIX List 175
  product_form_details entries,
  -- ONIX List 81
  primary_content_type text,
  -- ONIX List 144
  epub_technical_protections entries,
  edition_number int,
  -- ONIX List 21
  edition_types entries,
  edition_statement text,
  page_count int,
  extents entries,
  measures entries,
  languages entries,
  subjects entries,
  audiences entries,
  audience_ranges entries,
  publication_date date,
  publishing_dates entries,
  -- ONIX List 91
  country_of_publication text,
  city_of_publication text,
  related_products entries,
  related_works entries,
  cover_image_url text,
  supporting_resources entries,
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
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  change_version bigint not null default change_version(),

  constraint products_pkey primary key (organization_id, id),
  constraint products_code unique (product_code, organization_id),
  constraint products_organization foreign key (organization_id) references organizations (id),

  constraint products_title_length check (char_length(title) between 1 and 500),
  constraint products_page_count_positive check (page_count > 0),
  constraint products_type check (
    product_type in ('normal', 'kit', 'kit_part', 'indent', 'charge', 'special', 'trade_only')
  ),
  -- A year or month announces the publication until its day is known.
  constraint products_announcement check (
    publication_date is null or not publishing_dates @> '[{"publishing_date_role": "01"}]'
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
) with (
  -- Room for the next version of a row on its page: an update that changes no indexed column then writes no index (HOT).
  fillfactor = 90,
  -- A list finds its products in an index alone if the visibility map is current, as VACUUM leaves it. For products on
  -- pages with later changes it reads the table too: with a seventh of 100,000 products changed, lists reach less than
  -- half of their rate. By default, autovacuum waits for a fifth.
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.02
);

-- Lists: one organization, newest first, alone or by one of four filters. Sorting by title or publication date is for
-- people, now and then, and has no index: the best of a million take a quarter of a second.
create index products_by_age on products (organization_id, created_at desc, id desc)
  where created_at >= '-infinity';

create index products_by_publishing_status
  on products (publishing_status_id, organization_id, created_at desc, id desc);

create index products_by_availability
  on products (product_availability_id, organization_id, created_at desc, id desc);

create index products_by_lifecycle_status
  on products (lifecycle_status_id, organization_id, created_at desc, id desc);

create index products_by_format on products (format_id, organization_id, created_at desc, id desc);

create index products_by_publication on products (organization_id, publication_date) where publication_date is not null;

-- The products of a publisher, an imprint, a parent title. An entry is the reference alone: equal ones share their
-- space, 8 MB for a million products instead of 80 with the order of a list. Divisions, seasons, licenses and product
-- types are few, and no write pays for an index of them: a scan of the organization finds these, in a third of a second
-- for a million products.
create index products_by_publisher on products (organization_id, publisher_id) where publisher_id is not null;

create index products_by_imprint on products (organization_id, imprint_id) where imprint_id is not null;

create index products_by_parent_title on products (organization_id, title_id) where title_id is not null;

create index products_by_isbn13 on products (organization_id, isbn13) where isbn13 is not null;

create index products_by_isbn10 on products (organization_id, isbn10) where isbn10 is not null;

-- Rows of products, which are written together with them. `position` is the order that the client gave.

create table product_contributors (
  organization_id uuid not null,
  product_id uuid not null,
  contributor_id uuid not null,
  contributor_role_id uuid not null,
  position int not null,

  constraint product_contributors_pkey
    primary key (organization_id, product_id, contributor_id, contributor_role_id),
  constraint product_contributors_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint product_contributors_contributor
    foreign key (organization_id, contributor_id) references contributors (organization_id, id),
  constraint product_contributors_role
    foreign key (contributor_role_id) references contributor_roles (id)
);

-- The contributor stands before the organization. Otherwise the planner would take either index for the rows of a product
-- while it knows no rows of the organization, and this one reads all of them.
create index product_contributors_by_contributor on product_contributors (contributor_id, organization_id);

create table product_collections (
  organization_id uuid not null,
  product_id uuid not null,
  collection_id uuid not null,
  position int not null,
  part_number text,

  constraint product_collections_pkey primary key (organization_id, product_id, collection_id),
  constraint product_collections_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint product_collections_collection
    foreign key (organization_id, collection_id) references collections (organization_id, id)
);

-- With the product, for the key of products.series_id: a collection may have every product.
create index product_collections_by_collection on product_collections (collection_id, organization_id, product_id);

-- A series is one of the product's collections.
alter table products add constraint products_series
  foreign key (organization_id, id, series_id)
  references product_collections (organization_id, product_id, collection_id);

create table product_prices (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null,
  position int not null,
  currency_code text not null,
  retail_price numeric(16, 4),
  retail_price_inc_tax numeric(16, 4),
  list_price numeric(16, 4),
  tax_rate numeric(7, 4),
  is_default boolean not null default false,
  valid_from date,
  valid_to date,

  constraint product_prices_pkey primary key (organization_id, product_id, id),
  constraint product_prices_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  -- A product has at most 500. The request body limits the arrays that it replaces whole.
  constraint product_prices_position check (position < 500),
  constraint product_prices_currency check (currency_code ~ '^[A-Z]{3}$'),
  constraint product_prices_not_negative check (
    retail_price >= 0 and retail_price_inc_tax >= 0 and list_price >= 0
  ),
  constraint product_prices_tax_rate check (tax_rate between 0 and 100),
  constraint product_prices_validity check (valid_to >= valid_from)
);

create table packing_configurations (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null,
  position int not null,
  unit_of_measure text not null,
  quantity int,
  gtin text,

  constraint packing_configurations_pkey primary key (organization_id, product_id, id),
  constraint packing_configurations_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint packing_configurations_position check (position < 500),
  constraint packing_configurations_unit check (unit_of_measure in ('inner', 'outer', 'pallet')),
  constraint packing_configurations_quantity check (quantity >= 1)
);

-- ONIX block 2: texts, cited content and prizes. A row has the columns of its own type.
create table collateral (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null,
  position int not null,
  collateral_type text not null,
  text text,
  text_type text,
  content_audience text[],
  text_format text,
  text_author text,
  source_title text,
  language text,
  cited_content_type text,
  citation_note text,
  resource_link text,
  publication_date date,
  prize_name text,
  prize_year text,
  prize_country text,
  prize_code text,
  prize_statement text,
  prize_jury text,

  constraint collateral_pkey primary key (organization_id, product_id, id),
  constraint collateral_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint collateral_type check (collateral_type in ('text_content', 'cited_content', 'award')),
  constraint collateral_subject check (
    case collateral_type
      when 'text_content' then text
      when 'cited_content' then source_title
      when 'award' then prize_name
    end is not null
  )
);

create table custom_field_values (
  organization_id uuid not null,
  product_id uuid not null,
  field_id uuid not null,
  position int not null,
  field_value jsonb,

  constraint custom_field_values_pkey primary key (organization_id, product_id, field_id),
  constraint custom_field_values_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint custom_field_values_field
    foreign key (organization_id, field_id) references custom_fields (organization_id, id),
  constraint custom_field_values_scalar check (jsonb_typeof(field_value) in ('string', 'number', 'boolean'))
);

create table publishing_program_products (
  organization_id uuid not null,
  program_id uuid not null,
  product_id uuid not null,

  constraint publishing_program_products_pkey primary key (organization_id, program_id, product_id),
  constraint publishing_program_products_program
    foreign key (organization_id, program_id) references publishing_programs (organization_id, id),
  -- No cascade: a product in a program cannot be deleted.
  constraint publishing_program_products_product
    foreign key (organization_id, product_id) references products (organization_id, id)
);

create index publishing_program_products_by_product
  on publishing_program_products (organization_id, product_id);

-- Rights and supply: ONIX blocks 3, 4 and 6, under ONIX's own names. Every row has its product, however deep it lies, so
-- that one condition reads a whole tree.

create table product_sales_rights (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 46
  sales_rights_type text not null,
  is_rest_of_world boolean not null default false,
  countries_included text[],
  countries_excluded text[],
  regions_included text[],
  regions_excluded text[],
  publisher_name text,

  constraint product_sales_rights_pkey primary key (organization_id, product_id, id),
  constraint product_sales_rights_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade
);

create table product_territories (
  organization_id uuid not null,
  product_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  market_reference text,
  exclusivity text not null default 'unknown',
  -- ONIX List 68
  market_publishing_status text,

  constraint product_territories_pkey primary key (organization_id, product_id, id),
  constraint product_territories_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade,
  constraint product_territories_exclusivity check (
    exclusivity in ('exclusive', 'non_exclusive', 'not_for_sale', 'unknown')
  )
);

create table territory_markets (
  organization_id uuid not null,
  product_id uuid not null,
  territory_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  name text,
  countries_included text[],
  countries_excluded text[],
  regions_included text[],
  regions_excluded text[],

  constraint territory_markets_pkey primary key (organization_id, product_id, territory_id, id),
  constraint territory_markets_territory
    foreign key (organization_id, product_id, territory_id)
    references product_territories (organization_id, product_id, id) on delete cascade
);

create table market_dates (
  organization_id uuid not null,
  product_id uuid not null,
  territory_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 163
  market_date_role text not null,
  date date not null,

  constraint market_dates_pkey primary key (organization_id, product_id, territory_id, id),
  constraint market_dates_territory
    foreign key (organization_id, product_id, territory_id)
    references product_territories (organization_id, product_id, id) on delete cascade
);

create table supply_details (
  organization_id uuid not null,
  product_id uuid not null,
  territory_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 93
  supplier_role text,
  supplier_name text,
  -- ONIX List 92
  supplier_identifiers entries,
  -- ONIX List 65
  product_availability text,
  -- Days
  order_time int,
  pack_quantity int,
  -- ONIX List 57
  unpriced_item_type text,

  constraint supply_details_pkey primary key (organization_id, product_id, id),
  constraint supply_details_territory
    foreign key (organization_id, product_id, territory_id)
    references product_territories (organization_id, product_id, id) on delete cascade
);

-- The rows of one parent in the order of responses. Without it, reading or replacing a tree of n supply details takes
-- n * n steps. The parent stands before the product and the order behind it, so that no lookup costs the same by this
-- index as by the primary key: the planner would take either, and one of them reads the whole product.
create index supply_details_by_territory
  on supply_details (territory_id, organization_id, product_id, position, id);

create table supply_dates (
  organization_id uuid not null,
  product_id uuid not null,
  supply_detail_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 166
  supply_date_role text not null,
  date date not null,

  constraint supply_dates_pkey primary key (organization_id, product_id, supply_detail_id, id),
  constraint supply_dates_supply_detail
    foreign key (organization_id, product_id, supply_detail_id)
    references supply_details (organization_id, product_id, id) on delete cascade
);

create table supply_prices (
  organization_id uuid not null,
  product_id uuid not null,
  supply_detail_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 58
  price_type text,
  -- ONIX List 59
  price_qualifier text,
  price_amount numeric(16, 4),
  currency_code text,
  -- ONIX List 61
  price_status text,
  minimum_order_quantity int,
  valid_from date,
  valid_to date,
  countries_included text[],
  countries_excluded text[],
  regions_included text[],
  regions_excluded text[],

  constraint supply_prices_pkey primary key (organization_id, product_id, id),
  constraint supply_prices_supply_detail
    foreign key (organization_id, product_id, supply_detail_id)
    references supply_details (organization_id, product_id, id) on delete cascade
);

-- As for supply_details.
create index supply_prices_by_supply_detail
  on supply_prices (supply_detail_id, organization_id, product_id, position, id);

create table supply_price_taxes (
  organization_id uuid not null,
  product_id uuid not null,
  supply_price_id uuid not null,
  id uuid not null default gen_random_uuid(),
  position int not null default 0,
  -- ONIX List 171
  tax_type text,
  -- ONIX List 62
  tax_rate_code text,
  tax_rate_percent numeric(7, 4),
  taxable_amount numeric(16, 4),
  tax_amount numeric(16, 4),

  constraint supply_price_taxes_pkey primary key (organization_id, product_id, supply_price_id, id),
  constraint supply_price_taxes_supply_price
    foreign key (organization_id, product_id, supply_price_id)
    references supply_prices (organization_id, product_id, id) on delete cascade
);

-- Derived from products: the service writes these tables with the products, and triggers write them for SQL scripts.

-- The versions of each product: its JSON as it was shown, and who made it. The one with the product's change_version is
-- valid while its names_version is the organization's. Reads check both. The older ones are the history: rows stay when
-- a product changes, and when it is deleted, which makes a last version without JSON. Housekeeping deletes what is older
-- than HISTORY_DAYS (db/history/retention.ts). No foreign key: versions outlive their product.
create table product_documents (
  organization_id uuid not null,
  product_id uuid not null,
  -- Of the transaction that made it.
  change_version bigint not null,
  names_version bigint not null,
  -- In milliseconds, later than that of the version before. An import restores updated_at, and a clock goes back.
  changed_at timestamptz not null,
  event text not null,
  -- `api_key:` and its public id, or `user:` and the subject of the token. Null: a command, or SQL beside the service.
  changed_by text,
  -- The operationId, or the command. Null: SQL beside the service.
  operation text,
  request_id text,
  -- The ONIX record, or the line of a sheet, that a version came from.
  source jsonb,
  -- The version whose state was restored.
  restored_from bigint,
  -- The fields in lists, and those only in the full product, both as JSON without braces. Both are empty for a deletion,
  -- and for a product over 4 MiB, which only SQL stores.
  summary text not null,
  details text not null,
  -- What ONIX stored beside a product that was deleted, by table. Null for other versions.
  onix jsonb,
  -- The expression must be immutable: a cast to bytea is, `convert_to` is not. The cast reads two backslashes as one.
  etag text not null generated always as (
    '"' || left(
      translate(encode(sha256(replace('{' || summary || ',' || details || '}', '\', '\\')::bytea), 'base64'), '+/', '-_'),
      27
    ) || '"'
  ) stored,

  constraint product_documents_pkey primary key (organization_id, product_id, change_version),
  constraint product_documents_event check (event in ('created', 'changed', 'restored', 'deleted')),
  -- A response is at most 4 MiB.
  constraint product_documents_size check (octet_length(summary) + octet_length(details) <= 4194304)
) with (
  -- A document of 2 to 3 KB stays in its row: the default, 2,032 bytes, would move its details out of line, which costs
  -- a read of it a third more of PostgreSQL's time.
  toast_tuple_target = 2700
);

-- The organization's history, and what is due.
create index product_documents_by_time on product_documents (organization_id, changed_at, product_id);

create index product_documents_deleted on product_documents (organization_id, changed_at, product_id)
  where event = 'deleted';

-- How many products an organization has (filter 'organization_id'), and how many by each value of a filtered column. The
-- statement that writes a product writes its counts. A count is the sum of its slots: with one row each, all writers of
-- an organization would queue behind one another.
create table product_counts (
  organization_id uuid not null,
  filter text not null,
  value uuid not null,
  slot smallint not null,
  products bigint not null,

  constraint product_counts_pkey primary key (organization_id, filter, value, slot)
) with (fillfactor = 50);

-- What lists are filtered by: the codes of languages and subjects, and the values of identifiers. In byte order, a
-- beginning is a range of the key. A product without them has no row here.
create table product_terms (
  organization_id uuid not null,
  product_id uuid not null,
  field text not null,
  term text collate "C" not null,

  constraint product_terms_pkey primary key (organization_id, field, term, product_id),
  constraint product_terms_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade
);

create index product_terms_by_product on product_terms (organization_id, product_id);

-- What searches compare, apart from products: an update of a title writes this narrow row instead of all indexes of
-- products.
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

  constraint product_search_pkey primary key (organization_id, product_id),
  constraint product_search_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade
);

-- By three characters and more, for `search` too, which checks what it finds. A search reads the list of pending rows
-- whole, which may have 4 MB by default: without statistics, the planner would rather read the organization.
create index product_search_by_text on product_search using gin (organization_id, found_text gin_trgm_ops)
  with (gin_pending_list_limit = 1024);

-- By one or two characters, of which the trigram index would be read whole.
create index product_search_short
  on product_search (organization_id, created_at desc, product_id desc) include (search_text);

-- Changes

-- Where versions come from. A copy keeps versions, but transaction ids are others where it is restored: there a new
-- origin begins above all of them, and cursors of the old one are expired. One row.
create table change_origins (
  id uuid not null default gen_random_uuid(),
  -- The catalogue_place() at which the origin began.
  place text not null,
  -- Added to a transaction id, it is a version.
  base bigint not null,

  constraint change_origins_pkey primary key (id)
);

-- `migrate` begins the first origin.
insert into change_origins (place, base) values ('', 0);

-- When each product last changed, apart from products: every update moves both columns, so with an index of products on
-- one of them, it would have to write all indexes.
create table product_changes (
  organization_id uuid not null,
  product_id uuid not null,
  updated_at timestamptz not null,
  change_version bigint not null,

  constraint product_changes_pkey primary key (organization_id, product_id),
  constraint product_changes_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade
);

-- The feed of changes.
create index product_changes_by_version on product_changes (organization_id, change_version, product_id);

-- Lists by `updated_since`, or sorted by `updated_at`.
create index product_changes_by_time on product_changes (organization_id, updated_at, product_id);

-- Products that were deleted.
create table product_deletions (
  organization_id uuid not null,
  product_id uuid not null,
  -- What others know the product by. The ONIX reference is that under which the deletion is sent.
  isbn13 text,
  product_code text,
  record_reference text,
  change_version bigint not null default change_version(),
  deleted_at timestamptz not null default now(),

  constraint product_deletions_pkey primary key (organization_id, product_id)
);

create index product_deletions_by_version on product_deletions (organization_id, change_version, product_id);

-- A record that creates a product again.
create index product_deletions_by_reference on product_deletions (organization_id, record_reference)
  where record_reference is not null;

create index product_deletions_by_age on product_deletions (organization_id, deleted_at);

-- Records whose change has not reached the feed of all products that show it.
create table renames (
  organization_id uuid not null,
  -- The name of the record's table, such as `publishers`.
  record_table text not null,
  record_id uuid not null,
  -- Of its last change.
  version bigint not null default change_version(),
  -- The last product that is done, in the order of their ids.
  position uuid,

  constraint renames_pkey primary key (organization_id, record_table, record_id)
);

-- ONIX

-- The ONIX record last received for a product.
create table onix_records (
  organization_id uuid not null,
  product_id uuid not null,
  -- The RecordReference that the product is bound to: that of its first record.
  record_reference text not null,
  record text not null,
  -- Who sent it, by name. Null: its message does not say.
  sender_name text,
  -- A hash of the record, and the product's updated_at when it was stored: the same record changes nothing while both
  -- are the same.
  digest text not null,
  product_updated_at timestamptz,
  -- What reading the record has found out, with a hash of all that decides that: the same record is not read again.
  reading text,
  -- What the product said otherwise than the record when it was stored.
  differences jsonb,
  -- What the elements of the record stand for: the ids of rows and records, by the places of the elements.
  identities jsonb,

  constraint onix_records_pkey primary key (organization_id, product_id),
  constraint onix_records_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade
);

create unique index onix_records_by_reference on onix_records (organization_id, record_reference);

-- References, besides the first, under which records of a product have come.
create table onix_aliases (
  organization_id uuid not null,
  record_reference text not null,
  product_id uuid not null,

  constraint onix_aliases_pkey primary key (organization_id, record_reference),
  constraint onix_aliases_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade
);

create index onix_aliases_by_product on onix_aliases (organization_id, product_id);

-- The senders of a product's records.
create table onix_senders (
  organization_id uuid not null,
  product_id uuid not null,
  sender_name text not null,
  -- When the latest message with the product was sent. An older one of the same sender is stale.
  sent_at timestamptz,
  -- The sender's last record, if the record last received is another's, with the columns of that. The sender's next
  -- record is compared with it.
  record text,
  digest text,
  reading text,
  differences jsonb,
  identities jsonb,

  constraint onix_senders_pkey primary key (organization_id, product_id, sender_name),
  constraint onix_senders_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade
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

create index onix_retired_by_version on onix_retired (organization_id, change_version, id);

-- Webhooks

-- Followers of the feed of changes that the service runs itself. Nothing is written here when a product is.
create table webhooks (
  organization_id uuid not null,
  id uuid not null,
  url text not null,
  description text,
  events text[] not null,
  -- Newest first, with the times from which they sign no more. In clear, since they sign.
  secrets jsonb not null,
  enabled boolean not null,
  disabled_reason text,
  disabled_at timestamptz,
  cursor jsonb not null,
  -- In a row. From five, the webhook waits until resumes_at.
  failures int not null default 0,
  failing_since timestamptz,
  resumes_at timestamptz,
  -- Until then the receiver has asked for a pause (Retry-After). A success ends resumes_at, but not this.
  paused_until timestamptz,
  last_success_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint webhooks_pkey primary key (organization_id, id),
  constraint webhooks_organization foreign key (organization_id) references organizations (id),
  constraint webhooks_disabled check (enabled = (disabled_reason is null))
);

create index webhooks_enabled on webhooks (organization_id, id) where enabled;

-- Messages that wait for a retry, and the last ones that succeeded or failed for good. Any process sends what it has
-- leased: each message has a lease of its own, sent_until.
create table webhook_deliveries (
  organization_id uuid not null,
  webhook_id uuid not null,
  id text not null,
  type text not null,
  body text not null,
  -- The entry of the feed. Null for a message about no product.
  product_id uuid,
  version bigint,
  -- The webhook's cursor once the message has succeeded. Until then, the feed is not read.
  next_cursor jsonb,
  status text not null,
  attempts int not null default 0,
  created_at timestamptz not null,
  attempted_at timestamptz,
  next_attempt_at timestamptz,
  -- While it is being sent.
  sent_until timestamptz,
  response_status int,
  response_body text,
  error text,
  duration_ms int,

  constraint webhook_deliveries_pkey primary key (organization_id, webhook_id, id),
  constraint webhook_deliveries_webhook
    foreign key (organization_id, webhook_id) references webhooks (organization_id, id) on delete cascade,
  constraint webhook_deliveries_status check (status in ('waiting', 'failed', 'succeeded'))
);

create index webhook_deliveries_by_age on webhook_deliveries (organization_id, webhook_id, status, created_at, id);

create index webhook_deliveries_waiting on webhook_deliveries (organization_id, webhook_id, next_attempt_at)
  where status = 'waiting';

-- These have few rows: whoever looks for work must not read all that wait.
create index webhook_deliveries_sent on webhook_deliveries (organization_id, webhook_id)
  where sent_until is not null;

create index webhook_deliveries_cursor on webhook_deliveries (organization_id, webhook_id)
  where status = 'waiting' and next_cursor is not null;

-- Idempotency

-- The response to a request with an Idempotency-Key, written in the transaction of the request and good for a day.
create table idempotency_keys (
  organization_id uuid not null,
  key text not null,
  operation text not null,
  -- SHA-256 of the body as it was sent.
  request_hash bytea not null,
  -- Null where the operation does not create exactly one record.
  record_id uuid,
  -- The data of the response, as JSON text.
  answer text not null,
  created_at timestamptz not null default now(),

  constraint idempotency_keys_pkey primary key (organization_id, key)
);

create index idempotency_keys_by_age on idempotency_keys (organization_id, created_at);

-- Reading lz4 takes less time than the default, pglz. Some servers are built without it.
do $$ begin
  alter table product_documents alter summary set compression lz4, alter details set compression lz4;
  alter table onix_records alter record set compression lz4;
  alter table onix_senders alter record set compression lz4;
exception when feature_not_supported or invalid_parameter_value then
  null;
end $$;
