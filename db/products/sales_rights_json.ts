import { organization, sql } from "../connections/sql.ts";
import { jsonArray } from "./json_array.ts";

/** The sales rights of product `p` (ONIX block 3). */
export const salesRights = jsonArray(sql`
  select
    r.id,
    r.sales_rights_type,
    (
      select c.label from onix_codes c where c.list = 46 and c.code = r.sales_rights_type
    ) as sales_rights_type_label,
    r.sales_rights_type in ('01', '02', '07', '08') as for_sale,
    case
      when r.sales_rights_type in ('01', '04', '07') then true
      when r.sales_rights_type in ('02', '05', '08') then false
    end as exclusive,
    r.is_rest_of_world,
    case when not r.is_rest_of_world then (
      select row_to_json(territory)
      from (
        select
          coalesce(r.countries_included, '{}') as countries_included,
          coalesce(r.countries_excluded, '{}') as countries_excluded,
          coalesce(r.regions_included, '{}') as regions_included,
          coalesce(r.regions_excluded, '{}') as regions_excluded
      ) territory
    ) end as territory,
    r.publisher_name
  from product_sales_rights r
  where r.organization_id = ${organization} and r.product_id = p.id
  order by r.position, r.id
`);
