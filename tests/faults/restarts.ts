import { type App, createOrganization, send } from "../support/harness.ts";
import { type Service, startService } from "../processes/service.ts";
import { eventually, type Scene } from "./scene.ts";

/** The service in a process, which a test kills and starts again. */
export interface Restarts extends AsyncDisposable {
  /** As its clients reach it, whichever process it is at the time. */
  app: Pick<App, "send" | "sql" | "organization">;
  /** Starts it at the database, and waits until it takes requests. */
  start(url?: string): Promise<void>;
  /** Ends it at once, and waits until its database has noticed: no row may stay locked. */
  kill(): Promise<void>;
  /** What the processes that have ended had logged of failures. */
  readonly logged: string;
}

/** Nothing is started yet. */
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

/** What a server has answered, without the headers that are its own. */
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
