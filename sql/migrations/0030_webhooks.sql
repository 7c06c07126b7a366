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
  -- In a row. From five, the webhook rests until resumes_at.
  failures int not null default 0,
  failing_since timestamptz,
  resumes_at timestamptz,
  last_success_at timestamptz,
  -- Moves with each change that a caller makes: a sender must not overwrite it with what it knew before.
  revision int not null default 0,
  -- The sender that runs the webhook, and until when.
  lease_holder uuid,
  leased_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint webhooks_pkey primary key (organization_id, id),
  constraint webhooks_disabled check (enabled = (disabled_reason is null))
);

-- Messages that wait for a retry, and the last ones that succeeded or failed for good.
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
  constraint webhook_deliveries_status check (status in ('waiting', 'failed', 'succeeded'))
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_distributed_table('webhooks', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
    perform create_distributed_table('webhook_deliveries', 'organization_id', colocate_with => 'products')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

alter table webhooks add constraint webhooks_organization
  foreign key (organization_id) references organizations (id);

alter table webhook_deliveries add constraint webhook_deliveries_webhook
  foreign key (organization_id, webhook_id) references webhooks (organization_id, id) on delete cascade;

create index webhooks_enabled on webhooks (organization_id, id) where enabled;

create index webhook_deliveries_by_age on webhook_deliveries (organization_id, webhook_id, status, created_at, id);

create index webhook_deliveries_waiting on webhook_deliveries (organization_id, webhook_id, next_attempt_at)
  where status = 'waiting';
