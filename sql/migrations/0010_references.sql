-- When the records that products refer to were made and changed. A default that is the same for all rows is kept in the
-- catalogue, so that no table is written anew. SQL that changes a record need not move updated_at: nothing relies on it.
alter table licenses add column created_at timestamptz not null default now();

alter table licenses add column updated_at timestamptz not null default now();

alter table seasons add column created_at timestamptz not null default now();

alter table seasons add column updated_at timestamptz not null default now();

alter table publishers add column created_at timestamptz not null default now();

alter table publishers add column updated_at timestamptz not null default now();

alter table divisions add column created_at timestamptz not null default now();

alter table divisions add column updated_at timestamptz not null default now();

alter table imprints add column created_at timestamptz not null default now();

alter table imprints add column updated_at timestamptz not null default now();

alter table collections add column created_at timestamptz not null default now();

alter table collections add column updated_at timestamptz not null default now();

alter table formats add column created_at timestamptz not null default now();

alter table formats add column updated_at timestamptz not null default now();

alter table titles add column created_at timestamptz not null default now();

alter table titles add column updated_at timestamptz not null default now();

alter table contributors add column created_at timestamptz not null default now();

alter table contributors add column updated_at timestamptz not null default now();

alter table custom_fields add column created_at timestamptz not null default now();

alter table custom_fields add column updated_at timestamptz not null default now();

alter table publishing_programs add column created_at timestamptz not null default now();

alter table publishing_programs add column updated_at timestamptz not null default now();
