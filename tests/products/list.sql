-- To renew this file: UPDATE_GOLDEN=1 deno task test tests/products/product_sql_test.ts

-- GET /products
select (
  select case when stored.total > $2 then stored.total else (
    select count(*)
    from (
      select p.id as id,
       p.created_at as sort_key
      from products p
      where p.organization_id = $1 and p.created_at >= '-infinity'
      order by sort_key desc,
       id desc
      limit (
        select $3::bigint
      )
    ) p
  ) end
  from (
    select coalesce(sum(c.products), 0) as total
    from product_counts c
    where c.organization_id = $1 and c.filter = $4 and c.value = $1
  ) stored
) as total,
 case when sum(octet_length(e.entry)) <= $5::int then string_agg(e.entry, '},{') end as entries,
 case when sum(octet_length(e.entry)) > $6::int then sum(octet_length(e.entry))::float8 end as too_long,
 array_to_string(array_agg(e.id) filter (where e.entry is null), ',') as missing
from (
  select p.id,
   d.summary as entry
  from unnest(array(
    select page.id
    from (
      select p.id as id,
       p.created_at as sort_key
      from products p
      where p.organization_id = $1 and p.created_at >= '-infinity'
      order by sort_key desc,
       id desc
      limit (
        select $7::bigint
      ) offset (
        select $8::bigint
      )
    ) page
    order by sort_key desc,
     id desc
  )) with ordinality page (id, place)
  cross join lateral (
    select p.id,
     p.change_version
    from products p
    where p.organization_id = $1 and p.id = page.id
    limit 1
  ) p
  join organizations o on o.id = $1
  left join lateral (
    select d.product_id,
     d.summary,
     d.details,
     d.etag
    from product_documents d
    where d.organization_id = $1 and d.product_id = p.id and d.change_version = p.change_version and d.names_version = o.names_version + 256773174580758
    limit 1
  ) d on true
  order by place
) e

-- GET /products?publisher_id=0190a6b5-0000-7000-8000-000000000000&search=emma&sort=title
select (
  select count(*)
  from (
    select s.product_id as id
    from product_search s
    join products p on p.organization_id = $1 and p.id = s.product_id
    where s.organization_id = $1 and s.search_text like '%' || search_key($2) || '%' and ((s.found_text like '%' || search_key($3) || '%')) and p.publisher_id = $4
  ) p
) as total,
 case when sum(octet_length(e.entry)) <= $5::int then string_agg(e.entry, '},{') end as entries,
 case when sum(octet_length(e.entry)) > $6::int then sum(octet_length(e.entry))::float8 end as too_long,
 array_to_string(array_agg(e.id) filter (where e.entry is null), ',') as missing
from (
  select p.id,
   d.summary as entry
  from unnest(array(
    select page.id
    from (
      select s.product_id as id,
       p.title collate "und-x-icu" as sort_key
      from product_search s
      join products p on p.organization_id = $1 and p.id = s.product_id
      where s.organization_id = $1 and s.search_text like '%' || search_key($7) || '%' and ((s.found_text like '%' || search_key($8) || '%')) and p.publisher_id = $9
      order by sort_key,
       id
      limit $10 offset $11
    ) page
    order by sort_key,
     id
  )) with ordinality page (id, place)
  cross join lateral (
    select p.id,
     p.change_version
    from products p
    where p.organization_id = $1 and p.id = page.id
    limit 1
  ) p
  join organizations o on o.id = $1
  left join lateral (
    select d.product_id,
     d.summary,
     d.details,
     d.etag
    from product_documents d
    where d.organization_id = $1 and d.product_id = p.id and d.change_version = p.change_version and d.names_version = o.names_version + 256773174580758
    limit 1
  ) d on true
  order by place
) e
