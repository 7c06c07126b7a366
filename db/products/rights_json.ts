import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import { jsonArray } from "./json_array.ts";

/** The territory columns of a market or sales right. */
export const TERRITORY_COLUMNS = [
  "countries_included",
  "countries_excluded",
  "regions_included",
  "regions_excluded",
];

/** The label of the column's code in this ONIX list. */
function onixLabel(list: number, column: string): Statement {
  return raw(
    `(select c.label from onix_codes c where c.list = ${list} and c.code = ${column})`,
  );
}

/** The countries and regions of row `alias`, as a JSON object. */
function territoryOf(alias: string): Statement {
  const arrays = TERRITORY_COLUMNS.map((column) =>
    `coalesce(${alias}.${column}, '{}') as ${column}`
  );
  return raw(
    `(select row_to_json(territory) from (select ${arrays}) territory)`,
  );
}

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

/** The markets of territory `t`. */
const markets = jsonArray(sql`
  select
    m.id,
    m.name,
    ${territoryOf("m")} as territory
  from territory_markets m
  where m.organization_id = ${organization} and m.product_id = t.product_id and m.territory_id = t.id
  order by m.position, m.id
`);

/** The market dates of territory `t`. */
const marketDates = jsonArray(sql`
  select
    d.market_date_role,
    ${onixLabel(163, "d.market_date_role")} as market_date_role_label,
    d.date
  from market_dates d
  where d.organization_id = ${organization} and d.product_id = t.product_id and d.territory_id = t.id
  order by d.position, d.id
`);

/** The dates of supply detail `s`. */
const supplyDates = jsonArray(sql`
  select
    d.supply_date_role,
    ${onixLabel(166, "d.supply_date_role")} as supply_date_role_label,
    d.date
  from supply_dates d
  where d.organization_id = ${organization} and d.product_id = s.product_id and d.supply_detail_id = s.id
  order by d.position, d.id
`);

/** The taxes of supply price `price`. */
const taxes = jsonArray(sql`
  select
    tax.tax_type,
    tax.tax_rate_code,
    trim_scale(tax.tax_rate_percent) as tax_rate_percent,
    trim_scale(tax.taxable_amount) as taxable_amount,
    trim_scale(tax.tax_amount) as tax_amount
  from supply_price_taxes tax
  where tax.organization_id = ${organization} and tax.product_id = price.product_id and tax.supply_price_id = price.id
  order by tax.position, tax.id
`);

/** The prices of supply detail `s`. */
const supplyPrices = jsonArray(sql`
  select
    price.id,
    price.price_type,
    ${onixLabel(58, "price.price_type")} as price_type_label,
    trim_scale(price.price_amount) as price_amount,
    price.currency_code,
    price.price_status,
    price.minimum_order_quantity,
    price.valid_from,
    price.valid_to,
    ${taxes} as taxes
  from supply_prices price
  where price.organization_id = ${organization} and price.product_id = s.product_id and price.supply_detail_id = s.id
  order by price.position, price.id
`);

/** The supply of territory `t` (ONIX block 6). */
const supplyDetails = jsonArray(sql`
  select
    s.id,
    (
      select row_to_json(supplier)
      from (
        select
          s.supplier_role,
          ${onixLabel(93, "s.supplier_role")} as supplier_role_label,
          s.supplier_name
      ) supplier
    ) as supplier,
    s.product_availability,
    ${onixLabel(65, "s.product_availability")} as product_availability_label,
    ${supplyDates} as supply_dates,
    s.order_time,
    s.pack_quantity,
    s.unpriced_item_type,
    ${supplyPrices} as prices
  from supply_details s
  where s.organization_id = ${organization} and s.product_id = t.product_id and s.territory_id = t.id
  order by s.position, s.id
`);

/** The territories of product `p` with only their markets, for lists. */
export const shallowTerritories = jsonArray(sql`
  select t.id, t.market_reference, t.exclusivity, ${markets} as markets
  from product_territories t
  where t.organization_id = ${organization} and t.product_id = p.id
  order by t.position, t.id
`);

/** The territories of product `p` with all their details (ONIX block 6). */
export const territories = jsonArray(sql`
  select
    t.id,
    t.market_reference,
    t.exclusivity,
    ${markets} as markets,
    (
      select row_to_json(detail)
      from (
        select
          t.market_publishing_status,
          ${onixLabel(68, "t.market_publishing_status")}
            as market_publishing_status_label,
          ${marketDates} as market_dates
      ) detail
    ) as market_publishing_detail,
    ${supplyDetails} as supply_details
  from product_territories t
  where t.organization_id = ${organization} and t.product_id = p.id
  order by t.position, t.id
`);
