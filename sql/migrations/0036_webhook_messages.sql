-- Each message has a lease of its own, webhook_deliveries.sent_until, instead of its webhook.
alter table webhooks
  drop column revision,
  drop column lease_holder,
  drop column leased_until;

create index webhook_deliveries_sent on webhook_deliveries (organization_id, webhook_id)
  where sent_until is not null;
