-- The database computes the entity tag of a stored product once, from its JSON. Reads computed it every time.
-- The expression must be immutable: a cast to bytea is, `convert_to` is not. The cast reads two backslashes as one.
-- Without rows, the column is added at once. Reads store the JSON again.
truncate product_documents;

alter table product_documents add column etag text not null generated always as (
  '"' || left(
    translate(encode(sha256(replace('{' || summary || ',' || details || '}', '\', '\\')::bytea), 'base64'), '+/', '-_'),
    27
  ) || '"'
) stored;
