-- The answer to a POST with an Idempotency-Key, written in the product's own transaction and good for a day.
create table idempotency_keys (
  organization_id uuid not null,
  key text not null,
  -- SHA-256 of the body as it was sent.
  request_hash bytea not null,
  product_id uuid not null,
  -- The product as it was answered, as JSON text.
  product text not null,
  created_at timestamptz not null default now(),

  constraint idempotency_keys_pkey primary key (organization_id, key)
);

create index idempotency_keys_by_age on idempotency_keys (organization_id, created_at);
