import { start } from "../support/app/process.ts";

/** The service in a separate process. */
export interface Service extends AsyncDisposable {
  origin: string;
  /** Kills the process and returns its log. */
  kill(): Promise<string>;
  /** Stops it, as a supervisor does. */
  stop(): void;
}

/** Starts the service on the database at `url`, and waits until it is ready. */
export async function startService(
  url: string,
  replicaUrl = "",
): Promise<Service> {
  const service = await start(
    {
      DATABASE_URL: url,
      DATABASE_REPLICA_URL: replicaUrl,
      DATABASE_POOL_SIZE: "4",
      HOST: "127.0.0.1",
      LOG_LEVEL: "error",
    },
    () => ["run", "--no-prompt", "--allow-all", "main.ts", "start"],
  );
  return {
    origin: service.origin,
    async kill() {
      service.signal("SIGKILL");
      return (await service.ended).stdout;
    },
    stop: () => service.signal("SIGTERM"),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
    },
  };
}
