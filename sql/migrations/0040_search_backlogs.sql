-- The products that searches still lack, by organization: small organizations are indexed first, and a search knows
-- how many of its own are missing. It replaces the one row for all of 0033.
create table search_backlogs (
  organization_id uuid not null,
  -- At most so many products wait.
  products integer not null,
  -- The last product that has been indexed. Those with later ids wait.
  last_product uuid,

  constraint search_backlogs_pkey primary key (organization_id)
);

do $$ begin
  if to_regclass('pg_dist_partition') is not null then
    perform create_reference_table('search_backlogs')
    from pg_dist_partition where logicalrelid = 'products'::regclass;
  end if;
end $$;

insert into search_backlogs (organization_id, products)
select organization_id, count(*)
from products
where exists (select from search_backlog)
group by organization_id;

drop table search_backlog;
