import { createLog, described, type Log } from "./middleware/log.ts";
import { openService, type Service } from "./routes/service.ts";
import { serve } from "./routes/listener.ts";
import { type Config, ConfigError, readConfig } from "./schema/config.ts";

/** Serves on the configured address, and says where. */
function listen(service: Service, config: Config, log: Log): void {
  const { host: hostname, port, apiPrefix, docs } = config;
  try {
    const close = serve({
      hostname,
      port,
      handler: service.fetch,
      onListen: (address) => sayWhere(addressOf(address)),
    }, log);
    stopOnSignals(() => service.stop(close));
  } catch (error) {
    throw new ConfigError(
      `HOST and PORT must be an address that is free: ${
        (error as Error).message
      }`,
    );
  }

  function sayWhere(address: string): void {
    const baseUrl = `http://${address}${apiPrefix}`;
    console.log(`The product catalogue is served at ${baseUrl}`);
    if (docs) console.log(`Its reference page is http://${address}/docs`);
    if (!service.demoKey) return;
    sayKey(service.demoKey);
    console.log(
      `\nTry:\n  curl -H "x-api-key: ${service.demoKey}" ${baseUrl}/products`,
    );
  }
}

/** As a client would call it. */
function addressOf({ hostname, port }: Deno.NetAddr): string {
  const name = ANYWHERE[hostname] ?? hostname;
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** One may listen on all addresses, and call only one. */
const ANYWHERE: Record<string, string> = {
  "0.0.0.0": "127.0.0.1",
  "::": "::1",
};

function sayKey(key: string): void {
  console.log(`The key of the demo organization, shown this once: ${key}`);
}

function stopOnSignals(stop: () => unknown): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, stop);
  }
}

/** The last resort: what nobody caught is logged, and the service goes on. */
function goOnAfterFailures(log: Log): void {
  for (const event of ["error", "unhandledrejection"] as const) {
    globalThis.addEventListener(event, (caught) => {
      caught.preventDefault();
      const cause = caught instanceof ErrorEvent ? caught.error : caught.reason;
      log("error", {
        message: `Nobody caught this ${event}`,
        cause: described(cause),
      });
    });
  }
}

/** One line for whoever started it, and no service. */
function giveUp(error: Error): never {
  console.error(error.message);
  Deno.exit(1);
}

async function main() {
  // The one program that `deno task compile` makes is called with the commands of `deno task`, too.
  const [command = Deno.build.standalone ? "--help" : undefined] = Deno.args;
  if (command && command !== "start") {
    const { run } = await import("./db/commands/cli.ts");
    await run([command, ...Deno.args.slice(1)]);
    return {};
  }
  const config = readConfig((name) => Deno.env.get(name));
  const { log, flush } = createLog(
    config.logLevel,
    (text) => Deno.stdout.writeSync(new TextEncoder().encode(text)),
  );
  goOnAfterFailures(log);
  const service = await openService(config, { log, flush, giveUp });
  // `deno task start` listens here. `deno serve` and Deno Deploy listen themselves, and take `fetch`.
  if (command === "start") {
    listen(service, config, log);
    return {};
  }
  if (service.demoKey) sayKey(service.demoKey);
  stopOnSignals(() => service.stop());
  return { fetch: service.fetch };
}

export default await main().catch(giveUp);
