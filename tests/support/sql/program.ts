import type { App } from "../app/harness.ts";
import type { Organization } from "../app/organization.ts";

/** Adds the product to the organization's publishing program, which prevents its deletion. */
export async function addToProgram(
  app: App,
  org: Organization,
  product: string,
): Promise<void> {
  await app.sql`
    insert into publishing_program_products (organization_id, program_id, product_id)
    values (${org.id}, ${org.program}, ${product})
  `;
}
