import type { App, Organization } from "./harness.ts";

/** Puts the product into the organization's publishing program, which keeps it from being deleted. */
export async function addToProgram(
  app: App,
  org: Organization,
  product: string,
): Promise<void> {
  await app.sql((sql) =>
    sql`
      insert into publishing_program_products (organization_id, program_id, product_id)
      values (${org.id}, ${org.program}, ${product})
    `
  );
}
