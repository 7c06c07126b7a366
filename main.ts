import { createLog, errorFields, type Log, logDefects, openOutput } from "./middleware/log.ts";
import { serve } from "./routes/serve.ts";
import { openService, type Service } from "./routes/service.ts";
import { type Config, findUnknownVariables, readConfig } from "./schema/config.ts";
import { escapeLines } from "./schema/control_characters.ts";
import { VERSION } from "./schema/version.ts";
import { EVENTS } from "./middleware/events.ts";

/** For log lines only. Texts for people go to stderr. */
const stdout = openOutput(Deno.stdout);
const stderr = openOutput(Deno.stderr);

/** Serves at the configured address, and prints it. */
function listen(service: Service, config: Config, log: Log): void {
  const { host: hostname, port, apiPrefix, docs } = config;
  const { fetch: handler } = service;
  function onListen(address: Deno.NetAddr): void {
    const origin = `http://${authorityOf(address)}`;
    const url = origin + apiPrefix;
    log("info", { message: EVENTS.listening, url, version: VERSION });
    const places = `The product catalogue is served at ${url}\n` +
      (docs ? `Its reference page is ${origin}/docs\n` : "");
    const isTerminal = Deno.stderr.isTerminal();
    if (isTerminal) stderr.write(places);
    printDemoKey(service, log, (key) =>
      [
        isTerminal ? "" : places,
        keyLine(key),
        `\nTry:\n  export BASE_URL=${url} KEY=${key}\n`,
        '  curl -H "x-api-key: $KEY" "$BASE_URL/products"\n',
      ].join(""));
  }
  try {
    const close = serve({ hostname, port, handler, onListen }, log);
    stopOnSignals(() => service.stop(close));
  } catch (error) {
    throw new Error(
      `Cannot listen at ${hostname}:${port}: ${(error as Error).message}. ` +
        "Set HOST and PORT to a free address, such as PORT=8001",
    );
  }
}

/**
 * Prints the text about the key of the demo organization at the first start. A blocked stream
 * delays the text, and nothing else.
 */
async function printDemoKey(
  service: Service,
  log: Log,
  text: (key: string) => string,
): Promise<void> {
  try {
    const unused = await service.issueDemoKey((key) => stderr.write(text(key)));
    if (!unused) return;
    const message = EVENTS.unusedDemoKey;
    const advice =
      `To create another, stop the service and run deno task key create --organization ${unused.organizationId} --name NAME`;
    log("info", { message, advice });
    if (!unused.isShown) stderr.write(`${message}. ${advice}\n`);
  } catch (error) {
    log("warn", {
      message: EVENTS.noDemoKey,
      cause: errorFields(error),
    });
  }
}

/** The address for clients: a server may listen on all addresses, a client needs one. */
function authorityOf({ hostname, port }: Deno.NetAddr): string {
  const loopback: Record<string, string> = {
    "0.0.0.0": "127.0.0.1",
    "::": "::1",
  };
  const name = loopback[hostname] ?? hostname;
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
}

function keyLine(key: string): string {
  return `The key of the demo organization, shown only once: ${key}\n`;
}

function stopOnSignals(stop: () => unknown): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, stop);
  }
}

function logUncaughtErrors(log: Log): void {
  for (const event of ["error", "unhandledrejection"] as const) {
    globalThis.addEventListener(event, (caught) => {
      caught.preventDefault();
      const error = caught instanceof ErrorEvent ? caught.error : caught.reason;
      const cause = errorFields(error);
      log("error", { message: `Uncaught ${event}`, cause });
    });
  }
}

/** Prints the reason why the service cannot run, and ends the process. */
async function exitWith(error: Error): Promise<never> {
  stderr.write(`${escapeLines(error.message)}\n`);
  await flush();
  Deno.exit(1);
}

/** Waits until all output is written. Returns false after half a second. */
async function flush(): Promise<boolean> {
  const flushed = await Promise.all([stdout.flush(), stderr.flush()]);
  return flushed.every((isWritten) => isWritten);
}

/** The names of the variables that are set, if the process may list them. */
function variableNames(): string[] {
  // That needs `--allow-env` without a list.
  const { state } = Deno.permissions.querySync({ name: "env" });
  return state === "granted" ? Object.keys(Deno.env.toObject()) : [];
}

function warnOfMisspellings(log: Log): void {
  for (const message of findUnknownVariables(variableNames())) log("warn", { message });
}

async function main() {
  // The executable of `deno task compile` also runs the commands of `deno task`.
  const [command = Deno.build.standalone ? "--help" : undefined] = Deno.args;
  if (command && (command !== "start" || Deno.args.includes("--help"))) {
    const { run } = await import("./db/commands/cli.ts");
    await run([command, ...Deno.args.slice(1)], variableNames());
    return {};
  }
  const config = readConfig((name) => Deno.env.get(name), variableNames());
  const log = createLog(config.logLevel, stdout.write);
  logUncaughtErrors(log);
  logDefects(log);
  warnOfMisspellings(log);
  const service = await openService(config, { log, flush, exitWith });
  // `deno serve` and Deno Deploy listen themselves and call `fetch`.
  if (command === "start") {
    listen(service, config, log);
    return {};
  }
  printDemoKey(service, log, keyLine);
  stopOnSignals(() => service.stop());
  return { fetch: service.fetch };
}

export default await main().catch(exitWith);
