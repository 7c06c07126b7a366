import { assertEquals } from "@std/assert";
import type { App, Organization } from "../support/harness.ts";

/** Which write it was: it stands in every part of the product. */
export type Mark = string;

/** The mark of a product that is not there. */
export const GONE: Mark = "gone";

/** A product as it is stored, with the marks of its parts. */
export interface Stored {
  id: string;
  organization_id: string;
  marks: (Mark | null)[];
}

/** A body whose rows are in four tables. */
export function bodyOf(org: Organization, mark: Mark): object {
  return {
    title: mark,
    subtitle: mark,
    custom_fields: [{ field_id: org.customField, field_value: mark }],
    collateral: [{ collateral_type: "text_content", text: mark }],
    product_collections: [{ collection_id: org.collection }],
  };
}

/** The marks of a product in an answer, which must be the organization's. */
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

/** The marks of a product that is whole. */
export function marksAs(mark: Mark): Mark[] {
  return [mark, mark, mark, mark];
}

/** All products of the organizations, past the service. */
export async function storedProducts(
  app: Pick<App, "sql">,
  organizations: Organization[],
): Promise<Stored[]> {
  const ids = organizations.map(({ id }) => id);
  return await app.sql((sql) =>
    sql<Stored[]>`
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
        select x::uuid from jsonb_array_elements_text(${sql.json(ids)}) x
      )
    `
  );
}
