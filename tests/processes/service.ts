import { start } from "../support/process.ts";

/** The service in a separate process. */
export interface Service extends AsyncDisposable {
  origin: string;
  /** Ends the process at once, whatever it is doing, and gives what it had logged. */
  kill(): Promise<string>;
}

/** Starts the service on the database at `url`, and waits until it takes requests. */
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
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
    },
  };
}
