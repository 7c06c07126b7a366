import { join } from "node:path";
import { eventually } from "../app/eventually.ts";
import { freePort } from "../app/port.ts";
import { type Cluster, ownerOf } from "./cluster.ts";

/** A private PgBouncer of the test, in transaction mode. */
export interface PgBouncer extends AsyncDisposable {
  port: number;
  /** Kills it and starts it again on the same port. */
  restart(): Promise<void>;
}

/** Its path in Debian's package. */
const PROGRAM = "/usr/sbin/pgbouncer";

/** Fewer sessions than the service's connections, so that each transaction may get another session. */
const SESSIONS = 2;

/** Whether PgBouncer is installed. */
export function hasPgBouncer(): boolean {
  try {
    return Deno.statSync(PROGRAM).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Starts a PgBouncer in front of the cluster, with the cluster's users and passwords. */
export async function startPgBouncer(cluster: Cluster): Promise<PgBouncer> {
  const folder = await Deno.makeTempDir({ prefix: "catalogue-pgbouncer-" });
  const [settings, users] = ["pgbouncer.ini", "users.txt"]
    .map((name) => join(folder, name)) as [string, string];
  const { username, password } = new URL(cluster.url);
  const port = freePort();
  await Deno.writeTextFile(users, `"${username}" "${password}"\n`);
  await Deno.writeTextFile(
    settings,
    `
[databases]
* = host=127.0.0.1 port=${cluster.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${SESSIONS}
server_login_retry = 1
`,
  );
  const user = await ownerOf(folder, settings, users);

  async function run(): Promise<Deno.ChildProcess> {
    const process = new Deno.Command(PROGRAM, {
      args: ["-q", settings],
      cwd: folder,
      stdout: "null",
      stderr: "null",
      ...user,
    }).spawn();
    let isOver = false;
    process.status.then(() => isOver = true);
    await eventually(true, () => {
      if (isOver) throw new Error("PgBouncer ended before it listened");
      return listens(port);
    });
    return process;
  }
  let process = await run();
  async function kill(): Promise<void> {
    process.kill("SIGKILL");
    await process.status;
  }
  return {
    port,
    async restart() {
      await kill();
      process = await run();
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function listens(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
}
