import type { Client } from "./dataset.ts";
import { idOf } from "./products.ts";
import { READERS } from "./machine.ts";
import { type Service, startProcess } from "./service.ts";
import type { Watched } from "./baseline.ts";
import type { Sent } from "./wiretap.ts";

const FOLDER = new URL("peers/", import.meta.url);

/** The alternatives to the service, with their programs. */
const PEERS = {
  "Fastify + pg": "fastify_pg.js",
  "Hono + postgres.js": "hono_postgres.js",
  "Express + Knex": "express_knex.js",
};

/** The last statement of a write, which builds and stores the JSON. */
const STORES_JSON = /insert into product_documents/;

/** Installs the exact versions of `peers/package-lock.json`. Throws if npm fails. */
export async function installPeers(): Promise<void> {
  if (await isInstalled()) return;
  const { success } = await new Deno.Command("npm", {
    args: ["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
    cwd: FOLDER,
    stdout: "null",
  }).output();
  if (!success) throw new Error("npm could not install the peers");
}

async function isInstalled(): Promise<boolean> {
  try {
    const installed = await Deno.stat(
      new URL("node_modules/.package-lock.json", FOLDER),
    );
    const wanted = await Deno.stat(new URL("package-lock.json", FOLDER));
    return installed.mtime! >= wanted.mtime!;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Starts every peer on the database at `url`, for the one organization that peers serve. */
export async function startPeers(
  url: string,
  client: Client,
  { get, list, create }: { get: Watched; list: Watched; create: Watched },
): Promise<Service[]> {
  const statement = ({ text, parameters }: Sent, id: string) => ({
    text,
    parameters: parameters.map((value) => value?.replace(id, "{id}")),
  });
  const store = create.sent.findLast(({ text }) => STORES_JSON.test(text))!;
  const env = {
    DATABASE_URL: url,
    ORGANIZATION_ID: client.id,
    POOL_SIZE: String(READERS),
    STATEMENTS: JSON.stringify({
      get: statement(get.sent[0]!, idOf("00", get.number)),
      list: statement(list.sent[0]!, idOf("00", list.number)),
      store: statement(store, create.created!),
    }),
  };
  return await Promise.all(
    Object.entries(PEERS).map(([name, file]) =>
      startProcess(name, ["node", new URL(file, FOLDER).pathname], {
        env,
        readyPath: "/api/products?limit=50",
      })
    ),
  );
}
