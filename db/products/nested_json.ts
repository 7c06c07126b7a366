import { COLLATERAL, type CollateralType } from "../../schema/collateral.ts";
import { names, organization, sql } from "../connections/sql.ts";
import { jsonArray } from "./json_array.ts";
import { shownColumns } from "./shown_records.ts";
import { salesRights } from "./sales_rights_json.ts";
import { territories } from "./territories_json.ts";

const prices = jsonArray(sql`
  select
    x.id,
    x.currency_code,
    trim_scale(x.retail_price) as retail_price,
    trim_scale(x.retail_price_inc_tax) as retail_price_inc_tax,
    trim_scale(x.list_price) as list_price,
    trim_scale(x.tax_rate) as tax_rate,
    x.is_default,
    x.valid_from,
    x.valid_to
  from product_prices x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position, x.id
`);

const packings = jsonArray(sql`
  select x.id, x.unit_of_measure
  from packing_configurations x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position, x.id
`);

const contributors = jsonArray(sql`
  select x.contributor_id, x.contributor_role_id${shownColumns("contributors")}
  from product_contributors x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position
`);

const collections = jsonArray(sql`
  select x.collection_id
  from product_collections x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position
`);

const customFields = jsonArray(sql`
  select x.field_id, x.field_value${shownColumns("custom_fields")}
  from custom_field_values x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position
`);

/** An entry of collateral has the fields of its own type. */
const collateral = sql`array(
  select
    case x.collateral_type
      when 'text_content' then ${collateralOf("text_content")}
      when 'cited_content' then ${collateralOf("cited_content")}
      else ${collateralOf("award")}
    end
  from collateral x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position, x.id
)`;

/** What only the full product has: the arrays of product `p`, as the inside of a JSON object. */
export const nestedJson = sql`concat(
  '"product_prices":', array_to_json(${prices}),
  ',"packing_configurations":', array_to_json(${packings}),
  ',"contributors":', array_to_json(${contributors}),
  ',"product_collections":', array_to_json(${collections}),
  ',"custom_fields":', array_to_json(${customFields}),
  ',"collateral":', array_to_json(${collateral}),
  ',"product_territories":', array_to_json(${territories}),
  ',"product_sales_rights":', array_to_json(${salesRights})
)`;

function collateralOf(type: CollateralType) {
  const columns = ["id", "collateral_type", ...Object.keys(COLLATERAL[type])];
  return sql`(
    select row_to_json(entry)
    from (select ${names(...columns.map((column) => `x.${column}`))}) entry
  )`;
}
