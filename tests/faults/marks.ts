import { assertEquals } from "@std/assert";
import type { App } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

/** The number of a write. Every part of the product contains it. */
export type Mark = string;

/** The mark of a missing product. */
export const GONE: Mark = "gone";

/** A stored product, with the marks of its parts. */
export interface Stored {
  id: string;
  organization_id: string;
  marks: (Mark | null)[];
}

/** A body that writes rows in four tables. */
export function bodyOf(org: Organization, mark: Mark): object {
  return {
    title: mark,
    subtitle: mark,
    custom_fields: [{ field_id: org.customField, field_value: mark }],
    collateral: [{ collateral_type: "text_content", text: mark }],
    product_collections: [{ collection_id: org.collection }],
  };
}

/** The marks of a product in a response. Throws if another organization owns it. */
// deno-lint-ignore no-explicit-any
export function marksOf(org: Organization, product: any): (Mark | null)[] {
  assertEquals(product.organization_id, org.id);
  return [
    product.title,
    product.subtitle,
    product.custom_fields[0]?.field_value,
    product.collateral[0]?.text,
  ];
}

/** The marks of a complete product. */
export function marksAs(mark: Mark): Mark[] {
  return [mark, mark, mark, mark];
}

/** All products of the organizations, read without the service. */
export async function storedProducts(
  app: Pick<App, "sql">,
  organizations: Organization[],
): Promise<Stored[]> {
  const ids = organizations.map(({ id }) => id);
  return await app.sql<Stored[]>`
    select
      p.id,
      p.organization_id,
      json_build_array(p.title, p.subtitle, f.field_value, c.text) as marks
    from products p
    left join custom_field_values f
      on f.organization_id = p.organization_id and f.product_id = p.id
    left join collateral c
      on c.organization_id = p.organization_id and c.product_id = p.id
    where p.organization_id in (
      select x::uuid from jsonb_array_elements_text(${app.sql.json(ids)}) x
    )
  `;
}
