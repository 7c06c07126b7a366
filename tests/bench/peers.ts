import { assertEquals } from "@std/assert";
import { Json, parametersOf } from "../../db/connections/sql.ts";
import { openApp, send as handle } from "../support/app/harness.ts";
import { recorded } from "../support/app/recording.ts";
import { startProgram } from "./checkout.ts";
import type { Contestant } from "./contest.ts";
import type { Data } from "./data.ts";
import { call, filled, type RequestScenario, send } from "./requests.ts";
import { CREATE, GET, LIST } from "./scenarios.ts";
import type { Subject } from "./subject.ts";

const FOLDER = new URL("peers/", import.meta.url).pathname;

/** The handler that only passes on stored JSON: the upper limit of a GET. */
export const BARE = "bare handler";

/** The alternatives to the service, with the commands that start them. */
const PEERS: Record<string, string[]> = {
  [BARE]: ["deno", "run", "-A", "../bare.ts"],
  "Fastify + pg": ["node", "fastify_pg.js"],
  "Hono + postgres.js": ["node", "hono_postgres.js"],
  "Express + Knex": ["node", "express_knex.js"],
};

const FOR_PEERS = [GET, LIST, CREATE] as const;

/** Whether the scenario is measured with the peer: the bare handler only reads single products. */
export function takesPart({ name }: Contestant, scenario: unknown): boolean {
  return FOR_PEERS.some((one) => one === scenario) &&
    (name !== BARE || scenario === GET);
}

/** The number of connections with which the peers read fastest: fewer leave cores idle, more contend. */
const CONNECTIONS = 2 * navigator.hardwareConcurrency;

/** Installs the exact versions of `peers/package-lock.json`. Throws if npm fails. */
export async function installPeers(): Promise<void> {
  const { success } = await new Deno.Command("npm", {
    args: ["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
    cwd: FOLDER,
    stdout: "null",
  }).output();
  if (!success) throw new Error("npm could not install the peers");
}

/** Starts every peer on the subject's database, for its larger organization. */
export async function startPeers(
  { databaseUrl, data }: Subject,
): Promise<Contestant[]> {
  const env = {
    DATABASE_URL: databaseUrl,
    ORGANIZATION_ID: data.large.id,
    POOL_SIZE: String(CONNECTIONS),
    STATEMENTS: JSON.stringify(await statementsOf(databaseUrl, data)),
  };
  const readyPath = `/api/products/${data.products.lines[0]!.split(" ")[0]}`;
  const peers = [];
  for (const [name, command] of Object.entries(PEERS)) {
    const how = { folder: FOLDER, env, readyPath };
    peers.push({ ...await startProgram(name, command, how), data });
  }
  return peers;
}

/**
 * The service's statements that read a product and a list, and the one that stores the
 * JSON of a new product, with their parameters, in which `{id}` stands for the product.
 */
async function statementsOf(databaseUrl: string, data: Data) {
  await using app = await openApp({}, { url: databaseUrl });
  let noted: { text: string; parameters: unknown[] }[] = [];
  const handler = app.variant({
    database: recorded(
      app.database,
      (statement) => noted.push(parametersOf(statement, data.large.id)),
    ),
  });
  async function statementOf(scenario: RequestScenario, text: RegExp) {
    noted = [];
    const { method, key, path, body } = filled(scenario.requestsOf(data), 0);
    const reply = await handle(handler, `/api${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: body ?? null,
    });
    const { id } = reply.body.data;
    const found = noted.findLast((one) => text.test(one.text))!;
    if (method === "POST") await remove(handler, key, id);
    return {
      text: found.text,
      parameters: JSON.parse(
        JSON.stringify(found.parameters.map((value) => value instanceof Json ? value.value : value))
          .replaceAll(id, "{id}"),
      ),
    };
  }
  const remove = (handler: typeof app.handler, key: string, id: string) =>
    handle(handler, `/api/products/${id}`, {
      method: "DELETE",
      headers: { "x-api-key": key },
    });
  return {
    get: await statementOf(GET, /product_documents/),
    list: await statementOf(LIST, /product_documents/),
    store: await statementOf(CREATE, /insert into product_documents/),
  };
}

/** The same without what differs between any two products. */
function anonymous(product: object): unknown {
  const identity = ["id", "product_code", "created_at", "updated_at"];
  return JSON.parse(
    JSON.stringify(product),
    (key, value) => identity.includes(key) ? undefined : value,
  );
}

/**
 * Compares a peer's responses with the service's: a product, a page, and a created
 * product, which is then deleted. Throws at a difference.
 */
export async function checkPeer(
  peer: Contestant,
  service: Contestant,
): Promise<void> {
  for (const scenario of FOR_PEERS) {
    if (!takesPart(peer, scenario)) continue;
    const requests = scenario.requestsOf(service.data);
    const answers = [];
    for (const { origin } of [peer, service]) {
      const { data, meta } = await send(origin, requests, 0);
      answers.push([scenario === CREATE ? anonymous(data) : data, meta]);
      if (scenario !== CREATE) continue;
      const path = `/products/${data.id}`;
      await call(service.origin, requests.key, "DELETE", path);
    }
    assertEquals(answers[0], answers[1], `${peer.name} answers otherwise`);
  }
}
