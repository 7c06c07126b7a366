-- Any process sends what it has leased. Whoever looks for leases reads the messages that wait.
alter table webhooks drop column sender;

drop index webhook_deliveries_sent;
