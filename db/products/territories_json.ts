import { organization, sql } from "../connections/sql.ts";

/*
 * Rights and supply under ONIX's own names.
 */

/** The markets of territory `t`. */
const markets = sql`
    coalesce((
      select json_agg(
        json_build_object(
          'id', m.id,
          'name', m.name,
          'territory', json_build_object(
            'countries_included', coalesce(m.countries_included, '{}'),
            'countries_excluded', coalesce(m.countries_excluded, '{}'),
            'regions_included', coalesce(m.regions_included, '{}'),
            'regions_excluded', coalesce(m.regions_excluded, '{}')
          )
        )
        order by m.position, m.id
      )
      from territory_markets m
      where m.organization_id = ${organization} and m.product_id = t.product_id and m.territory_id = t.id
    ), '[]')
  `;

/** The prices of supply detail `s`, with their taxes. */
const supplyPrices = sql`
    coalesce((
      select json_agg(
        json_build_object(
          'id', x.id,
          'price_type', x.price_type,
          'price_type_label', (
            select label from onix_codes where list = 58 and code = x.price_type
          ),
          'price_amount', trim_scale(x.price_amount),
          'currency_code', x.currency_code,
          'price_status', x.price_status,
          'minimum_order_quantity', x.minimum_order_quantity,
          'valid_from', x.valid_from,
          'valid_to', x.valid_to,
          'taxes', coalesce((
            select json_agg(
              json_build_object(
                'tax_type', tax.tax_type,
                'tax_rate_code', tax.tax_rate_code,
                'tax_rate_percent', trim_scale(tax.tax_rate_percent),
                'taxable_amount', trim_scale(tax.taxable_amount),
                'tax_amount', trim_scale(tax.tax_amount)
              )
              order by tax.position, tax.id
            )
            from supply_price_taxes tax
            where tax.organization_id = ${organization} and tax.product_id = s.product_id and tax.supply_price_id = x.id
          ), '[]')
        )
        order by x.position, x.id
      )
      from supply_prices x
      where x.organization_id = ${organization} and x.product_id = s.product_id and x.supply_detail_id = s.id
    ), '[]')
  `;

/** The territories of product `p` with their markets: the shallow tree of a list. */
export const shallowTerritories = sql`
    coalesce((
      select json_agg(
        json_build_object(
          'id', t.id,
          'market_reference', t.market_reference,
          'exclusivity', t.exclusivity,
          'markets', ${markets}
        )
        order by t.position, t.id
      )
      from product_territories t
      where t.organization_id = ${organization} and t.product_id = p.id
    ), '[]')
  `;

/** The whole tree of product `p` (ONIX blocks 4 and 6). */
export const territories = sql`
    coalesce((
      select json_agg(
        json_build_object(
          'id', t.id,
          'market_reference', t.market_reference,
          'exclusivity', t.exclusivity,
          'markets', ${markets},
          'market_publishing_detail', json_build_object(
            'market_publishing_status', t.market_publishing_status,
            'market_publishing_status_label', (
              select label from onix_codes where list = 68 and code = t.market_publishing_status
            ),
            'market_dates', coalesce((
              select json_agg(
                json_build_object(
                  'market_date_role', d.market_date_role,
                  'market_date_role_label', (
                    select label from onix_codes where list = 163 and code = d.market_date_role
                  ),
                  'date', d.date
                )
                order by d.position, d.id
              )
              from market_dates d
              where d.organization_id = ${organization} and d.product_id = t.product_id and d.territory_id = t.id
            ), '[]')
          ),
          'supply_details', coalesce((
            select json_agg(
              json_build_object(
                'id', s.id,
                'supplier', json_build_object(
                  'supplier_role', s.supplier_role,
                  'supplier_role_label', (
                    select label from onix_codes where list = 93 and code = s.supplier_role
                  ),
                  'supplier_name', s.supplier_name
                ),
                'product_availability', s.product_availability,
                'product_availability_label', (
                  select label from onix_codes where list = 65 and code = s.product_availability
                ),
                'supply_dates', coalesce((
                  select json_agg(
                    json_build_object(
                      'supply_date_role', d.supply_date_role,
                      'supply_date_role_label', (
                        select label from onix_codes where list = 166 and code = d.supply_date_role
                      ),
                      'date', d.date
                    )
                    order by d.position, d.id
                  )
                  from supply_dates d
                  where d.organization_id = ${organization} and d.product_id = t.product_id and d.supply_detail_id = s.id
                ), '[]'),
                'order_time', s.order_time,
                'pack_quantity', s.pack_quantity,
                'unpriced_item_type', s.unpriced_item_type,
                'prices', ${supplyPrices}
              )
              order by s.position, s.id
            )
            from supply_details s
            where s.organization_id = ${organization} and s.product_id = t.product_id and s.territory_id = t.id
          ), '[]')
        )
        order by t.position, t.id
      )
      from product_territories t
      where t.organization_id = ${organization} and t.product_id = p.id
    ), '[]')
  `;
