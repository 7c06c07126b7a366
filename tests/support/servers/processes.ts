import { openFreshDatabase } from "../app/fresh_database.ts";
import { TIMED } from "../app/deadline.ts";
import { type App, openApp, send, SETTINGS } from "../app/harness.ts";
import { createOrganization } from "../app/organization.ts";
import { type Service, start } from "../app/process.ts";

/** Starts the service without the shell of its task, with its errors as its only log, and waits until it is ready. */
export function startDirectly(
  env: Record<string, string>,
  ...flags: string[]
): Promise<Service> {
  return start(
    {
      DATABASE_POOL_SIZE: "4",
      HOST: "127.0.0.1",
      LOG_LEVEL: "error",
      ...env,
    },
    () => ["run", ...flags, "--no-prompt", "--allow-all", "main.ts", "start"],
  );
}

/** A service that tests use by requests and SQL. */
export type Served = Pick<App, "send" | "sql" | "organization">;

/** The service at `origin`, which may change when it starts again. */
export function servedAt(origin: () => string, sql: App["sql"]): Served {
  const served: Served = {
    sql,
    send: sendTo(origin),
    organization: () => createOrganization(served),
  };
  return served;
}

/** Sends requests to another process, and checks what holds for every response. */
export function sendTo(origin: () => string): App["send"] {
  return (path, init) => send(() => ask(`${origin()}${path}`, init), path, init);
}

/** A response without the headers of the HTTP server. */
async function ask(address: string, init?: RequestInit): Promise<Response> {
  const { status, headers, body } = await fetch(address, init);
  const own = [...headers].filter(([name]) => !["date", "content-length"].includes(name));
  return new Response(body, { status, headers: own });
}

/** Processes of the service on one database of their own. */
export interface Processes {
  services: Service[];
  /** The service in this process, on the same database. */
  app: App;
  url: string;
}

/** Adds a test with this number of processes, which install an empty database together. */
export function processTest(
  name: string,
  size: number,
  test: (processes: Processes, t: Deno.TestContext) => Promise<void>,
): void {
  // Only one process can open an embedded database.
  Deno.test(name, { ...TIMED, ignore: !SETTINGS.url }, async (t) => {
    await using stack = new AsyncDisposableStack();
    const { settings } = stack.use(await openFreshDatabase());
    const url = settings.url!;
    const services = await Promise.all(
      Array.from({ length: size }, () => startDirectly({ DATABASE_URL: url })),
    );
    for (const service of services) stack.use(service);
    const app = stack.use(await openApp({}, { url }));
    await test({ services, app, url }, t);
  });
}
