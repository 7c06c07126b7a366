import {
  COLLATERAL,
  COLLATERAL_TYPES,
  type CollateralType,
} from "../../schema/collateral.ts";
import { type Reference, referencesOf } from "../../schema/references.ts";
import {
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { jsonArray } from "./json_array.ts";
import { record } from "./record.ts";
import { salesRights, territories } from "./rights_json.ts";

export const prices = jsonArray(sql`
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

export const packings = jsonArray(sql`
  select x.id, x.unit_of_measure
  from packing_configurations x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position, x.id
`);

export const contributors = jsonArray(sql`
  select x.contributor_id, x.contributor_role_id${shownColumns("contributors")}
  from product_contributors x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position, x.contributor_id, x.contributor_role_id
`);

const collections = jsonArray(sql`
  select x.collection_id
  from product_collections x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position, x.collection_id
`);

export const customFields = jsonArray(sql`
  select x.field_id, x.field_value${shownColumns("custom_fields")}
  from custom_field_values x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position, x.field_id
`);

/** Each collateral entry has only the fields of its type. */
export const collateral = sql`array_to_json(array(
  select case ${COLLATERAL_TYPES.map(whenCollateral)} end
  from collateral x
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position, x.id
))`;

/** The fields of product `p` that lists omit, as the inside of a JSON object. */
export const nestedJson = nestedWith(territories, salesRights);

/**
 * The same for a new product, which has no rights. PostgreSQL starts every subselect
 * of a plan, and those of the rights are a third of all.
 */
export const newNestedJson = nestedWith(raw("'[]'"), raw("'[]'"));

function nestedWith(territories: Statement, salesRights: Statement): Statement {
  return sql`concat(
    '"product_prices":', ${prices},
    ',"packing_configurations":', ${packings},
    ',"contributors":', ${contributors},
    ',"product_collections":', ${collections},
    ',"custom_fields":', ${customFields},
    ',"collateral":', ${collateral},
    ',"product_territories":', ${territories},
    ',"product_sales_rights":', ${salesRights}
  )`;
}

/** The columns shown of the records that entry `x` references. */
function shownColumns(array: Reference["array"]): Statement[] {
  return referencesOf(array).flatMap(({ field, table, shows }) => {
    const shown = record(table, raw(`x.${field}`));
    return Object.entries(shows ?? {}).map(([name, column]) =>
      sql`, (select r.${raw(column)} ${shown}) as ${raw(name)}`
    );
  });
}

function whenCollateral(type: CollateralType): Statement {
  const columns = ["id", "collateral_type", ...Object.keys(COLLATERAL[type])];
  return sql`when x.collateral_type = ${raw(`'${type}'`)} then (
    select row_to_json(entry)
    from (select ${names(...columns.map((column) => `x.${column}`))}) entry
  )`;
}
