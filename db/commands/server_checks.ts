import type { Config } from "../../schema/config.ts";
import { sql } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { pendingMigrations } from "../migrate.ts";

const EXTENSIONS = ["btree_gin", "pg_trgm"];

const OLDEST_VERSION = 15;

/** Whether it answers, and is new enough. */
export async function checkDatabase(database: Operations) {
  const asked = performance.now();
  const [row] = await database.scan(sql<{ version: string }>`
    select current_setting('server_version') as version
  `);
  const ms = Math.ceil(performance.now() - asked);
  const finding = `PostgreSQL ${row!.version} answers in ${ms} ms`;
  return parseInt(row!.version) >= OLDEST_VERSION ? { ok: true, finding } : {
    ok: false,
    finding,
    advice: `Use PostgreSQL ${OLDEST_VERSION} or later`,
  };
}

/** The time-outs that the service sets itself where it can. */
const ADVISED: Record<string, string> = {
  idle_in_transaction_session_timeout: "10s",
  lock_timeout: "2s",
  statement_timeout: "10s",
};

/**
 * Whether the server ends what takes too long. Behind PgBouncer the service
 * cannot ask for that.
 */
export async function checkTimeouts(
  operations: Operations,
  { database }: Config,
) {
  if (database.prepare) return { ok: true, finding: "The service sets them" };
  const unset = await operations.scan(sql<{ name: string; role: string }>`
    select name, quote_ident(current_user) as role
    from pg_settings
    where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')
      and reset_val = '0'
    order by name
  `);
  return unset.length === 0 ? { ok: true, finding: "The role has them" } : {
    ok: false,
    finding: `The role does not have ${
      unset.map(({ name }) => name).join(", ")
    }`,
    advice: unset.map(({ name, role }) =>
      `alter role ${role} set ${name} = '${ADVISED[name]}'`
    ).join("; "),
  };
}

/** Whether what search is made of can be had. */
export async function checkExtensions(database: Operations) {
  const found = await database.scan(sql<{ name: string }>`
    select name from pg_available_extensions
    union all
    select collname from pg_collation where collname = 'und-x-icu'
  `);
  const names = new Set(found.map(({ name }) => name));
  const missing = EXTENSIONS.filter((name) => !names.has(name));
  if (missing.length > 0) {
    return {
      ok: false,
      finding: `Missing: ${missing.join(", ")}`,
      advice:
        "Install PostgreSQL's own additional modules (the package postgresql-contrib)",
    };
  }
  return names.has("und-x-icu")
    ? { ok: true, finding: `${EXTENSIONS.join(", ")}, ICU` }
    : {
      ok: false,
      finding: "This PostgreSQL was built without ICU",
      advice: "Use one that was built with it, as all packages are",
    };
}

/** Whether the schema is the one that this release needs. */
export async function checkMigrations(database: Operations) {
  const pending = await pendingMigrations(database);
  return pending.length === 0 ? { ok: true, finding: "All are applied" } : {
    ok: false,
    finding: `${pending.length} are pending, the first is ${pending[0]}`,
    advice: "deno task migrate",
  };
}

/** Whether it is one node, or distributed by Citus with no table left out (sql/citus.sql). */
export async function checkDistribution(
  database: Operations,
  { replica }: Config,
) {
  const [citus] = await database.scan(sql<{ is_there: boolean }>`
    select to_regclass('pg_dist_partition') is not null as is_there
  `);
  if (!citus!.is_there) return { ok: true, finding: "One node" };
  const [row] = await database.scan(
    sql<{ workers: number; shards: number; left: string | null }>`
    select
      (select count(*)::int from citus_get_active_worker_nodes()) as workers,
      (select count(*)::int from pg_dist_shard where logicalrelid = 'products'::regclass) as shards,
      (
        select string_agg(c.relname, ', ' order by c.relname)
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
          and c.oid not in (select logicalrelid from pg_dist_partition)
      ) as left
  `,
  );
  const { workers, shards, left } = row!;
  if (shards === 0) {
    return { ok: true, finding: "One node: Citus is there, and not used" };
  }
  const finding = `Distributed over ${workers} workers, in ${shards} shards`;
  if (left) {
    return {
      ok: false,
      finding: `${finding}, but for ${left}`,
      advice:
        "Distribute them too: create_distributed_table, as sql/citus.sql says",
    };
  }
  if (replica) {
    return {
      ok: false,
      finding,
      advice:
        "Unset DATABASE_REPLICA_URL: the coordinator does not know how far the workers' replicas are",
    };
  }
  return { ok: true, finding };
}
