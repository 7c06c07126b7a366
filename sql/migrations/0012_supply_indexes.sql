-- The rows of one parent in the order of answers. Without these, reading or replacing a tree of n supply details takes
-- n * n steps. The parent stands before the product and the order behind it, so that no lookup costs the same by an
-- index of these as by the primary key: the planner would take either, and one of them reads the whole product.
create index supply_details_by_territory
  on supply_details (organization_id, territory_id, product_id, position, id);

create index supply_prices_by_supply_detail
  on supply_prices (organization_id, supply_detail_id, product_id, position, id);
