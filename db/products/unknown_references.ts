import type { ProductBody } from "../../schema/product.ts";
import { json, organization, sql, type Statement } from "../connections/sql.ts";

/** The references of a body, each with the field that says what it refers to. */
function referencesOf(body: ProductBody) {
  const references: {
    position: number;
    pointer: string;
    field: string;
    id: string;
  }[] = [];
  const collect = (at: string, entry: object) => {
    for (const [field, id] of Object.entries(entry)) {
      if (field.endsWith("_id") && field !== "series_id" && id) {
        const position = references.length;
        references.push({ position, pointer: `${at}/${field}`, field, id });
      }
    }
  };
  collect("", body);
  for (
    const key of [
      "contributors",
      "product_collections",
      "custom_fields",
    ] as const
  ) {
    body[key]?.forEach((entry, i) => collect(`/${key}/${i}`, entry));
  }
  return references;
}

/** The pointers of the references of a body to what the organization does not have. */
export function unknownReferences(
  body: ProductBody,
): Statement<{ pointer: string }> {
  return sql<{ pointer: string }>`
    select r.pointer
    from jsonb_to_recordset(${json(referencesOf(body))})
      r (position int, pointer text, field text, id uuid)
    where not case r.field
      when 'publishing_status_id' then exists (select from publishing_statuses x where x.id = r.id)
      when 'product_availability_id' then exists (select from product_availabilities x where x.id = r.id)
      when 'lifecycle_status_id' then exists (select from lifecycle_statuses x where x.id = r.id)
      when 'product_form_id' then exists (select from product_forms x where x.id = r.id)
      when 'contributor_role_id' then exists (select from contributor_roles x where x.id = r.id)
      when 'format_id' then exists (
        select from formats x where x.organization_id = ${organization} and x.id = r.id
      )
      when 'title_id' then exists (
        select from titles x where x.organization_id = ${organization} and x.id = r.id
      )
      when 'license_id' then exists (
        select from licenses x where x.organization_id = ${organization} and x.id = r.id
      )
      when 'season_id' then exists (
        select from seasons x where x.organization_id = ${organization} and x.id = r.id
      )
      when 'publisher_id' then exists (
        select from publishers x where x.organization_id = ${organization} and x.id = r.id
      )
      when 'division_id' then exists (
        select from divisions x where x.organization_id = ${organization} and x.id = r.id
      )
      when 'imprint_id' then exists (
        select from imprints x where x.organization_id = ${organization} and x.id = r.id
      )
      when 'contributor_id' then exists (
        select from contributors x where x.organization_id = ${organization} and x.id = r.id
      )
      when 'collection_id' then exists (
        select from collections x where x.organization_id = ${organization} and x.id = r.id
      )
      when 'field_id' then exists (
        select from custom_fields x where x.organization_id = ${organization} and x.id = r.id
      )
    end
    order by r.position
  `;
}
