import { openDatabase } from "./db/database.ts";
import { isConnectionLoss } from "./db/fault.ts";
import { install, installDemo } from "./db/install.ts";
import { createLog } from "./middleware/log.ts";
import { openTelemetry } from "./middleware/opentelemetry.ts";
import { createTokenVerifier } from "./middleware/token.ts";
import { createHandler } from "./routes/mod.ts";
import { type Config, readConfig } from "./schema/config.ts";

/** Deno Deploy gives a process five seconds to end. */
const DRAIN_MS = 4_000;

/** A request waits for the database this much longer than a statement may take. */
const MARGIN_MS = 1_000;

/** A body has so long to arrive. */
const BODY_ARRIVAL_MS = 10_000;

const HOUR_MS = 3_600_000;

interface Service {
  fetch(request: Request): Promise<Response>;
  /** Lets the requests under way finish, and ends the process. */
  stop(closing?: Promise<unknown>): Promise<never>;
  demoKey: string | undefined;
}

async function open(config: Config): Promise<Service> {
  const { log, flush } = createLog(
    config.logLevel,
    (text) => Deno.stdout.writeSync(new TextEncoder().encode(text)),
  );
  const telemetry = openTelemetry();
  const database = await openDatabase(config.database, telemetry.watch);
  telemetry.measure(database);
  const untilPrepared = () => database.until(performance.now() + HOUR_MS);
  let state: "starting" | "ready" | "stopping" = "starting";
  const inFlight = new Set<Promise<Response>>();

  const handle = createHandler({
    database,
    verifyToken: config.token && createTokenVerifier(config.token),
    log,
    telemetry,
    apiPrefix: config.apiPrefix,
    corsOrigins: config.corsOrigins,
    docs: config.docs,
    maxBodyBytes: config.maxBodyBytes,
    bodyArrivalMs: BODY_ARRIVAL_MS,
    deadlineMs: config.database.statementTimeoutMs + MARGIN_MS,
    isReady: () => state === "ready",
  });

  async function prepare(): Promise<void> {
    try {
      if (config.migrateOnStart) await install(untilPrepared());
      if (state === "starting") state = "ready";
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      log("warn", { message: "The database is not there yet: trying again" });
      setTimeout(() => prepare().catch(giveUp), 1_000);
    }
  }

  // The last resort: what nobody caught is logged, and the service goes on.
  for (const event of ["error", "unhandledrejection"] as const) {
    globalThis.addEventListener(event, (caught) => {
      caught.preventDefault();
      const cause = caught instanceof ErrorEvent ? caught.error : caught.reason;
      log("error", {
        message: `Nobody caught this ${event}`,
        stack: cause?.stack,
      });
    });
  }

  await prepare();
  return {
    demoKey: config.database.url
      ? undefined
      : await installDemo(untilPrepared()),
    fetch(request) {
      const response = handle(request);
      inFlight.add(response);
      return response.finally(() => inFlight.delete(response));
    },
    async stop(closing) {
      if (state === "stopping") Deno.exit(1);
      state = "stopping";
      const drained = Promise.all([closing, ...inFlight]);
      await Promise.race([
        drained,
        new Promise((resolve) => setTimeout(resolve, DRAIN_MS)),
      ]);
      await database.close(0.5);
      flush();
      Deno.exit(0);
    },
  };
}

/** Serves on the configured address, and says where and how to call it. */
function listen(service: Service, { host, port, apiPrefix }: Config): void {
  const server = Deno.serve({
    hostname: host,
    port,
    handler: service.fetch,
    onListen({ hostname, port }) {
      const name = hostname === "0.0.0.0"
        ? "127.0.0.1"
        : hostname.includes(":")
        ? `[${hostname}]`
        : hostname;
      const baseUrl = `http://${name}:${port}${apiPrefix}`;
      console.log(`The product catalogue is served at ${baseUrl}`);
      if (!service.demoKey) return;
      console.log(
        `The key of the demo organization, shown this once: ${service.demoKey}\n\n` +
          `Try:\n  curl -H "x-api-key: ${service.demoKey}" ${baseUrl}/products`,
      );
    },
  });
  stopOnSignals(() => service.stop(server.shutdown()));
}

function stopOnSignals(stop: () => unknown): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, stop);
  }
}

/** One line for whoever started it, and no service. */
function giveUp(error: Error): never {
  console.error(error.message);
  Deno.exit(1);
}

async function main() {
  const config = readConfig((name) => Deno.env.get(name));
  const service = await open(config);
  // `deno task start` listens here. `deno serve` and Deno Deploy listen themselves, and take `fetch`.
  if (Deno.args[0] === "start") {
    listen(service, config);
    return {};
  }
  stopOnSignals(() => service.stop());
  return { fetch: service.fetch };
}

export default await main().catch(giveUp);
