import { sql } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { isAtOrigin } from "../origin.ts";

/** A transaction that writes for longer is one that was forgotten, or a large load. */
const PATIENCE_SECONDS = 10;

/** Whether those who follow the changes of products get them at once. */
export async function checkChanges(database: Operations) {
  if (!await isAtOrigin(database)) {
    return {
      ok: false,
      finding: "The database was copied",
      advice: "deno task migrate",
    };
  }
  // Of other roles' sessions only pg_read_all_stats shows the transactions.
  const [oldest] = await database.scan(sql<Writing>`
    select writing.name, writing.seconds, writing.end_by
    from (
      select
        'Session ' || a.pid || ' of the database ' || a.datname as name,
        extract(epoch from now() - a.xact_start)::int as seconds,
        'select pg_terminate_backend(' || a.pid || ')' as end_by
      from pg_stat_activity a
      where a.backend_xid is not null
      union all
      select
        'The prepared transaction ' || x.gid || ' of the database ' || x.database,
        extract(epoch from now() - x.prepared)::int,
        'rollback prepared ' || quote_literal(x.gid) || ' in ' || x.database
      from pg_prepared_xacts x
    ) writing
    where writing.seconds >= ${PATIENCE_SECONDS}
    order by writing.seconds desc
    limit 1
  `);
  return oldest
    ? {
      ok: false,
      finding:
        `${oldest.name} has been writing for ${oldest.seconds} s: the feed waits for it`,
      advice: `End it: ${oldest.end_by}`,
    }
    : { ok: true, finding: "The feed waits for no transaction" };
}

/** A transaction that has written and is not over. */
interface Writing {
  name: string;
  seconds: number;
  /** What ends it. */
  end_by: string;
}
