-- Products wait for searches by organization, no longer in one row for all: small organizations are indexed first, and a
-- search knows how many of its own are missing.
alter table search_backlog drop column only_row;
alter table search_backlog drop column last_organization;

-- An organization without a row has no product that waits.
alter table search_backlog add column organization_id uuid;

-- At most so many wait: those after last_product.
alter table search_backlog add column products integer;

insert into search_backlog (organization_id, products)
select organization_id, count(*)
from products
where exists (select from search_backlog)
group by organization_id;

delete from search_backlog where organization_id is null;

alter table search_backlog alter column organization_id set not null;
alter table search_backlog alter column products set not null;
alter table search_backlog add constraint search_backlog_pkey primary key (organization_id);
