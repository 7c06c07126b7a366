-- To renew this file: UPDATE_GOLDEN=1 deno task test tests/products/product_sql_test.ts

-- The SQL that reads a product, $2 of organization $1. It follows from schema/product.ts.
select d.product_id as id,
 '{' || d.summary || ',' || d.details || '}' as product
from (
  select p.organization_id,
   p.id as product_id,
   p.change_version,
   p.updated_at,
   o.names_version + 256773174580758 as names_version,
   concat(trim(both '{}' from (
    select row_to_json(x)
    from (
      select p.id,
       p.organization_id,
       p.product_code,
       to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
       to_char(p.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated_at,
       p.title,
       p.subtitle,
       p.isbn13,
       p.isbn10,
       p.page_count,
       p.publication_date,
       p.format_id,
       p.title_id,
       p.publishing_status_id,
       p.product_availability_id,
       p.lifecycle_status_id,
       p.license_id,
       p.season_id,
       p.publisher_id,
       p.division_id,
       p.imprint_id,
       p.series_id,
       (
        select r.product_form_id
        from formats r
        where r.organization_id = $1 and r.id = p.format_id
      ) as product_form_id,
       p.product_type,
       p.cover_image_url,
       p.edition_number,
       p.edition_statement,
       p.product_form_description,
       p.primary_content_type,
       p.country_of_publication,
       p.city_of_publication
    ) x
  )::text), coalesce((
    select concat(',"license_name":', coalesce(to_json(r.name)::text, 'null'), ',"license_badge_colour":', coalesce(to_json(r.badge_colour)::text, 'null'))
    from licenses r
    where r.organization_id = $1 and r.id = p.license_id
  ), ',"license_name":null,"license_badge_colour":null'), (
    select concat(',"season_name":', coalesce(to_json(r.name)::text, 'null'))
    from seasons r
    where r.organization_id = $1 and r.id = p.season_id
  ), (
    select concat(',"publisher_name":', coalesce(to_json(r.name)::text, 'null'))
    from publishers r
    where r.organization_id = $1 and r.id = p.publisher_id
  ), (
    select concat(',"division_name":', coalesce(to_json(r.name)::text, 'null'))
    from divisions r
    where r.organization_id = $1 and r.id = p.division_id
  ), (
    select concat(',"imprint_name":', coalesce(to_json(r.name)::text, 'null'))
    from imprints r
    where r.organization_id = $1 and r.id = p.imprint_id
  ), (
    select concat(',"series_name":', coalesce(to_json(r.name)::text, 'null'))
    from collections r
    where r.organization_id = $1 and r.id = p.series_id
  ), (
    select concat(',"format_name":', coalesce(to_json(r.name)::text, 'null'))
    from formats r
    where r.organization_id = $1 and r.id = p.format_id
  ), (
    select concat(',"title_name":', coalesce(to_json(r.name)::text, 'null'))
    from titles r
    where r.organization_id = $1 and r.id = p.title_id
  ), (
    select concat(',"publishing_status_name":', coalesce(to_json(r.name)::text, 'null'), ',"publishing_status_code":', coalesce(to_json(r.code)::text, 'null'))
    from publishing_statuses r
    where r.id = p.publishing_status_id
  ), (
    select concat(',"product_availability_name":', coalesce(to_json(r.name)::text, 'null'), ',"product_availability_code":', coalesce(to_json(r.code)::text, 'null'))
    from product_availabilities r
    where r.id = p.product_availability_id
  ), (
    select concat(',"lifecycle_status_name":', coalesce(to_json(r.name)::text, 'null'), ',"lifecycle_status_code":', coalesce(to_json(r.code)::text, 'null'))
    from lifecycle_statuses r
    where r.id = p.lifecycle_status_id
  ), (
    select concat(',"product_form_code":', coalesce(to_json(r.code)::text, 'null'))
    from product_forms r
    where r.id = (
      select r.product_form_id
      from formats r
      where r.organization_id = $1 and r.id = p.format_id
    )
  ), ',"collections":' || nullif(array_to_json(array(
    select row_to_json(x)
    from (
      select c.id,
       c.name,
       c.collection_type
      from product_collections x
      join collections c on c.organization_id = $1 and c.id = x.collection_id
      where x.organization_id = $1 and x.product_id = p.id
      order by x.position,
       x.collection_id
    ) x
  ))::text, '[]')) as summary,
   concat('"product_prices":', array_to_json(array(
    select row_to_json(x)
    from (
      select x.id,
       x.currency_code,
       trim_scale(x.retail_price) as retail_price,
       trim_scale(x.retail_price_inc_tax) as retail_price_inc_tax,
       trim_scale(x.list_price) as list_price,
       trim_scale(x.tax_rate) as tax_rate,
       x.is_default,
       x.valid_from,
       x.valid_to
      from product_prices x
      where x.organization_id = $1 and x.product_id = p.id
      order by x.position,
       x.id
    ) x
  )), ',"packing_configurations":', array_to_json(array(
    select row_to_json(x)
    from (
      select x.id,
       x.unit_of_measure,
       x.quantity,
       x.gtin
      from packing_configurations x
      where x.organization_id = $1 and x.product_id = p.id
      order by x.position,
       x.id
    ) x
  )), ',"contributors":', array_to_json(array(
    select row_to_json(x)
    from (
      select x.contributor_id,
       x.contributor_role_id,
       (
        select r.name
        from contributors r
        where r.organization_id = $1 and r.id = x.contributor_id
      ) as contributor_name,
       (
        select r.name
        from contributor_roles r
        where r.id = x.contributor_role_id
      ) as contributor_role_name,
       (
        select r.code
        from contributor_roles r
        where r.id = x.contributor_role_id
      ) as contributor_role_code
      from product_contributors x
      where x.organization_id = $1 and x.product_id = p.id
      order by x.position,
       x.contributor_id,
       x.contributor_role_id
    ) x
  )), ',"product_collections":', array_to_json(array(
    select row_to_json(x)
    from (
      select x.collection_id,
       x.part_number,
       (
        select r.name
        from collections r
        where r.organization_id = $1 and r.id = x.collection_id
      ) as collection_name
      from product_collections x
      where x.organization_id = $1 and x.product_id = p.id
      order by x.position,
       x.collection_id
    ) x
  )), ',"custom_fields":', array_to_json(array(
    select row_to_json(x)
    from (
      select x.field_id,
       x.field_value,
       (
        select r.name
        from custom_fields r
        where r.organization_id = $1 and r.id = x.field_id
      ) as field_name
      from custom_field_values x
      where x.organization_id = $1 and x.product_id = p.id
      order by x.position,
       x.field_id
    ) x
  )), ',"collateral":', array_to_json(array(
    select case when x.collateral_type = 'text_content' then (
      select row_to_json(x)
      from (
        select x.id,
         x.collateral_type,
         x.text,
         x.text_type,
         x.content_audience,
         x.text_format,
         x.text_author,
         x.text_source_corporate,
         x.text_source_description,
         x.source_title,
         x.language
      ) x
    ) when x.collateral_type = 'cited_content' then (
      select row_to_json(x)
      from (
        select x.id,
         x.collateral_type,
         x.source_title,
         x.cited_content_type,
         x.citation_note,
         x.resource_link,
         x.publication_date,
         x.content_audience
      ) x
    ) when x.collateral_type = 'award' then (
      select row_to_json(x)
      from (
        select x.id,
         x.collateral_type,
         x.prize_name,
         x.prize_year,
         x.prize_country,
         x.prize_code,
         x.prize_statement,
         x.prize_jury
      ) x
    ) end
    from collateral x
    where x.organization_id = $1 and x.product_id = p.id
    order by x.position,
     x.id
  )), ',"languages":', coalesce(shown_values(p.languages, '{"language_role":null,"language_code":null,"country_code":null,"script_code":null}'), '[]'), ',"product_form_details":', coalesce(shown_values(p.product_form_details, '[]'), '[]'), ',"product_form_features":', coalesce(shown_values(p.product_form_features, '{"product_form_feature_type":null,"product_form_feature_value":null,"product_form_feature_descriptions":[]}'), '[]'), ',"edition_types":', coalesce(shown_values(p.edition_types, '[]'), '[]'), ',"epub_technical_protections":', coalesce(shown_values(p.epub_technical_protections, '[]'), '[]'), ',"product_identifiers":', coalesce(shown_values(p.product_identifiers, '{"product_id_type":null,"id_type_name":null,"id_value":null}'), '[]'), ',"subjects":', coalesce(shown_values(p.subjects, '{"main_subject":false,"subject_scheme_identifier":null,"subject_scheme_name":null,"subject_scheme_version":null,"subject_code":null,"subject_heading_text":null}'), '[]'), ',"extents":', coalesce(shown_values(p.extents, '{"extent_type":null,"extent_value":null,"extent_unit":null}'), '[]'), ',"measures":', coalesce(shown_values(p.measures, '{"measure_type":null,"measurement":null,"measure_unit_code":null}'), '[]'), ',"audiences":', coalesce(shown_values(p.audiences, '{"audience_code_type":null,"audience_code_type_name":null,"audience_code_value":null}'), '[]'), ',"audience_ranges":', coalesce(shown_values(p.audience_ranges, '{"audience_range_qualifier":null,"audience_range_exact":null,"audience_range_from":null,"audience_range_to":null}'), '[]'), ',"publishing_dates":', coalesce(shown_values(p.publishing_dates, '{"publishing_date_role":null,"date":null}'), '[]'), ',"related_products":', coalesce(shown_values(p.related_products, '{"product_relation_codes":[],"product_identifiers":{"product_id_type":null,"id_type_name":null,"id_value":null}}'), '[]'), ',"related_works":', coalesce(shown_values(p.related_works, '{"work_relation_code":null,"work_identifiers":{"work_id_type":null,"id_type_name":null,"id_value":null}}'), '[]'), ',"supporting_resources":', coalesce(shown_values(p.supporting_resources, '{"resource_content_type":null,"content_audience":[],"resource_mode":null,"resource_features":{"resource_feature_type":null,"feature_value":null,"feature_note":null},"resource_versions":{"resource_form":null,"resource_version_features":{"resource_version_feature_type":null,"feature_value":null,"feature_note":null},"resource_links":[]}}'), '[]'), ',"product_territories":', array_to_json(array(
    select row_to_json(x)
    from (
      select x.id,
       x.market_reference,
       x.exclusivity,
       array_to_json(array(
        select row_to_json(x)
        from (
          select y.id,
           y.name,
           (
            select row_to_json(x)
            from (
              select coalesce(y.countries_included, '{}') as countries_included,
               coalesce(y.countries_excluded, '{}') as countries_excluded,
               coalesce(y.regions_included, '{}') as regions_included,
               coalesce(y.regions_excluded, '{}') as regions_excluded
            ) x
          ) as territory
          from territory_markets y
          where y.organization_id = $1 and y.product_id = x.product_id and y.territory_id = x.id
          order by y.position,
           y.id
        ) x
      )) as markets,
       (
        select row_to_json(x)
        from (
          select x.market_publishing_status,
           (
            select c.label
            from onix_codes c
            where c.list = 68 and c.code = x.market_publishing_status
          ) as market_publishing_status_label,
           array_to_json(array(
            select row_to_json(x)
            from (
              select y.market_date_role,
               (
                select c.label
                from onix_codes c
                where c.list = 163 and c.code = y.market_date_role
              ) as market_date_role_label,
               y.date
              from market_dates y
              where y.organization_id = $1 and y.product_id = x.product_id and y.territory_id = x.id
              order by y.position,
               y.id
            ) x
          )) as market_dates
        ) x
      ) as market_publishing_detail,
       array_to_json(array(
        select row_to_json(x)
        from (
          select y.id,
           (
            select row_to_json(x)
            from (
              select y.supplier_role,
               (
                select c.label
                from onix_codes c
                where c.list = 93 and c.code = y.supplier_role
              ) as supplier_role_label,
               y.supplier_name,
               coalesce(shown_values(y.supplier_identifiers, '{"supplier_id_type":null,"id_type_name":null,"id_value":null}'), '[]') as supplier_identifiers
            ) x
          ) as supplier,
           y.product_availability,
           (
            select c.label
            from onix_codes c
            where c.list = 65 and c.code = y.product_availability
          ) as product_availability_label,
           array_to_json(array(
            select row_to_json(x)
            from (
              select z.supply_date_role,
               (
                select c.label
                from onix_codes c
                where c.list = 166 and c.code = z.supply_date_role
              ) as supply_date_role_label,
               z.date
              from supply_dates z
              where z.organization_id = $1 and z.product_id = y.product_id and z.supply_detail_id = y.id
              order by z.position,
               z.id
            ) x
          )) as supply_dates,
           y.order_time,
           y.pack_quantity,
           y.unpriced_item_type,
           array_to_json(array(
            select row_to_json(x)
            from (
              select z.id,
               z.price_type,
               (
                select c.label
                from onix_codes c
                where c.list = 58 and c.code = z.price_type
              ) as price_type_label,
               trim_scale(z.price_amount) as price_amount,
               z.currency_code,
               z.price_status,
               z.minimum_order_quantity,
               z.valid_from,
               z.valid_to,
               z.price_qualifier,
               (
                select c.label
                from onix_codes c
                where c.list = 59 and c.code = z.price_qualifier
              ) as price_qualifier_label,
               (
                select row_to_json(x)
                from (
                  select coalesce(z.countries_included, '{}') as countries_included,
                   coalesce(z.countries_excluded, '{}') as countries_excluded,
                   coalesce(z.regions_included, '{}') as regions_included,
                   coalesce(z.regions_excluded, '{}') as regions_excluded
                ) x
              ) as territory,
               array_to_json(array(
                select row_to_json(x)
                from (
                  select w.tax_type,
                   w.tax_rate_code,
                   trim_scale(w.tax_rate_percent) as tax_rate_percent,
                   trim_scale(w.taxable_amount) as taxable_amount,
                   trim_scale(w.tax_amount) as tax_amount
                  from supply_price_taxes w
                  where w.organization_id = $1 and w.product_id = z.product_id and w.supply_price_id = z.id
                  order by w.position,
                   w.id
                ) x
              )) as taxes
              from supply_prices z
              where z.organization_id = $1 and z.product_id = y.product_id and z.supply_detail_id = y.id
              order by z.position,
               z.id
            ) x
          )) as prices
          from supply_details y
          where y.organization_id = $1 and y.product_id = x.product_id and y.territory_id = x.id
          order by y.position,
           y.id
        ) x
      )) as supply_details
      from product_territories x
      where x.organization_id = $1 and x.product_id = p.id
      order by x.position,
       x.id
    ) x
  )), ',"product_sales_rights":', array_to_json(array(
    select row_to_json(x)
    from (
      select x.id,
       x.sales_rights_type,
       (
        select c.label
        from onix_codes c
        where c.list = 46 and c.code = x.sales_rights_type
      ) as sales_rights_type_label,
       x.sales_rights_type in ('01', '02', '07', '08') as for_sale,
       case when x.sales_rights_type in ('01', '04', '07') then true when x.sales_rights_type in ('02', '05', '08') then false end as exclusive,
       x.is_rest_of_world,
       case when not x.is_rest_of_world then (
        select row_to_json(x)
        from (
          select coalesce(x.countries_included, '{}') as countries_included,
           coalesce(x.countries_excluded, '{}') as countries_excluded,
           coalesce(x.regions_included, '{}') as regions_included,
           coalesce(x.regions_excluded, '{}') as regions_excluded
        ) x
      ) end as territory,
       x.publisher_name
      from product_sales_rights x
      where x.organization_id = $1 and x.product_id = p.id
      order by x.position,
       x.id
    ) x
  ))) as details
  from products p
  join organizations o on o.id = $1
  where p.organization_id = $1 and p.id = $2
) d
