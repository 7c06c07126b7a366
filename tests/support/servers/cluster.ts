import { join } from "node:path";
import { freePort } from "../app/port.ts";

/** A private PostgreSQL of the test, which it can stop and start. */
export interface Cluster extends AsyncDisposable {
  /** The superuser's URL of the database `postgres`. */
  url: string;
  port: number;
  /** Starts the stopped server again on the same port and data. */
  start(): Promise<void>;
  /** `fast` terminates the sessions. `immediate` kills the server, so the next start runs recovery. */
  stop(mode: "fast" | "immediate"): Promise<void>;
}

/** The location of PostgreSQL's programs in Debian's packages. */
const VERSIONS = "/usr/lib/postgresql";

/** The folder of the newest installed version, or undefined. */
export function binaries(): string | undefined {
  try {
    const versions = Array.from(Deno.readDirSync(VERSIONS), ({ name }) => name);
    const [newest] = versions.sort((a, b) => Number(b) - Number(a));
    return newest && join(VERSIONS, newest, "bin");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The path of one of these programs. Throws if none is installed. */
export function binary(program: string): string {
  const folder = binaries();
  if (!folder) throw new Error(`${program}: no PostgreSQL is installed`);
  return join(folder, program);
}

/** Creates and starts a cluster, with `settings` in addition to `initdb`'s defaults. */
export async function startCluster(
  settings: Record<string, string | number> = {},
): Promise<Cluster> {
  const password = crypto.randomUUID().replaceAll("-", "");
  return await started(password, settings, async (run, folder) => {
    const file = join(folder, "password");
    await Deno.writeTextFile(file, password);
    await ownerOf(file);
    await run(
      "initdb",
      ...["--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8"],
      ...["--auth=scram-sha-256", `--pwfile=${file}`],
    );
  });
}

/** Creates and starts a streaming replica of a running cluster. */
export async function startReplica(primary: Cluster): Promise<Cluster> {
  const { password } = new URL(primary.url);
  return await started(password, {}, (run) =>
    run(
      "pg_basebackup",
      ...["--write-recovery-conf", "--checkpoint=fast"],
      `--dbname=${primary.url}`,
    ));
}

/** Runs a PostgreSQL program on a cluster's data. */
type Run = (program: string, ...args: string[]) => Promise<void>;

async function started(
  password: string,
  settings: Record<string, string | number>,
  make: (run: Run, folder: string) => Promise<void>,
): Promise<Cluster> {
  const folder = await Deno.makeTempDir({ prefix: "catalogue-faults-" });
  const data = join(folder, "data");
  const port = freePort();
  const user = await ownerOf(folder);

  async function run(program: string, ...args: string[]): Promise<void> {
    const { success, stderr } = await new Deno.Command(
      binary(program),
      { args: ["-D", data, ...args], cwd: folder, stdout: "null", ...user },
    ).output();
    if (success) return;
    throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
  }
  const start = () => run("pg_ctl", "start", "-w", "-l", join(folder, "log"));
  const stop = (mode: string) => run("pg_ctl", "stop", "-w", "-m", mode);

  await make(run, folder);
  const all = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    ...settings,
  };
  // After the settings copied from the primary: the last value wins.
  await Deno.writeTextFile(
    join(data, "postgresql.auto.conf"),
    Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`)
      .join(""),
    { append: true },
  );
  await start();
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    start,
    stop,
    async [Symbol.asyncDispose]() {
      // The server may already be stopped.
      await stop("immediate").catch(() => {});
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** PostgreSQL and PgBouncer refuse to run as root, so root gives the files to Debian's user postgres. */
export async function ownerOf(folder: string, ...files: string[]) {
  if ((await Deno.stat(folder)).uid !== 0) return {};
  const users = await Deno.readTextFile("/etc/passwd");
  const [, uid, gid] = (/^postgres:.*?:(\d+):(\d+):/m.exec(users) ?? [])
    .map(Number);
  if (!uid || !gid) {
    throw new Error(
      "Root needs the user postgres: create it, or run as another user",
    );
  }
  for (const file of [folder, ...files]) await Deno.chown(file, uid, gid);
  return { uid, gid };
}
