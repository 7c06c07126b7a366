import { json, organization, raw, sql, type Statement } from "../connections/sql.ts";
import { isIdOf, type Update } from "./change.ts";

/*
 * What a product says in two places: its cover is also the first link of its first front
 * cover, and its availability that of its supplies. What a body changes in one place alone is
 * changed in the other. What it changes in both stays as it is given, and so does all that a
 * whole product says in both.
 */

/** The fields that say the same in two places. */
export const SAID_TWICE = [
  ["cover_image_url", "supporting_resources"],
  ["product_availability_id", "product_territories"],
] as const;

const [COVER_FIELDS] = SAID_TWICE;

/**
 * The fields that an UPDATE of product `p` writes: those of its row `r`, and what they change of
 * the cover in the other place.
 */
export function restatedFields(changes: readonly Update[]): Statement {
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

const FIELDS_WITH_COVER = sql`r.fields || coalesce((
  select case
    -- Neither has changed, or both have: they stay as they are given.
    when url_changed = link_changed then null
    -- A whole product has said both.
    when r.is_whole and r.fields ?& array['cover_image_url', 'supporting_resources'] then null
    when link_changed then jsonb_build_object('cover_image_url', new_cover.link)
    -- Without a cover, the link stays.
    when said.url is not null then jsonb_build_object(
      'supporting_resources', jsonb_set(said.resources, new_cover.place, to_jsonb(said.url))
    )
  end
  from (
    select
      case when r.fields ? 'cover_image_url' then r.fields ->> 'cover_image_url' else p.cover_image_url end as url,
      coalesce(r.fields -> 'supporting_resources', p.supporting_resources) as resources
  ) said
  cross join lateral ${firstCover(sql`p.supporting_resources`)} old_cover
  cross join lateral ${firstCover(sql`said.resources`)} new_cover
  cross join lateral (
    select said.url is distinct from p.cover_image_url, new_cover.link is distinct from old_cover.link
  ) changed (url_changed, link_changed)
), '{}')`;

/** Gives every supply with the old availability of its product the new one. The products are locked. */
export function moveAvailabilities(changes: readonly Update[]): Statement[] {
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
