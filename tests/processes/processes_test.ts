import { revokeKey } from "../../db/access.ts";
import { pause } from "../../db/connections/deadline.ts";
import type { App } from "../support/app/harness.ts";
import { assert, assertEquals } from "@std/assert";
import { type Processes, processTest } from "../support/servers/processes.ts";

/** The promised time after which a revoked key stops working. */
const REVOKED_WITHIN_MS = 5_000;

/** The requests to each process before and after one is killed. */
const PER_PROCESS = 10;

for (const size of [2, 4]) {
  processTest(`${size} processes on one database`, size, together);
}

async function together(
  { app, services }: Processes,
  { step: it }: Deno.TestContext,
) {
  const size = services.length;
  const everywhere = services.map(({ origin }) => origin);
  const revoked = await revokeOne(app, everywhere);

  await it("install an empty database once, concurrently", async () => {
    const [row] = await app.sql<{ migrations: number; forms: number }[]>`
      select
        (select count(*)::int from schema_migrations where name ~ '^[0-9]') as migrations,
        (select count(*)::int from product_forms) as forms
    `;

    const files = Array.from(
      Deno.readDirSync(new URL("../../sql/migrations", import.meta.url)),
    );
    assertEquals(row!.migrations, files.length);
    assert(row!.forms > 0);
  });

  await it("create one product for one Idempotency-Key", async () => {
    const { key } = await app.organization();
    const headers = { "idempotency-key": "order-1" };

    const replies = await Promise.all(
      everywhere.flatMap((origin) =>
        Array.from(
          { length: 5 },
          () => call([origin], key, "POST", "", { title: "Emma" }, headers),
        )
      ),
    );

    for (const { status, data } of replies) {
      assertEquals(status, 201);
      assertEquals(data, replies[0]!.data);
    }
    assertEquals(await totals(everywhere, key), everywhere.map(() => 1));
  });

  await it("maintain exact counts together", async () => {
    const { key } = await app.organization();

    await Promise.all(
      everywhere.map(async (origin, at) => {
        const other = everywhere.at(at - 1)!;
        for (let i = 0; i < PER_PROCESS; i++) {
          const { data } = await call([origin], key, "POST", "", {
            title: "Emma",
          });
          if (i % 2 === 0) {
            await call([other], key, "DELETE", `/${data.id}`);
          }
        }
      }),
    );

    const left = size * PER_PROCESS / 2;
    assertEquals(await totals(everywhere, key), everywhere.map(() => left));
  });

  await it("all refuse a revoked key after 5 seconds", async () => {
    await revoked.time;

    const replies = await Promise.all(
      everywhere.map((origin) => call([origin], revoked.key, "GET", "")),
    );

    assertEquals(
      replies.map(({ status }) => status),
      everywhere.map(() => 401),
    );
  });

  await it("lose no acknowledged write when one is killed", async () => {
    const { key } = await app.organization();
    const [victim, ...others] = services;
    const created = new Set<string>();

    await Promise.all(
      everywhere.map(async (_, client) => {
        for (let i = 0; i < 2 * PER_PROCESS; i++) {
          const start = (client + i) % size;
          const route = [
            ...everywhere.slice(start),
            ...everywhere.slice(0, start),
          ];
          const { status, data } = await call(route, key, "POST", "", {
            title: "Emma",
          }, { "idempotency-key": `${client}-${i}` });
          assertEquals(status, 201);
          created.add(data.id);
          if (created.size === size * PER_PROCESS) await victim!.kill();
        }
      }),
    );

    const alive = others.map(({ origin }) => origin);
    assertEquals(created.size, size * 2 * PER_PROCESS);
    assertEquals(await totals(alive, key), alive.map(() => created.size));
  });
}

/** Revokes a key that every process has just used. At `time`, no process may accept it any more. */
async function revokeOne(app: App, everywhere: string[]) {
  const { key } = await app.organization();
  for (const origin of everywhere) {
    const { status } = await call([origin], key, "GET", "");
    assertEquals(status, 200);
  }
  await app.sql`${revokeKey(key.slice(4, 16))}`;
  const until = performance.now() + REVOKED_WITHIN_MS;
  return {
    key,
    get time() {
      const left = Math.max(0, until - performance.now());
      return pause(left);
    },
  };
}

/**
 * Sends the request to the first process, and to the next one if that does not respond,
 * like clients behind a load balancer. Retries after a pause if the response asks for it.
 */
async function call(
  route: string[],
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  for (let attempt = 0;; attempt++) {
    try {
      const response = await fetch(
        `${route[attempt % route.length]}/api/products${path}`,
        {
          method,
          headers: {
            "x-api-key": key,
            "content-type": "application/json",
            ...headers,
          },
          ...body !== undefined && { body: JSON.stringify(body) },
        },
      );
      const { data, meta } = await response.json();
      if (!response.headers.has("retry-after") || attempt > 100) {
        return { status: response.status, data, meta };
      }
    } catch (error) {
      if (route.length === 1 || attempt > 100) throw error;
    }
    await pause(20);
  }
}

/** The number of products that each process reports. */
async function totals(origins: string[], key: string): Promise<number[]> {
  const replies = await Promise.all(
    origins.map((origin) => call([origin], key, "GET", "?limit=1")),
  );
  return replies.map(({ meta }) => meta.total);
}
