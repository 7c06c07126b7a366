import { assertNothingSecret, SECRETS } from "../secrets.ts";

/** The service in a process of its own. */
export interface Service extends AsyncDisposable {
  origin: string;
  /** Ends the process at once, whatever it is doing, and gives what it had logged. */
  kill(): Promise<string>;
}

const PAUSE_MS = 50;

/** Starts the service on the database at `url`, and waits until it takes requests. */
export async function startService(
  url: string,
  replicaUrl = "",
): Promise<Service> {
  const port = freePort();
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-all", "main.ts", "start"],
    cwd: new URL("../../", import.meta.url),
    env: {
      DATABASE_URL: url,
      DATABASE_REPLICA_URL: replicaUrl,
      DATABASE_POOL_SIZE: "4",
      HOST: "127.0.0.1",
      PORT: port,
      LOG_LEVEL: "error",
    },
    stdin: "null",
    stdout: "piped",
  }).spawn();
  SECRETS.addCredential(new URL(url).password);
  const logged = new Response(process.stdout).text();
  let isOver = false;
  process.status.then(() => isOver = true);
  const end = async (signal: Deno.Signal) => {
    if (!isOver) process.kill(signal);
    await process.status;
    assertNothingSecret(await logged);
    return await logged;
  };
  const origin = `http://127.0.0.1:${port}`;
  while (!await isReady(origin)) {
    if (isOver) throw new Error("The service ended before it was ready");
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return {
    origin,
    kill: () => end("SIGKILL"),
    async [Symbol.asyncDispose]() {
      await end("SIGTERM");
    },
  };
}

async function isReady(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/health/ready`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}
