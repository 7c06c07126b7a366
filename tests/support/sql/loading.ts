import { recount } from "../../../db/doctor/recount.ts";
import { uuidv7 } from "../../../db/uuid.ts";
import type { App } from "../app/harness.ts";
import type { Organization } from "../app/organization.ts";

/** Inserts products like another system, at three times, so that some share a time. */
export async function load(
  app: App,
  org: Organization,
  count: number,
  columns: (i: number) => Record<string, string | null> = () => ({}),
) {
  const rows = Array.from({ length: count }, (_, i) => ({
    organization_id: org.id,
    id: uuidv7(),
    title: `Book ${i}`,
    created_at: new Date(Date.UTC(2026, 0, 1 + i % 3)).toISOString(),
    ...columns(i),
  }));
  await app.sql`
    insert into products (
      organization_id, id, title, created_at,
      publishing_status_id, lifecycle_status_id, product_availability_id, format_id
    )
    select
      organization_id, id, title, created_at,
      publishing_status_id, lifecycle_status_id, product_availability_id, format_id
    from jsonb_populate_recordset(null::products, ${app.sql.json(rows)})
  `;
  if (app.isDistributed) {
    await recount(app.database.for({ deadline: performance.now() + 60_000 }));
  }
  return { rows: rows as (typeof rows[0] & Record<string, unknown>)[] };
}

/** The ids of products, in order. */
export function idsOf(products: { id: string }[]): string[] {
  return products.map(({ id }) => id);
}
