import { join } from "node:path";
import postgres from "postgres";
import { binary } from "./binaries.ts";

/** A PostgreSQL to be measured. */
export interface Cluster extends AsyncDisposable {
  url: string;
  /** The process that all others of the server come from; absent where it is not on this machine. */
  pid: number | undefined;
  /** The version, and the settings that matter to what is measured. */
  description: string;
}

const MAX_SHARED_MB = 4096;

/**
 * Starts a throw-away PostgreSQL, the newest that is installed: as `initdb`
 * leaves it, fsync on, but with a quarter of the memory for its buffers as its
 * manual advises. Throws where none is installed.
 */
export async function startCluster(): Promise<Cluster> {
  const folder = await Deno.makeTempDir({ prefix: "catalogue-bench-" });
  const data = join(folder, "data");
  const password = crypto.randomUUID();
  const passwordFile = join(folder, "password");
  await Deno.writeTextFile(passwordFile, password);
  const user = await ownerOf(folder, passwordFile);

  async function run(program: string, ...args: string[]): Promise<void> {
    const { success, stderr } = await new Deno.Command(binary(program), {
      args: ["-D", data, ...args],
      cwd: folder,
      stdout: "null",
      ...user,
    }).output();
    if (!success) {
      throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
    }
  }

  const memory = Deno.systemMemoryInfo().total / 2 ** 20;
  const shared = Math.min(MAX_SHARED_MB, Math.floor(memory / 4));
  const port = freePort();
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    shared_buffers: `${shared}MB`,
    max_wal_size: "8GB",
  };
  await run(
    "initdb",
    "-U",
    "postgres",
    "-E",
    "UTF8",
    "--locale=C.UTF-8",
    "-A",
    "scram-sha-256",
    "--pwfile",
    passwordFile,
  );
  await Deno.writeTextFile(
    join(data, "postgresql.auto.conf"),
    Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
      .join(""),
  );
  await run("pg_ctl", "start", "-w", "-l", join(folder, "log"));

  const cluster = await connectCluster(
    `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
  );
  return {
    ...cluster,
    async [Symbol.asyncDispose]() {
      await run("pg_ctl", "stop", "-m", "immediate");
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** A PostgreSQL that is there already, and stays. */
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

/** A port of this machine that nobody listens at. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
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

/** PostgreSQL refuses to run as root, who gives these files to the user of Debian's packages then. */
async function ownerOf(...files: string[]) {
  if (Deno.uid() !== 0) return {};
  const users = await Deno.readTextFile("/etc/passwd");
  const [, uid, gid] = (/^postgres:.*?:(\d+):(\d+):/m.exec(users) ?? [])
    .map(Number);
  if (!uid || !gid) {
    throw new Error("Not as root, or with a user named postgres");
  }
  for (const file of files) await Deno.chown(file, uid, gid);
  return { uid, gid };
}
