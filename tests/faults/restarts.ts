import { eventually } from "../support/app/eventually.ts";
import { type App, createOrganization, send } from "../support/app/harness.ts";
import { type Service, startService } from "../processes/service.ts";
import type { Scene } from "./scene.ts";

/** A process of the service that a test kills and restarts. */
export interface Restarts extends AsyncDisposable {
  /** Sends a request to the current process. */
  app: Pick<App, "send" | "sql" | "organization">;
  /** Starts a process, and waits until it is ready. */
  start(url?: string): Promise<void>;
  /** Kills the process, and waits until PostgreSQL has released its locks. */
  kill(): Promise<void>;
  /** The errors that ended processes have logged. */
  readonly logged: string;
}

/** A service without a process yet. */
export function restarts({ app: { sql }, cluster, observer }: Scene): Restarts {
  let service: Service | undefined;
  let logged = "";

  const app: Restarts["app"] = {
    sql,
    send: (path, init) =>
      send(() => ask(`${service!.origin}${path}`, init), path, init),
    organization: () => createOrganization(app),
  };
  return {
    app,
    get logged() {
      return logged;
    },
    async start(url = cluster.url) {
      service = await startService(url);
    },
    async kill() {
      logged += await service!.kill();
      await eventually([{ sessions: 0 }], async () => [
        ...await observer`
          select count(*)::int as sessions from pg_stat_activity
          where application_name = 'catalogue' and state like 'idle in transaction%'
        `,
      ]);
    },
    async [Symbol.asyncDispose]() {
      await service?.[Symbol.asyncDispose]();
    },
  };
}

/** A response without the headers of the HTTP server. */
export async function ask(
  address: string,
  init?: RequestInit,
): Promise<Response> {
  const { status, headers, body } = await fetch(address, init);
  const own = [...headers].filter(([name]) =>
    !["date", "content-length"].includes(name)
  );
  return new Response(body, { status, headers: own });
}
