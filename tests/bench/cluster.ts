import postgres from "postgres";
import { contentOf } from "./processes.ts";
import { startCluster } from "../support/servers/cluster.ts";

/** The PostgreSQL under measurement. */
export interface Cluster extends AsyncDisposable {
  url: string;
  /** The postmaster's process id, or undefined on another machine. */
  pid: number | undefined;
  /** The version and the relevant settings. */
  description: string;
}

const MAX_SHARED_MB = 4096;

/**
 * Connects to the PostgreSQL of `BENCH_DATABASE_URL`, which remains, or starts a
 * temporary one of the newest installed version, with `initdb`'s settings and fsync on,
 * but a quarter of the memory as shared_buffers, as the manual recommends. Throws if none
 * is installed.
 */
export async function openCluster(): Promise<Cluster> {
  const given = Deno.env.get("BENCH_DATABASE_URL");
  if (given) {
    return { ...await describe(given), async [Symbol.asyncDispose]() {} };
  }
  const memory = Deno.systemMemoryInfo().total / 2 ** 20;
  const shared = Math.min(MAX_SHARED_MB, Math.floor(memory / 4));
  const server = await startCluster({
    shared_buffers: `${shared}MB`,
    max_wal_size: "8GB",
  });
  return {
    ...await describe(server.url),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function describe(
  url: string,
): Promise<Omit<Cluster, keyof AsyncDisposable>> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  const [server] = await sql<[{ pid: number; description: string }]>`
    select
      pg_backend_pid() as pid,
      format(
        'PostgreSQL %s, fsync %s, synchronous_commit %s, shared_buffers %s',
        current_setting('server_version'), current_setting('fsync'),
        current_setting('synchronous_commit'), current_setting('shared_buffers')
      ) as description
  `;
  const { pid, description } = server;
  const postmaster = parentOfBackend(pid);
  await sql.end();
  return { url, pid: postmaster, description };
}

/** Creates a database in the cluster unless it exists, and returns its URL. */
export async function createDatabase(
  { url }: Cluster,
  name: string,
): Promise<string> {
  const [there] = await query(
    url,
    `select from pg_database where datname = '${name}'`,
  );
  if (!there) await query(url, `create database "${name}"`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

/** Runs a statement in a session of its own. */
export async function query<Row extends object>(
  url: string,
  statement: string,
): Promise<Row[]> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  try {
    return [...await sql.unsafe<Row[]>(statement)];
  } finally {
    await sql.end();
  }
}

/** The process that started the session, if both run here. */
function parentOfBackend(pid: number): number | undefined {
  const stat = contentOf(`/proc/${pid}/stat`);
  const [, parent] = /\(postgres\) \S (\d+)/.exec(stat) ?? [];
  return parent === undefined ? undefined : Number(parent);
}
