-- What an organization's products refer to. The organization is part of every key,
-- so that no product can refer to another organization's record.

create table licenses (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  badge_colour text,

  constraint licenses_pkey primary key (organization_id, id),
  constraint licenses_organization foreign key (organization_id) references organizations (id)
);

create table seasons (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,

  constraint seasons_pkey primary key (organization_id, id),
  constraint seasons_organization foreign key (organization_id) references organizations (id)
);

create table publishers (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,

  constraint publishers_pkey primary key (organization_id, id),
  constraint publishers_organization foreign key (organization_id) references organizations (id)
);

create table divisions (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,

  constraint divisions_pkey primary key (organization_id, id),
  constraint divisions_organization foreign key (organization_id) references organizations (id)
);

create table imprints (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,

  constraint imprints_pkey primary key (organization_id, id),
  constraint imprints_organization foreign key (organization_id) references organizations (id)
);

-- A series is a collection too.
create table collections (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  collection_type text,

  constraint collections_pkey primary key (organization_id, id),
  constraint collections_organization foreign key (organization_id) references organizations (id)
);

create table formats (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  product_form_id uuid,

  constraint formats_pkey primary key (organization_id, id),
  constraint formats_organization foreign key (organization_id) references organizations (id),
  constraint formats_product_form foreign key (product_form_id) references product_forms (id)
);

create table titles (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,

  constraint titles_pkey primary key (organization_id, id),
  constraint titles_organization foreign key (organization_id) references organizations (id)
);

create table contributors (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,

  constraint contributors_pkey primary key (organization_id, id),
  constraint contributors_organization foreign key (organization_id) references organizations (id)
);

create table custom_fields (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,

  constraint custom_fields_pkey primary key (organization_id, id),
  constraint custom_fields_organization foreign key (organization_id) references organizations (id)
);

create table publishing_programs (
  organization_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,

  constraint publishing_programs_pkey primary key (organization_id, id),
  constraint publishing_programs_organization foreign key (organization_id) references organizations (id)
);
