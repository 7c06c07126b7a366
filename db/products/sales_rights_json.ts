import { organization, sql } from "../connections/sql.ts";

/** The sales rights of product `p` (ONIX block 3). */
export const salesRights = sql`
    coalesce((
      select json_agg(
        json_build_object(
          'id', r.id,
          'sales_rights_type', r.sales_rights_type,
          'sales_rights_type_label', (
            select label from onix_codes where list = 46 and code = r.sales_rights_type
          ),
          'for_sale', r.sales_rights_type in ('01', '02', '07', '08'),
          'exclusive', case
            when r.sales_rights_type in ('01', '04', '07') then true
            when r.sales_rights_type in ('02', '05', '08') then false
          end,
          'is_rest_of_world', r.is_rest_of_world,
          'territory', case when not r.is_rest_of_world then
            json_build_object(
              'countries_included', coalesce(r.countries_included, '{}'),
              'countries_excluded', coalesce(r.countries_excluded, '{}'),
              'regions_included', coalesce(r.regions_included, '{}'),
              'regions_excluded', coalesce(r.regions_excluded, '{}')
            )
          end,
          'publisher_name', r.publisher_name
        )
        order by r.position, r.id
      )
      from product_sales_rights r
      where r.organization_id = ${organization} and r.product_id = p.id
    ), '[]')
  `;
