import { organization, sql } from "../connections/sql.ts";
import { brokenConstraint } from "../connections/errors.ts";
import type { Queries } from "../database.ts";
import { notFound as productNotFound } from "../products/read.ts";
import { notFound } from "./shown_record.ts";

/**
 * Adds a product to a publishing program. Does nothing if the program already contains
 * it. Throws `NOT_FOUND` for an unknown program or product.
 */
export async function addToProgram(
  database: Queries,
  programId: string,
  productId: string,
): Promise<void> {
  await database.write(sql`
    insert into publishing_program_products (organization_id, program_id, product_id)
    values (${organization}, ${programId}, ${productId})
    on conflict do nothing
  `).catch((error) => {
    switch (brokenConstraint(error)) {
      case "publishing_program_products_program":
        throw notFound("publishing_programs", programId);
      case "publishing_program_products_product":
        throw productNotFound(productId);
    }
    throw error;
  });
}

/** Removes a product from a publishing program, if the program contains it. */
export async function removeFromProgram(
  database: Queries,
  programId: string,
  productId: string,
): Promise<void> {
  const remove = sql`
    delete from publishing_program_products x
    where x.organization_id = ${organization}
      and x.program_id = ${programId} and x.product_id = ${productId}
  `;
  // If SQL replaces the row while the first statement waits, the second finds it.
  await database.write(remove, remove);
}
