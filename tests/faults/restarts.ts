import type { Service } from "../support/app/process.ts";
import { type Served, servedAt, startDirectly } from "../support/servers/processes.ts";
import type { Scene } from "./scene.ts";

/** A process of the service that a test kills and restarts. */
export interface Restarts extends AsyncDisposable {
  /** Sends requests to the current process. */
  app: Served;
  /** Starts a process, and waits until it is ready. */
  start(url?: string): Promise<void>;
  /** Kills the process, and waits until PostgreSQL has released its locks. */
  kill(): Promise<void>;
  /** The errors that ended processes have logged. */
  readonly logged: string;
}

/** A service without a process yet. */
export function restarts({ app: { sql }, cluster, idle }: Scene): Restarts {
  let service: Service | undefined;
  let logged = "";
  return {
    app: servedAt(() => service!.origin, sql),
    get logged() {
      return logged;
    },
    async start(url = cluster.url) {
      service = await startDirectly({ DATABASE_URL: url });
    },
    async kill() {
      logged += await service!.kill();
      await idle();
    },
    async [Symbol.asyncDispose]() {
      await service?.[Symbol.asyncDispose]();
    },
  };
}
