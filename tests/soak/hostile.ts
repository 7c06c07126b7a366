import { assert, assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { pause } from "../../db/connections/deadline.ts";
import { type Load, startLoad } from "../faults/load.ts";
import { openScene } from "../faults/scene.ts";
import type { Organization } from "../support/app/organization.ts";
import type { Service } from "../support/app/process.ts";
import { v8FlagsOf } from "../support/app/v8_flags.ts";
import { type Served, servedAt, startDirectly } from "../support/servers/processes.ts";

/** The memory that the process may take, in bytes. */
const MAX_MEMORY = 400e6;

const V8_FLAGS = v8FlagsOf(config.tasks.serve.command);

const CLIENTS = 64;

const TEXT = { collateral_type: "text_content", text: "x".repeat(99_000) };

const KEYED = { "idempotency-key": "hostile" };

/** A request: method, path, body and headers. */
type Sent = [string, string, object?, HeadersInit?];

/** What a hostile client sends again and again, by what it takes. */
function attacksOn(large: readonly string[]): Record<string, Sent> {
  const operations = (more: object) =>
    large.map((id) => ({ id, body: { page_count: 3 }, ...more }));
  return {
    "products": ["GET", `/api/products/${large[0]}`],
    "pages": ["GET", "/api/products?include=collateral&limit=4"],
    "changes": ["GET", "/api/products/changes?include=collateral"],
    "updates": ["PUT", `/api/products/${large[1]}`, { page_count: 2 }],
    "tags": ["POST", "/api/products/batch", {
      operations: operations({ method: "update", if_match: '"none"' }),
    }],
    "batches": ["POST", "/api/products/batch", {
      operations: operations({ method: "update" }),
    }],
    "stored responses": ["POST", "/api/products", {
      title: "Stored",
      collateral: Array(9).fill(TEXT),
    }, KEYED],
    "parameters": ["GET", `/api/products?${"a=1&".repeat(15_000)}`],
    "errors": ["POST", "/api/products", {
      product_prices: Array(500).fill({ currency_code: "?", retail_price: "" }),
    }],
  };
}

/** Sends what takes memory and processor beside honest clients, for this number of minutes. */
export async function besideHostile(minutes: number): Promise<Load> {
  await using scene = await openScene();
  const env = { DATABASE_URL: scene.cluster.url, DATABASE_POOL_SIZE: "" };
  await using service = await startDirectly(env, V8_FLAGS);
  const app = servedAt(() => service.origin, scene.app.sql);
  const hostile = await app.organization();
  const large = await Promise.all(
    Array.from({ length: 4 }, () => createLarge(app, hostile)),
  );
  const attacks = Object.entries(attacksOn(large));

  const load = await startLoad(app, { clients: 2, pauseMs: 20 });
  for (const [name, attack] of attacks) {
    const end = performance.now() + minutes * 60_000 / attacks.length;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (performance.now() < end) {
        await attackOnce(service, hostile.key, attack);
      }
    });
    let isOver = false;
    const over = Promise.all(clients).finally(() => isOver = true);
    for (; !isOver; await pause(100)) {
      const memory = await memoryOf(service.pid);
      assert(memory < MAX_MEMORY, `${name}: ${memory} bytes`);
    }
    await over;
  }
  await load.stop();

  await scene.assertSound();
  const failed = Object.keys(load.responses).filter((status) => /^[05]/.test(status));
  assertEquals(failed, [], JSON.stringify(load.responses));
  return load;
}

/** Creates a product of 3.6 MB, whose rows are inserted by SQL. */
async function createLarge(
  app: Served,
  org: Organization,
): Promise<string> {
  const { id, path } = await org.create();
  await app.sql`
    insert into collateral (organization_id, product_id, id, position, collateral_type, text)
    select ${org.id}, ${id}, gen_random_uuid(), i, 'text_content', repeat(md5(i::text), 3000)
    from generate_series(0, 35) i
  `;
  await org.put(path, { page_count: 1 });
  return id;
}

async function attackOnce(
  { origin }: Service,
  key: string,
  [method, path, body, headers]: Sent,
): Promise<void> {
  const response = await fetch(origin + path, {
    method,
    headers: {
      "x-api-key": key,
      "content-type": "application/json",
      ...headers,
    },
    body: body ? JSON.stringify(body) : null,
  });
  for await (const _ of response.body ?? []);
}

/** The resident memory of a process, in bytes. */
async function memoryOf(pid: number): Promise<number> {
  const ps = new Deno.Command("ps", { args: ["-o", "rss=", "-p", `${pid}`] });
  const { stdout } = await ps.output();
  return Number(new TextDecoder().decode(stdout)) * 1_024;
}
