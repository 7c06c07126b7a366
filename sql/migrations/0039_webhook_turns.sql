-- A process sends the messages that it has leased, whoever has leased others.
alter table webhooks drop column sender;
