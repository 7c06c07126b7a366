/** Counts a product that was created, as lists need it that take the service's statement. */
export const COUNT_PRODUCT = `
  insert into product_counts as c (organization_id, filter, value, slot, products)
  select p.organization_id, f.filter, f.value, pg_backend_pid() % 16, 1
  from products p
  cross join lateral (
    values
      ('organization_id', p.organization_id),
      ('publishing_status_id', p.publishing_status_id),
      ('lifecycle_status_id', p.lifecycle_status_id),
      ('product_availability_id', p.product_availability_id),
      ('format_id', p.format_id)
  ) f (filter, value)
  where p.organization_id = $1 and p.id = $2 and f.value is not null
  order by f.filter, f.value
  on conflict (organization_id, filter, value, slot)
  do update set products = c.products + 1
`;
