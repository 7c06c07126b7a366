-- Trigram search over one organization at a time: gin (organization_id, search_text).
create extension if not exists pg_trgm;

create extension if not exists btree_gin;

create table organizations (
  id uuid not null default gen_random_uuid(),
  name text not null,
  created_at timestamptz not null default now(),

  constraint organizations_pkey primary key (id),
  constraint organizations_name_not_blank check (name ~ '\S')
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

-- Who may act for an organization with a Bearer token; user_id is the token's `sub`.
create table organization_members (
  organization_id uuid not null,
  user_id text not null,
  role text not null,

  constraint organization_members_pkey primary key (organization_id, user_id),
  constraint organization_members_organization foreign key (organization_id) references organizations (id),
  constraint organization_members_role check (role in ('viewer', 'editor', 'admin', 'owner'))
);
