-- A list finds its products in an index alone if the visibility map is current, as VACUUM leaves it. For products on
-- pages with later changes it reads the table too: with a seventh of 100,000 products changed, lists reach less than
-- half of their rate. By default, autovacuum waits for a fifth.
alter table products set (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.02
);
