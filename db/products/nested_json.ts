import { organization, sql } from "../connections/sql.ts";
import { salesRights } from "./sales_rights_json.ts";
import { territories } from "./territories_json.ts";

export const prices = sql`coalesce((
  select json_agg(
    json_build_object(
      'id', x.id,
      'currency_code', x.currency_code,
      'retail_price', trim_scale(x.retail_price),
      'retail_price_inc_tax', trim_scale(x.retail_price_inc_tax),
      'list_price', trim_scale(x.list_price),
      'tax_rate', trim_scale(x.tax_rate),
      'is_default', x.is_default,
      'valid_from', x.valid_from,
      'valid_to', x.valid_to
    )
    order by x.position, x.id
  )
  from product_prices x
  where x.organization_id = ${organization} and x.product_id = p.id
), '[]')`;

export const packings = sql`coalesce((
  select json_agg(
    json_build_object('id', x.id, 'unit_of_measure', x.unit_of_measure)
    order by x.position, x.id
  )
  from packing_configurations x
  where x.organization_id = ${organization} and x.product_id = p.id
), '[]')`;

export const contributors = sql`coalesce((
  select json_agg(
    json_build_object(
      'contributor_id', x.contributor_id,
      'contributor_role_id', x.contributor_role_id,
      'contributor_name', contributor.name,
      'contributor_role_name', role.name,
      'contributor_role_code', role.code
    )
    order by x.position
  )
  from product_contributors x
  join contributors contributor on contributor.organization_id = ${organization} and contributor.id = x.contributor_id
  join contributor_roles role on role.id = x.contributor_role_id
  where x.organization_id = ${organization} and x.product_id = p.id
), '[]')`;

const collections = sql`coalesce((
  select json_agg(json_build_object('collection_id', x.collection_id) order by x.position)
  from product_collections x
  where x.organization_id = ${organization} and x.product_id = p.id
), '[]')`;

export const customFields = sql`coalesce((
  select json_agg(
    json_build_object('field_id', x.field_id, 'field_value', x.field_value, 'field_name', field.name)
    order by x.position
  )
  from custom_field_values x
  join custom_fields field on field.organization_id = ${organization} and field.id = x.field_id
  where x.organization_id = ${organization} and x.product_id = p.id
), '[]')`;

export const collateral = sql`coalesce((
  select json_agg(
    case x.collateral_type
      when 'text_content' then json_build_object(
        'id', x.id,
        'collateral_type', x.collateral_type,
        'text', x.text,
        'text_type', x.text_type,
        'content_audience', x.content_audience,
        'text_format', x.text_format,
        'text_author', x.text_author,
        'source_title', x.source_title,
        'language', x.language
      )
      when 'cited_content' then json_build_object(
        'id', x.id,
        'collateral_type', x.collateral_type,
        'source_title', x.source_title,
        'cited_content_type', x.cited_content_type,
        'citation_note', x.citation_note,
        'resource_link', x.resource_link,
        'publication_date', x.publication_date,
        'content_audience', x.content_audience
      )
      else json_build_object(
        'id', x.id,
        'collateral_type', x.collateral_type,
        'prize_name', x.prize_name,
        'prize_year', x.prize_year,
        'prize_country', x.prize_country,
        'prize_code', x.prize_code,
        'prize_statement', x.prize_statement,
        'prize_jury', x.prize_jury
      )
    end
    order by x.position, x.id
  )
  from collateral x
  where x.organization_id = ${organization} and x.product_id = p.id
), '[]')`;

/** What only the full product has: the arrays of product `p`, as one JSON object. */
export const arrays = sql`
  json_build_object(
    'product_prices', ${prices},
    'packing_configurations', ${packings},
    'contributors', ${contributors},
    'product_collections', ${collections},
    'custom_fields', ${customFields},
    'collateral', ${collateral},
    'product_territories', ${territories},
    'product_sales_rights', ${salesRights}
  )
`;
