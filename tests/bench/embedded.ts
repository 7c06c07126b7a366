import { type Service, startProcess } from "./service.ts";
import { runWrk } from "./wrk.ts";

/** The embedded database: milliseconds until it can serve, and products that it serves in a second. */
export interface Embedded {
  newFolderMs: number;
  oldFolderMs: number;
  rate: number;
}

/** The organization of `sql/demo.sql`, and some of its products. */
const DEMO = "00000000-0000-4000-8000-000000000001";
const PRODUCT = "c0000000-0000-4000-8000-00000000{n}00";
const NUMBERS = [10, 26] as const;

/** Starts the service without a database of its own, as one does who tries it, and asks for products. */
export async function measureEmbedded(
  { clients, seconds, seed }: {
    clients: number;
    seconds: number;
    seed: number;
  },
): Promise<Embedded> {
  const dataDir = await Deno.makeTempDir({ prefix: "catalogue-bench-" });
  try {
    const first = await timed(() => start(dataDir));
    await first.service[Symbol.asyncDispose]();
    const key = await makeKey(dataDir);

    const second = await timed(() => start(dataDir));
    await using service = second.service;
    const { rate } = await runWrk(
      {
        clients,
        method: "GET",
        path: `/api/products/${PRODUCT}`,
        numbers: NUMBERS,
        client: { key },
      },
      { origin: service.origin, seconds, seed },
    );
    return { newFolderMs: first.ms, oldFolderMs: second.ms, rate };
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function start(dataDir: string): Promise<Service> {
  return await startProcess("embedded", ["deno", "task", "-q", "start"], {
    env: { DATABASE_URL: "", DATA_DIR: dataDir, HOST: "127.0.0.1" },
    readyPath: "/health/ready",
  });
}

async function timed(start: () => Promise<Service>) {
  const began = performance.now();
  const service = await start();
  return { service, ms: performance.now() - began };
}

async function makeKey(dataDir: string): Promise<string> {
  const { stdout } = await new Deno.Command("deno", {
    args: ["task", "-q", "key", "create", "--organization", DEMO].concat(
      "--name",
      "Benchmark",
    ),
    env: { DATABASE_URL: "", DATA_DIR: dataDir },
  }).output();
  return /cat_\S+/.exec(new TextDecoder().decode(stdout))![0];
}
