-- What the elements of a record stand for: the ids of rows and records, by field, nested as its values are.
alter table onix_records add column identities jsonb;
