import type { PageQuery } from "../../schema/record_query.ts";
import { brokenConstraint } from "../connections/errors.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { IN_PROGRAM, productNotFound } from "../products/errors/errors.ts";
import { recordWithId } from "../row_json.ts";
import { type EntryPage, limitOf, selectEntries } from "../entry_page.ts";
import { recordNotFound } from "./records.ts";

/* The products of publishing programs: lists, adds and removes them. */

/** Lists a page of a publishing program's products, by title. Throws `NOT_FOUND`. */
export async function listProgramProducts(
  database: Queries,
  programId: string,
  query: PageQuery,
): Promise<EntryPage> {
  const inProgram = sql`
    x.organization_id = ${organization} and x.program_id = ${programId}
  `;
  const entries = sql`
    select p.id, p.title
    from publishing_program_products x
    join products p on p.organization_id = ${organization} and p.id = x.product_id
    where ${inProgram}
    order by p.title collate "und-x-icu", p.id
    ${limitOf(query)}
  `;
  const found = sql`from publishing_program_products x where ${inProgram}`;
  const program = recordWithId("publishing_programs", sql`${programId}`);
  const [page] = await database.scan(
    sql<EntryPage>`${selectEntries(entries, found)} ${program}`,
  );
  if (!page) throw recordNotFound("publishing_programs", programId);
  return page;
}

/**
 * Adds a product to a publishing program. Does nothing if the program already contains
 * it. Throws `NOT_FOUND` for an unknown program or product.
 */
export async function addToProgram(
  database: Queries,
  programId: string,
  productId: string,
): Promise<void> {
  await database.write(
    sql`
      insert into publishing_program_products (organization_id, program_id, product_id)
      values (${organization}, ${programId}, ${productId})
      on conflict do nothing
    `,
    recordProgramChanges(isMember(programId, productId)),
  ).catch((error) => {
    switch (brokenConstraint(error)) {
      case "publishing_program_products_program":
        throw recordNotFound("publishing_programs", programId);
      case IN_PROGRAM:
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
  const member = isMember(programId, productId);
  const link = sql`
    from publishing_program_products x
    where x.organization_id = ${organization} and ${member}
  `;
  await database.write(
    // Waits for SQL that deletes the row and inserts it again: the deletion sees the new row.
    sql`select ${link} for update`,
    recordProgramChanges(member),
    sql`delete ${link}`,
  );
}

/** The condition that row `x` links the product to the program. */
function isMember(programId: string, productId: string): Statement {
  return sql`x.program_id = ${programId} and x.product_id = ${productId}`;
}

/**
 * Records that the links `x` with a condition are new or are about to go, for the feeds of recipients:
 * the products themselves do not change with them.
 */
export function recordProgramChanges(condition: Statement): Statement {
  return sql`
    insert into program_changes (organization_id, program_id, product_id)
    select x.organization_id, x.program_id, x.product_id
    from publishing_program_products x
    where x.organization_id = ${organization} and ${condition}
    on conflict (organization_id, program_id, product_id) do update set change_version = excluded.change_version
  `;
}
