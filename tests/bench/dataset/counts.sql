-- The counts of an organization's products, spread over all 16 slots as a service in use leaves them.

insert into product_counts (organization_id, filter, value, slot, products)
select p.organization_id, f.filter, f.value, p.page_count % 16, count(*)
from products p
cross join lateral (
  values
    ('organization_id', p.organization_id),
    ('publishing_status_id', p.publishing_status_id),
    ('lifecycle_status_id', p.lifecycle_status_id),
    ('product_availability_id', p.product_availability_id),
    ('format_id', p.format_id)
) f (filter, value)
where p.organization_id = $1
group by p.organization_id, f.filter, f.value, p.page_count % 16;
