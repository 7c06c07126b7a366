-- Lists of the records that grow with the catalogue, in the order of their names and by the parts of a name. An
-- organization has dozens of the others, and their primary keys find these. The part of a name that the order goes by is
-- bounded, since an index cannot hold a long one. For 300,000 contributors both indexes take 45 MB.
--
-- Products have no index by season, division or license, nor their values by custom field: every create would pay for
-- it, and what it would be good for is rare. Deleting one of these, and how many products refer to it, read the
-- organization's products or values: 0.2 s for a million.
create index collections_by_name
  on collections (organization_id, left(search_key(name), 200) collate "C", id);

create index titles_by_name
  on titles (organization_id, left(search_key(name), 200) collate "C", id);

create index contributors_by_name
  on contributors (organization_id, left(search_key(name), 200) collate "C", id);

create index collections_search on collections using gin (organization_id, search_key(name) gin_trgm_ops);

create index titles_search on titles using gin (organization_id, search_key(name) gin_trgm_ops);

create index contributors_search on contributors using gin (organization_id, search_key(name) gin_trgm_ops);
