import { sql, type Statement } from "./connections/sql.ts";
import type { Transaction } from "./connections/transaction.ts";
import type { Queries } from "./database.ts";

/*
 * Change versions contain transaction ids, so they are only valid in the database that
 * assigned them: their origin. A restored dump, or a database created from a template,
 * must start a new origin.
 */

/**
 * Whether the versions of origin `o` are those of this database. A dump that is restored
 * into the tables of a migrated database adds a second origin.
 */
export const isOrigin = sql`(
  o.place = catalogue_place() and (select count(*) from change_origins) = 1
)`;

const originState = sql<{ is_origin: boolean }>`
  select ${isOrigin} as is_origin
  from change_origins o
`;

/**
 * Starts a new origin: new versions are higher than all existing ones, the cursors of
 * `/products/changes` expire, and the feed lists every product. Blocks writers, but no readers.
 */
export const newOrigin: readonly Statement[] = [
  // Waits for every writer: each first locks rows of `products`, or the table.
  sql`lock table products in exclusive mode`,
  sql`
    select begin_origin(greatest(
      (select max(p.change_version) from products p),
      (select max(c.change_version) from product_changes c),
      (select max(x.change_version) from product_deletions x),
      (select max(d.change_version) from product_documents d),
      0
    ))
  `,
  // SQL without triggers, such as a restore of rows alone, has not recorded when products changed.
  sql`
    delete from product_changes c
    where not exists (
      select from products p where p.organization_id = c.organization_id and p.id = c.product_id
    )
  `,
  sql`
    insert into product_changes as c (organization_id, product_id, updated_at, change_version)
    select p.organization_id, p.id, p.updated_at, p.change_version
    from products p
    on conflict (organization_id, product_id) do update set
      updated_at = excluded.updated_at,
      change_version = excluded.change_version
    where (c.updated_at, c.change_version) is distinct from (excluded.updated_at, excluded.change_version)
  `,
];

/** A webhook that is disabled because its database is a copy. */
export interface CopiedWebhook {
  organization_id: string;
  id: string;
  url: string;
}

/** A copy must not call the receivers of the original. */
const disableWebhooks = sql<CopiedWebhook>`
  update webhooks w
  set enabled = false, disabled_reason = 'copied', disabled_at = now()
  where w.enabled
  returning w.organization_id, w.id, w.url
`;

/** Whether the database assigned its change versions. The schema must exist. */
export async function isAtOrigin(database: Queries): Promise<boolean> {
  const [row] = await database.lookUp(originState);
  return row!.is_origin;
}

/** Starts a new origin in a copied database. Returns the webhooks that this disables. */
export async function startOriginIfCopied(
  tx: Transaction,
): Promise<CopiedWebhook[]> {
  const [[table]] = await tx.send(
    sql<{ name: string | null }>`select to_regclass('change_origins') as name`,
  );
  if (!table!.name) return [];
  const [[row]] = await tx.send(originState);
  if (row!.is_origin) return [];
  await tx.send(...newOrigin);
  const [disabled] = await tx.send(disableWebhooks);
  return disabled;
}
