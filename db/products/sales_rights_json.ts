import { organization, sql } from "../connections/sql.ts";
import { jsonArray } from "./json_array.ts";
import { onixLabel, territoryOf } from "./onix_json.ts";

/** The sales rights of product `p` (ONIX block 4). */
export const salesRights = jsonArray(sql`
  select
    r.id,
    r.sales_rights_type,
    ${onixLabel(46, "r.sales_rights_type")} as sales_rights_type_label,
    r.sales_rights_type in ('01', '02', '07', '08') as for_sale,
    case
      when r.sales_rights_type in ('01', '04', '07') then true
      when r.sales_rights_type in ('02', '05', '08') then false
    end as exclusive,
    r.is_rest_of_world,
    case when not r.is_rest_of_world then ${territoryOf("r")} end as territory,
    r.publisher_name
  from product_sales_rights r
  where r.organization_id = ${organization} and r.product_id = p.id
  order by r.position, r.id
`);
