-- The languages of a product, as values: they have no identity, and a body replaces them all.
alter table products add column languages jsonb;

alter table products add constraint products_languages_array
  check (jsonb_typeof(languages) = 'array');

-- The stored JSON lacks them. Reads store it again.
truncate product_documents;
