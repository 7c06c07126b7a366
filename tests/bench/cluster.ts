import postgres from "postgres";
import { startCluster } from "../faults/cluster.ts";

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
 * Starts a temporary PostgreSQL of the newest installed version, with `initdb`'s
 * settings and fsync on, but a quarter of the memory as shared_buffers, as the
 * manual recommends. Throws if none is installed.
 */
export async function startThrowaway(): Promise<Cluster> {
  const memory = Deno.systemMemoryInfo().total / 2 ** 20;
  const shared = Math.min(MAX_SHARED_MB, Math.floor(memory / 4));
  const server = await startCluster({
    shared_buffers: `${shared}MB`,
    max_wal_size: "8GB",
  });
  return {
    ...await connectCluster(server.url),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Connects to an existing PostgreSQL, which remains. */
export async function connectCluster(url: string): Promise<Cluster> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  const [server] = await sql<{ pid: number; description: string }[]>`
    select
      pg_backend_pid() as pid,
      format(
        'PostgreSQL %s, fsync %s, synchronous_commit %s, shared_buffers %s',
        current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
        current_setting('shared_buffers')
      ) as description
  `;
  const { pid, description } = server!;
  const postmaster = parentOfBackend(pid);
  await sql.end();
  return {
    url,
    pid: postmaster,
    description,
    async [Symbol.asyncDispose]() {},
  };
}

/** Creates a database in the cluster unless it exists, and returns its URL. */
export async function createDatabase(
  { url }: Cluster,
  name: string,
): Promise<string> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  const [there] = await sql`select from pg_database where datname = ${name}`;
  if (!there) await sql`create database ${sql(name)}`;
  await sql.end();
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

function parentOfBackend(pid: number): number | undefined {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const [, name, parent] = /\((.*)\) \S (\d+)/.exec(stat)!;
    return name === "postgres" ? Number(parent) : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
