-- Shared by all organizations, and the same in every installation: sql/seed.sql fills them with fixed ids.

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

  constraint onix_codes_pkey primary key (list, code)
);
