import type { Config } from "../../schema/config.ts";
import { sql } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { miscounted } from "../products/recount.ts";

/** A key that ends sooner is worth a word. */
const SOON = "14 days";

/** Whether the shared code lists are there. */
export async function checkCodeLists(database: Operations) {
  const [row] = await database.scan(sql<{ codes: number }>`
    select count(*)::int as codes from publishing_statuses
  `);
  return row!.codes > 0
    ? { ok: true, finding: "They are filled" }
    : { ok: false, finding: "They are empty", advice: "deno task seed" };
}

/** Whether the totals of lists are those of the products. */
export async function checkCounters(database: Operations) {
  const [, rows] = await database.transaction((tx) =>
    tx.commit(sql`set local statement_timeout = 0`, miscounted)
  );
  const wrong = rows.map(({ organization_id }) => organization_id);
  return wrong.length === 0
    ? { ok: true, finding: "They agree with the products" }
    : {
      ok: false,
      finding: `The totals of lists are wrong: were products changed by SQL? (${
        first(wrong)
      })`,
      advice: "deno task recount",
    };
}

/** Whether anyone may come in, and goes on to. */
export async function checkKeys(database: Operations, { token }: Config) {
  const [row] = await database.scan(
    sql<{ organizations: number; keys: number; ending: string | null }>`
    select
      (select count(*)::int from organizations) as organizations,
      count(*)::int as keys,
      string_agg(k.id, ', ' order by k.expires_at) filter (
        where k.revoked_at is null and k.expires_at < now() + ${SOON}::interval
      ) as ending
    from api_keys k
    where coalesce(least(k.expires_at, k.revoked_at), 'infinity') > now()
  `,
  );
  const { organizations, keys, ending } = row!;
  if (organizations === 0) {
    return {
      ok: false,
      finding: "There is no organization",
      advice: "deno task organization create NAME",
    };
  }
  if (keys === 0 && !token) {
    return {
      ok: false,
      finding: "No API key works, and no Bearer tokens are configured",
      advice: "deno task key create --organization ID --name NAME",
    };
  }
  if (ending) {
    return {
      ok: false,
      finding: `These expire within ${SOON}: ${ending}`,
      advice: "Make their successors: deno task key create",
    };
  }
  return { ok: true, finding: `${keys} work, none expires within ${SOON}` };
}

/** The first three of the organizations, and how many more there are. */
function first(ids: string[]): string {
  const more = ids.length > 3 ? `, and ${ids.length - 3} more` : "";
  return `organization ${ids.slice(0, 3).join(", ")}${more}`;
}
