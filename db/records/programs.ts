import type { PageQuery } from "../../schema/record_query.ts";
import { organization, sql } from "../connections/sql.ts";
import { brokenConstraint } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";
import { jsonArray } from "../products/json_array.ts";
import { notFound as noProduct } from "../products/read.ts";
import type { Page } from "./list_records.ts";
import { notFound } from "./read_record.ts";
import { recordWithId } from "./shown_record.ts";

/** One page of a programme's products, by title. Throws `NOT_FOUND` for an unknown programme. */
export async function listProgramProducts(
  database: Operations,
  programId: string,
  { page, limit }: PageQuery,
): Promise<Page> {
  const offset = String(BigInt(page - 1) * BigInt(limit));
  const entries = jsonArray(sql`
    select p.id, p.title
    from publishing_program_products x
    join products p on p.organization_id = ${organization} and p.id = x.product_id
    where x.organization_id = ${organization} and x.program_id = ${programId}
    order by p.title collate "und-x-icu", p.id
    limit ${limit} offset ${offset}
  `);
  const [found] = await database.scan(sql<{ entries: string; total: string }>`
    select
      ${entries}::text as entries,
      (
        select count(*)
        from publishing_program_products x
        where x.organization_id = ${organization} and x.program_id = ${programId}
      ) as total
    ${recordWithId("publishing_programs", programId)}
  `);
  if (!found) throw notFound("publishing_programs", programId);
  return { entries: found.entries, total: Number(found.total) };
}

/** Adds a product to a programme, if it is not in it already. Throws `NOT_FOUND` for either that is unknown. */
export async function addToProgram(
  database: Operations,
  programId: string,
  productId: string,
): Promise<void> {
  try {
    await database.transaction((tx) =>
      tx.commit(sql`
        insert into publishing_program_products (organization_id, program_id, product_id)
        values (${organization}, ${programId}, ${productId})
        on conflict do nothing
      `)
    );
  } catch (error) {
    switch (brokenConstraint(error)) {
      case "publishing_program_products_program":
        throw notFound("publishing_programs", programId);
      case "publishing_program_products_product":
        throw noProduct(productId);
    }
    throw error;
  }
}

/** Takes a product out of a programme, if it is in it. */
export async function removeFromProgram(
  database: Operations,
  programId: string,
  productId: string,
): Promise<void> {
  await database.transaction((tx) =>
    tx.commit(sql`
      delete from publishing_program_products x
      where x.organization_id = ${organization}
        and x.program_id = ${programId} and x.product_id = ${productId}
    `)
  );
}
