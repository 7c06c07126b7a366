import { createOrganization, newKey } from "../../../db/access.ts";
import { type DatabaseSettings, openDatabase } from "../../../db/database.ts";
import { install } from "../../../db/migrate.ts";
import { inTime, PATIENCE_MS } from "./deadline.ts";
import { eventually } from "./eventually.ts";
import { freePort, isServed } from "./port.ts";
import { script, type Sql } from "../sql/script.ts";
import { assertNothingSecret, SECRETS } from "./secrets.ts";

/** The root of the repository. */
export const ROOT = new URL("../../../", import.meta.url);

/** The service in a separate process. */
export interface Service extends AsyncDisposable {
  origin: string;
  pid: number;
  /** The output so far: the log, and what people read. */
  readonly stdout: string;
  readonly stderr: string;
  /** Waits for a 200 at the path. If the process ends before, throws its output. */
  until(path: string): Promise<void>;
  /** Sends a signal to the process, if it is running. */
  signal(name: Deno.Signal): void;
  /** Kills the process, and returns its log. */
  kill(): Promise<string>;
  /** Settles when the process has ended. A read starts a time limit, after which the process is killed. */
  readonly ended: Promise<Ended>;
}

/** The exit status and the output of a process. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** The database settings of a service. */
export type Place = { DATABASE_URL: string } | { DATA_DIR: string };

/** The default variables, independent of the tests' own environment. An empty variable counts as unset. */
const UNSET = { API_PREFIX: "", DATABASE_URL: "", DATA_DIR: "", HOST: "" };

/**
 * Runs the service with these variables, like a user or with other arguments of
 * `deno`. The shell runs `before` first.
 */
export function launch(
  env: Record<string, string>,
  args = (_port: string) => ["task", "-q", "start"],
  before?: string,
): Service {
  const commandOf = (port: string) => [Deno.execPath(), ...args(port)];
  return launchProgram(commandOf, { env, before });
}

/** Runs a program in a folder, which listens on the port in `PORT`. */
export function launchProgram(
  commandOf: (port: string) => string[],
  { env, folder = ROOT, before = ":" }: {
    env: Record<string, string>;
    folder?: string | URL;
    before?: string | undefined;
  },
): Service {
  const port = String(freePort());
  const child = new Deno.Command("sh", {
    args: ["-c", `${before}; exec "$@"`, "sh", ...commandOf(port)],
    cwd: folder,
    env: { ...UNSET, NO_COLOR: "1", PORT: port, ...env },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const { password = "" } = URL.parse(env.DATABASE_URL ?? "") ?? {};
  SECRETS.addCredential(password);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  let over = false;
  const ended = Promise.all([child.status, stdout.end, stderr.end])
    .then(([{ code }]) => {
      over = true;
      assertNothingSecret(stdout.text + stderr.text);
      return { code, stdout: stdout.text, stderr: stderr.text };
    });
  // The caller waits for the process to end.
  ended.catch(() => {});
  const origin = `http://127.0.0.1:${port}`;
  const output = () => stdout.text + stderr.text;
  const signal = (name: Deno.Signal) => {
    if (!over) child.kill(name);
  };
  return {
    origin,
    pid: child.pid,
    get stdout() {
      return stdout.text;
    },
    get stderr() {
      return stderr.text;
    },
    until: (path) =>
      eventually(`200 at ${path}`, async () => {
        if (over) throw new Error((await ended).stderr);
        return await isServed(origin + path) ? `200 at ${path}` : output();
      }, PATIENCE_MS),
    signal,
    async kill() {
      signal("SIGKILL");
      return (await this.ended).stdout;
    },
    get ended() {
      return inTime("the end of the process", ended, output)
        .finally(() => signal("SIGKILL"));
    },
    async [Symbol.asyncDispose]() {
      signal("SIGTERM");
      await this.ended;
    },
  };
}

/** Starts the service and waits until it is ready. */
export async function start(
  ...call: Parameters<typeof launch>
): Promise<Service> {
  const service = launch(...call);
  await service.until("/health/ready");
  return service;
}

/** An organization created before the service starts. */
export interface Prepared {
  place: Place;
  organizationId: string;
  key: string;
}

/**
 * Creates an organization in a database that no service has open, and fills it by
 * SQL.
 */
export async function prepare(
  name: string,
  settings: DatabaseSettings,
  fill: (sql: Sql, organizationId: string) => unknown = () => {},
): Promise<Prepared> {
  const database = await openDatabase(settings);
  const operations = database.for({ deadline: performance.now() + 600_000 });
  await install(operations);
  const prepared = await script(operations, async (sql) => {
    const [organization] = await sql<
      { id: string }[]
    >`${createOrganization(name)}`;
    const organizationId = organization!.id;
    const { key, statement } = newKey({ organizationId, name, scope: "write" });
    await sql`${statement}`;
    SECRETS.addCredential(key);
    await fill(sql, organizationId);
    return { organizationId, key };
  });
  await database.close();
  const { url, dataDir = "" } = settings;
  return {
    place: url ? { DATABASE_URL: url } : { DATA_DIR: dataDir },
    ...prepared,
  };
}

function collect(stream: ReadableStream<Uint8Array>) {
  const collected = { text: "", end: Promise.resolve() };
  collected.end = stream.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({
      write(text) {
        collected.text += text;
      },
    }),
  );
  return collected;
}
