-- The parameter `q` of lists also finds subtitles. A product without one has no entry. For a million products, two
-- thirds of them with a subtitle, the index takes 41 MB, and to build it 7 seconds: reads go on, writes wait.
create index products_subtitle on products using gin (organization_id, search_key(subtitle) gin_trgm_ops)
  where subtitle is not null;

-- And identifiers, such as a DOI or the publisher's own number.
create index product_terms_identifiers on product_terms using gin (organization_id, search_key(term) gin_trgm_ops)
  where field = 'id_value';
