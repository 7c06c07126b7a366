import type { Session } from "../sql/script.ts";
import { eventually } from "./eventually.ts";

/**
 * Waits until all transactions running now have ended, including those of other tests on the
 * server: until then, feeds and exports of ONIX do not show what was written last.
 */
export async function settled(sql: Session): Promise<void> {
  const [now] = await sql<{ id: string }[]>`select pg_current_xact_id()::text as id`;
  await eventually(true, async () => {
    const [row] = await sql<{ is_over: boolean }[]>`
      select pg_snapshot_xmin(pg_current_snapshot()) > ${now!.id}::xid8 as is_over
    `;
    return row!.is_over;
  });
}
