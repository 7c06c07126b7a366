import { newKey } from "./access.ts";
import { sql } from "./connections/sql.ts";
import { asScript } from "./connections/transaction.ts";
import type { Queries } from "./database.ts";
import { runScript } from "./migrate.ts";
import { DEMO, readSqlFile } from "./sql_files.ts";

/*
 * Creates the demo organization in an empty embedded database, and shows a key of it once.
 */

const DEMO_ORGANIZATION = "00000000-0000-4000-8000-000000000001";

const listFirstOrganization = sql`select from organizations limit 1`;

/** Whether the database has an organization. Without one, nobody can use the API. */
export async function hasOrganizations(database: Queries): Promise<boolean> {
  return (await database.lookUp(listFirstOrganization)).length > 0;
}

/** Creates the demo organization in a database without organizations. */
export async function installDemo(database: Queries): Promise<void> {
  const { text } = await readSqlFile(DEMO);
  await database.transaction(async (tx) => {
    const [known] = await tx.send(listFirstOrganization);
    if (known.length === 0) await runScript(tx, text);
    await tx.commit();
  }, asScript);
}

/** The name of a demo key until it has been shown. Then it is `Demo`. */
const NOT_SHOWN = "Demo (not shown yet)";

/** The maximum number of keys left by starts that failed to show them. */
const MAX_NOT_SHOWN = 10;

/** The demo organization while none of its keys has been used. */
export interface UnusedDemo {
  organizationId: string;
  isShown: boolean;
}

/**
 * Creates an API key for the demo organization unless one has been shown, and shows it. The
 * key is stored first, so what is shown always works. If showing it fails, or the process
 * ends before, the next start shows another. `show` resolves to whether it succeeded.
 * Returns the organization, and whether this call has shown a key, until one is used.
 */
export async function issueDemoKey(
  database: Queries,
  show: (key: string) => Promise<boolean>,
): Promise<UnusedDemo | undefined> {
  const organizationId = DEMO_ORGANIZATION;
  const [demo] = await database.lookUp(sql<{ has_key: boolean; is_used: boolean }>`
    select
      exists (
        select from api_keys k where k.organization_id = o.id and k.name <> ${NOT_SHOWN}
      ) or (
        select count(*) >= ${MAX_NOT_SHOWN} from api_keys k where k.organization_id = o.id
      ) as has_key,
      exists (select from api_key_uses u where u.organization_id = o.id) as is_used
    from organizations o
    where o.id = ${organizationId}
  `);
  if (!demo || demo.is_used) return;
  if (demo.has_key) return { organizationId, isShown: false };
  const { id, key, statement } = newKey({ organizationId, name: NOT_SHOWN, scope: "write" });
  await database.write(statement);
  const isShown = await show(key);
  if (isShown) await database.write(sql`update api_keys set name = 'Demo' where id = ${id}`);
  return { organizationId, isShown };
}
