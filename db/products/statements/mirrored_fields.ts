import { MIRRORED_FIELDS } from "../../../schema/product.ts";
import { json, organization, raw, sql, type Statement } from "../../connections/sql.ts";
import { isIdOf, type Update } from "../change/change.ts";

/*
 * Keeps mirrored fields in step. The cover is stored as `cover_image_url` and as the first link of
 * the first front cover, the availability in the product and in its supplies. A body that changes
 * one of the two changes the other as well. A body that changes both, or a full product that has
 * both, is stored as sent.
 *
 * For example, `{ "cover_image_url": "https://a.example/2.jpg" }` replaces the link of the front
 * cover too, and removes the features of the former file, such as its digest.
 */

const [COVER_FIELDS] = MIRRORED_FIELDS;

/**
 * The fields that an UPDATE of product `p` writes: those of its row `r`, and the mirrored cover
 * field.
 */
export function mirroredFields(changes: readonly Update[]): Statement {
  return changes.some(({ body }) => COVER_FIELDS.some((name) => name in body))
    ? FIELDS_WITH_COVER
    : raw("r.fields");
}

/** The first link of the first front cover (List 158, 01) that is an image (List 159, 03), and its place. */
function firstCover(resources: Statement): Statement {
  const first = raw(`'resource_versions', '0', 'resource_links', '0'`);
  return sql`(
    select x.place, ${resources} #>> x.place as link
    from (
      select array[(e.position - 1)::text, ${first}] as place
      from jsonb_array_elements(${resources}) with ordinality e (resource, position)
      where e.resource @> '{"resource_content_type": "01", "resource_mode": "03"}'
      order by e.position
      limit 1
    ) x
  )`;
}

/**
 * The features of a file that another file does not have (List 162): its size in pixels and bytes,
 * its name and its digests. The format may be the same.
 */
const OF_FORMER_FILE = raw("'02', '03', '04', '05', '06', '07', '08', '09', '10'");

const FIELDS_WITH_COVER = sql`r.fields || coalesce((
  select case
    -- Neither has changed, or both have: they are stored as sent.
    when url_changed = link_changed then null
    -- A full product has both.
    when r.is_whole and r.fields ?& array['cover_image_url', 'supporting_resources'] then null
    when link_changed then jsonb_build_object('cover_image_url', new_cover.link)
    -- Without a cover, the link stays.
    when updated.url is not null then jsonb_build_object(
      'supporting_resources', jsonb_set(
        jsonb_set(updated.resources, new_cover.place, to_jsonb(updated.url)),
        new_cover.place[1:3] || 'resource_version_features'::text,
        (
          select coalesce(jsonb_agg(f.feature order by f.position), '[]')
          from jsonb_array_elements(updated.resources #> (new_cover.place[1:3] || 'resource_version_features'::text))
            with ordinality f (feature, position)
          where f.feature ->> 'resource_version_feature_type' not in (${OF_FORMER_FILE})
        ),
        false
      )
    )
  end
  from (
    select
      case when r.fields ? 'cover_image_url' then r.fields ->> 'cover_image_url' else p.cover_image_url end as url,
      coalesce(r.fields -> 'supporting_resources', p.supporting_resources) as resources
  ) updated
  cross join lateral ${firstCover(sql`p.supporting_resources`)} old_cover
  cross join lateral ${firstCover(sql`updated.resources`)} new_cover
  cross join lateral (
    select updated.url is distinct from p.cover_image_url, new_cover.link is distinct from old_cover.link
  ) changed (url_changed, link_changed)
), '{}')`;

/** Gives each supply with its product's old availability the new one. The products must be locked. */
export function mirrorAvailabilities(changes: readonly Update[]): Statement[] {
  const moved = changes.filter(({ body }) =>
    body.product_availability_id && !("product_territories" in body)
  );
  if (moved.length === 0) return [];
  const rows = moved.map(({ id, body: { product_availability_id } }) => ({
    id,
    product_availability_id,
  }));
  return [sql`
    update supply_details s
    set product_availability = now.code
    from products p
    join jsonb_to_recordset(${json(rows)}) r (id uuid, product_availability_id uuid)
      on r.id = p.id and r.product_availability_id <> p.product_availability_id
    join product_availabilities old on old.id = p.product_availability_id
    join product_availabilities now on now.id = r.product_availability_id
    where p.organization_id = ${organization} and p.id ${isIdOf(moved)}
      and s.organization_id = ${organization} and s.product_id ${isIdOf(moved)}
      and s.product_id = p.id
      and s.product_availability = old.code
  `];
}
