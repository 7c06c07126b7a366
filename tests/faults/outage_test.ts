import { assert, assertEquals } from "@std/assert";
import { openDatabase } from "../../db/database.ts";
import { eventually } from "../support/app/eventually.ts";
import { send, SETTINGS } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { launch } from "../support/app/process.ts";
import { install } from "../../db/migrate.ts";
import { startLoad } from "./load.ts";
import { pause } from "../../db/connections/deadline.ts";
import { DEADLINE_MS, faultTest } from "./scene.ts";

faultTest("A database that stops", async (scene, { step: it }) => {
  const { app, cluster } = scene;

  await it("delays no request beyond its deadline", async () => {
    const load = await startLoad(app, { clients: 25, pauseMs: 20 });
    await pause(500);

    await cluster.stop("fast");
    await pause(3_000);
    const ready = await app.send("/health/ready");
    await cluster.start();
    const returned = performance.now();
    await eventually(
      200,
      async () => (await app.send("/health/ready")).status,
    );
    const foundMs = performance.now() - returned;
    await load.stop();

    assertEquals([ready.status, ready.body.error.code], [
      503,
      "SERVICE_UNAVAILABLE",
    ]);
    assertEquals(ready.headers.get("retry-after"), "1");
    // Without a deadline they would wait for the database.
    assert(load.slowestMs < DEADLINE_MS + 10_000, `${load.slowestMs} ms`);
    assert(foundMs < 15_000, `Found again after ${foundMs} ms`);
    await scene.assertSound(load);
  });

  await it("delays none of many concurrent requests beyond its deadline", async () => {
    const org = await app.organization();
    const { path } = await org.create();

    await cluster.stop("fast");
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => org.get(path)),
    );
    await cluster.start();

    // They fail with the connection. At their deadline, the message would be another.
    assertEquals(
      replies.map(({ status, body }) => [status, body.error.message]),
      Array(4).fill([503, "The database is not available"]),
    );
    await eventually(200, async () => (await org.get(path)).status);
    await scene.assertSound();
  });
});

faultTest(
  "A database that refuses the service",
  async (scene, { step: it }) => {
    const { app, cluster, observer } = scene;
    const org = await app.organization();
    await observer`create role stranger login password 'stranger'`;
    await observer`create role lonely login superuser password 'lonely' connection limit 0`;
    await observer`alter role lonely nosuperuser`;

    const refusals: [string, number, string, (url: URL) => void][] = [
      ["its password", 500, "28P01", (url) => url.password = "wrong"],
      [
        "a database that is not there",
        500,
        "3D000",
        (url) => url.pathname = "/gone",
      ],
      ["too many connections", 503, "53300", (url) => {
        url.username = url.password = "lonely";
      }],
      ["its rights", 500, "42501", (url) => {
        url.username = url.password = "stranger";
      }],
    ];
    for (const [what, status, code, change] of refusals) {
      await it(`for ${what}`, async () => {
        const url = new URL(cluster.url);
        change(url);
        const database = await openDatabase({ ...SETTINGS, url: url.href });
        app.logged.length = 0;

        const response = await get(org, app.variant({ database }));

        assertEquals(response.status, status);
        assertEquals(response.body.error.details, []);
        assertEquals(app.logged.length, 1);
        assertEquals((app.logged[0]!.cause as { code?: string }).code, code);
        await database.close();
        await scene.assertSound();
      });
    }

    await it("is retried while it has too many connections", async () => {
      const url = new URL(cluster.url);
      url.username = url.password = "lonely";
      await using service = launch({ DATABASE_URL: url.href });

      await service.until("/health/live");
      await eventually(true, () => service.stdout.includes("53300"));
    });

    await it("is retried until it is migrated", async () => {
      await observer`create database unmigrated`;
      const url = new URL(cluster.url);
      url.pathname = "/unmigrated";
      await using service = launch({
        DATABASE_URL: url.href,
        MIGRATE_ON_START: "false",
      });
      await service.until("/health/live");
      await eventually(
        true,
        () => service.stdout.includes("run deno task migrate"),
      );

      const database = await openDatabase({ ...SETTINGS, url: url.href });
      await install(database.for({ deadline: performance.now() + 60_000 }));
      await database.close();
      await service.until("/health/ready");
    });
  },
);

function get(
  { key }: Organization,
  handler: (request: Request) => Promise<Response>,
) {
  return send(handler, "/api/products", { headers: { "x-api-key": key } });
}
