import { isAnyOf, organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { requireHistory } from "../products/versions.ts";
import { NIL_UUID } from "../uuid.ts";

/** The products of a transaction: a longer one would hold the feed back. */
const PRODUCTS_AT_ONCE = 100;

/**
 * Erases the versions of all products that show a contributor, except those that are shown
 * now, with what ONIX stored beside products that are deleted. Returns how many.
 */
export async function eraseContributor(
  database: Queries,
  contributor: string,
): Promise<number> {
  await requireHistory(database);
  // Quotes in texts are escaped, so no text contains this.
  const isShown = sql`strpos(
    d.details, '"contributor_id":"' || ${contributor}::uuid || '"'
  ) > 0`;
  let erased = 0;
  let after = NIL_UUID;
  for (;;) {
    const found = await database.scan(sql<{ id: string }>`
      select distinct d.product_id as id
      from product_documents d
      where d.organization_id = ${organization} and d.product_id > ${after}::uuid and ${isShown}
      order by d.product_id
      limit ${PRODUCTS_AT_ONCE}
    `);
    if (found.length === 0) return erased;
    const ids = found.map(({ id }) => id);
    after = ids.at(-1)!;
    const isTheirs = sql`d.organization_id = ${organization} and d.product_id ${isAnyOf(ids)}`;
    const [removed] = await database.write(
      sql`
        delete from product_documents d
        where ${isTheirs} and ${isShown} and exists (
          select from product_documents n
          where n.organization_id = ${organization} and n.product_id = d.product_id
            and n.change_version > d.change_version
        )
      `,
      sql`
        update product_documents d
        set onix = '{}'
        where ${isTheirs} and d.event = 'deleted' and d.onix <> '{}'
      `,
    );
    erased += removed.count;
  }
}
