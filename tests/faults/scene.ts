import { assertEquals } from "@std/assert";
import postgres from "postgres";
import { TIMED } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, openApp, SETTINGS } from "../support/app/harness.ts";
import { binaries, type Cluster, startCluster } from "../support/servers/cluster.ts";
import type { Load } from "./load.ts";
import { type PgBouncer, startPgBouncer } from "../support/servers/pgbouncer.ts";
import { type Proxy, startProxy, through } from "../support/servers/proxy.ts";

/** Whether these tests can run: the run uses PostgreSQL, and its programs are installed. */
export const isPossible = Deno.env.has("TEST_DATABASE_URL") &&
  binaries() !== undefined;

/** The default maximum duration of a request. */
export const DEADLINE_MS = 4_000;

/** Adds a test with a scene of its own, where one is possible. */
export function faultTest(
  name: string,
  test: (scene: Scene, t: Deno.TestContext) => Promise<void>,
  { ignore = false, ...options }: Options & { ignore?: boolean } = {},
): void {
  Deno.test(name, { ...TIMED, ignore: !isPossible || ignore }, async (t) => {
    await using scene = await openScene(options);
    await test(scene, t);
  });
}

/** The service with a private PostgreSQL, through a proxy that can fail. */
export interface Scene extends AsyncDisposable {
  app: App;
  cluster: Cluster;
  proxy: Proxy;
  /** The PgBouncer between proxy and cluster, if the scene has one. */
  pgbouncer: PgBouncer | undefined;
  /** A superuser session, without service and proxy. */
  observer: postgres.Sql;
  /** Kills some of the service's sessions, at most this number, and returns how many. */
  killSessions(most: number): Promise<number>;
  /** Waits until no session of a service is in a transaction. */
  idle(): Promise<void>;
  /**
   * Expects no traces of a fault: no running operation, no open transaction, no
   * uncaught error. Expects every acknowledged write of the load to be
   * stored.
   */
  assertSound(load?: Load): Promise<void>;
}

interface Options {
  /** The number of the service's connections. */
  poolSize?: number;
  /** Whether they lead to PgBouncer, not to the server. */
  behindPgBouncer?: boolean;
  /** The maximum duration of a request. */
  deadlineMs?: number;
}

/** Starts all parts anew. */
export async function openScene(
  { poolSize = 4, behindPgBouncer = false, deadlineMs = DEADLINE_MS }: Options = {},
): Promise<Scene> {
  const uncaught: unknown[] = [];
  const events = ["error", "unhandledrejection"] as const;
  function note(event: ErrorEvent | PromiseRejectionEvent): void {
    event.preventDefault();
    uncaught.push(event instanceof ErrorEvent ? event.error : event.reason);
  }
  for (const event of events) globalThis.addEventListener(event, note);

  const cluster = await startCluster();
  const pgbouncer = behindPgBouncer ? await startPgBouncer(cluster) : undefined;
  const proxy = startProxy((pgbouncer ?? cluster).port);
  const app = await openApp({ deadlineMs }, {
    ...SETTINGS,
    url: through(cluster.url, proxy),
    poolSize,
    statementTimeoutMs: deadlineMs - 1_000,
    prepare: !behindPgBouncer,
  });
  const observer = postgres(cluster.url, {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  });
  const idle = () =>
    eventually([{ sessions: 0 }], async () => [
      ...await observer`
        select count(*)::int as sessions
        from pg_stat_activity
        where application_name = 'catalogue' and state like 'idle in transaction%'
      `,
    ]);

  return {
    app,
    cluster,
    proxy,
    pgbouncer,
    observer,
    idle,
    async killSessions(most) {
      const { count } = await observer`
        select pg_terminate_backend(pid)
        from pg_stat_activity
        where application_name = 'catalogue'
        order by random()
        limit ${most}
      `;
      return count;
    },
    async assertSound(load) {
      await eventually({ used: 0, waiting: 0 }, () => app.database.load);
      await load?.verify();
      await idle();
      assertEquals(uncaught, []);
    },
    async [Symbol.asyncDispose]() {
      await observer.end({ timeout: 1 });
      try {
        await app[Symbol.asyncDispose]();
      } finally {
        proxy[Symbol.dispose]();
        await pgbouncer?.[Symbol.asyncDispose]();
        await cluster[Symbol.asyncDispose]();
        for (const event of events) {
          globalThis.removeEventListener(event, note);
        }
      }
    },
  };
}
