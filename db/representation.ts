import type { Sql } from "./database.ts";
import { salesRights, territories } from "./rights.ts";

/*
 * The product as answers show it, as JSON text that PostgreSQL makes and the
 * service passes on. In these fragments `$1` is the organization: postgres.js
 * numbers parameters as they come, and every statement here begins with the
 * organization. Naming it for every table keeps a statement on one node of a
 * distributed database.
 */

/**
 * The fields of product `p` with its relations joined by `relations`, as the
 * inside of a JSON object. Names of relations that are not set are absent:
 * a null makes its whole part null, and nothing of it remains.
 */
export function core(sql: Sql) {
  return sql`
    coalesce('"season_name":' || to_json(season.name) || ',', '') ||
    coalesce('"publisher_name":' || to_json(publisher.name) || ',', '') ||
    coalesce('"division_name":' || to_json(division.name) || ',', '') ||
    coalesce('"imprint_name":' || to_json(imprint.name) || ',', '') ||
    coalesce('"series_name":' || to_json(series.name) || ',', '') ||
    coalesce('"format_name":' || to_json(format.name) || ',', '') ||
    coalesce('"title_name":' || to_json(parent.name) || ',', '') ||
    coalesce(
      '"publishing_status_name":' || to_json(publishing.name) ||
      ',"publishing_status_code":' || to_json(publishing.code) || ',', '') ||
    coalesce(
      '"product_availability_name":' || to_json(availability.name) ||
      ',"product_availability_code":' || to_json(availability.code) || ',', '') ||
    coalesce('"lifecycle_status_name":' || to_json(lifecycle.name) || ',', '') ||
    coalesce('"collections":' || (
      select json_agg(
        json_build_object('id', x.id, 'name', x.name, 'collection_type', x.collection_type)
        order by link.position
      )
      from product_collections link
      join collections x on x.organization_id = $1 and x.id = link.collection_id
      where link.organization_id = $1 and link.product_id = p.id
    ) || ',', '') ||
    trim(both '{}' from json_build_object(
      'id', p.id,
      'organization_id', p.organization_id,
      'product_code', p.product_code,
      'title', p.title,
      'subtitle', p.subtitle,
      'isbn13', p.isbn13,
      'isbn10', p.isbn10,
      'page_count', p.page_count,
      'publication_date', p.publication_date,
      'format_id', p.format_id,
      'title_id', p.title_id,
      'publishing_status_id', p.publishing_status_id,
      'product_availability_id', p.product_availability_id,
      'lifecycle_status_id', p.lifecycle_status_id,
      'license_id', p.license_id,
      'season_id', p.season_id,
      'publisher_id', p.publisher_id,
      'division_id', p.division_id,
      'imprint_id', p.imprint_id,
      'series_id', p.series_id,
      'product_form_id', format.product_form_id,
      'product_type', p.product_type,
      'cover_image_url', p.cover_image_url,
      'license_name', license.name,
      'license_badge_colour', license.badge_colour,
      'created_at', to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'updated_at', to_char(p.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    )::text)
  `;
}

/** The joins that `core` reads. */
export function relations(sql: Sql) {
  return sql`
    left join licenses license on license.organization_id = $1 and license.id = p.license_id
    left join seasons season on season.organization_id = $1 and season.id = p.season_id
    left join publishers publisher on publisher.organization_id = $1 and publisher.id = p.publisher_id
    left join divisions division on division.organization_id = $1 and division.id = p.division_id
    left join imprints imprint on imprint.organization_id = $1 and imprint.id = p.imprint_id
    left join collections series on series.organization_id = $1 and series.id = p.series_id
    left join formats format on format.organization_id = $1 and format.id = p.format_id
    left join titles parent on parent.organization_id = $1 and parent.id = p.title_id
    left join publishing_statuses publishing on publishing.id = p.publishing_status_id
    left join product_availabilities availability on availability.id = p.product_availability_id
    left join lifecycle_statuses lifecycle on lifecycle.id = p.lifecycle_status_id
  `;
}

/** What only the full product has: the arrays of product `$2`, as one JSON object. */
export function arrays(sql: Sql) {
  return sql`
    json_build_object(
      'product_prices', coalesce((
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
        where x.organization_id = $1 and x.product_id = $2
      ), '[]'),
      'packing_configurations', coalesce((
        select json_agg(
          json_build_object('id', x.id, 'unit_of_measure', x.unit_of_measure)
          order by x.position, x.id
        )
        from packing_configurations x
        where x.organization_id = $1 and x.product_id = $2
      ), '[]'),
      'contributors', coalesce((
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
        join contributors contributor on contributor.organization_id = $1 and contributor.id = x.contributor_id
        join contributor_roles role on role.id = x.contributor_role_id
        where x.organization_id = $1 and x.product_id = $2
      ), '[]'),
      'product_collections', coalesce((
        select json_agg(json_build_object('collection_id', x.collection_id) order by x.position)
        from product_collections x
        where x.organization_id = $1 and x.product_id = $2
      ), '[]'),
      'custom_fields', coalesce((
        select json_agg(
          json_build_object('field_id', x.field_id, 'field_value', x.field_value, 'field_name', field.name)
          order by x.position
        )
        from custom_field_values x
        join custom_fields field on field.organization_id = $1 and field.id = x.field_id
        where x.organization_id = $1 and x.product_id = $2
      ), '[]'),
      'collateral', coalesce((
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
        where x.organization_id = $1 and x.product_id = $2
      ), '[]'),
      'product_territories', ${territories(sql)},
      'product_sales_rights', ${salesRights(sql)}
    )
  `;
}
