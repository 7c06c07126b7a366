import { assert, assertEquals, assertRejects } from "@std/assert";
import { sql } from "../../db/connections/sql.ts";
import { install } from "../../db/migrate.ts";
import { doctor } from "../../db/doctor/doctor.ts";
import { openDatabase } from "../../db/database.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { start } from "../support/app/process.ts";
import { startLoad } from "./load.ts";
import { hasPgBouncer } from "../support/servers/pgbouncer.ts";
import { through } from "../support/servers/proxy.ts";
import { pause } from "../../db/connections/deadline.ts";
import { DEADLINE_MS, faultTest } from "./scene.ts";
import { script } from "../support/sql/script.ts";

faultTest("PgBouncer in transaction mode", async (scene, { step: it }) => {
  const { app, cluster, observer, proxy } = scene;
  const pgbouncer = scene.pgbouncer!;

  await it("installs an empty database once for several processes", async () => {
    await observer`create database empty`;
    const url = new URL(through(cluster.url, pgbouncer));
    url.pathname = "empty";
    const databases = await Promise.all(
      [1, 2, 3].map(() => openDatabase({ ...SETTINGS, url: url.href, prepare: false })),
    );
    const operations = databases.map((database) =>
      database.for({ deadline: performance.now() + 60_000 })
    );

    await Promise.all(operations.map(install));

    const [row] = await script(
      operations[0]!,
      (sql) => sql`select count(*)::int as forms from product_forms`,
    );
    assert(row!.forms > 0);
    for (const database of databases) await database.close();
  });

  await it("serves a process with DATABASE_PREPARE=false", async () => {
    const org = await app.organization();
    const { id } = await org.create();

    await using service = await start({
      DATABASE_URL: through(cluster.url, pgbouncer),
      DATABASE_PREPARE: "false",
    });
    const response = await fetch(`${service.origin}/api/products/${id}`, {
      headers: { "x-api-key": org.key },
    });

    assertEquals(response.status, 200);
    assertEquals((await response.json()).data.id, id);
  });

  await it("makes doctor report the missing settings", async () => {
    const url = through(cluster.url, pgbouncer);
    const advice = async (environment: Record<string, string>) => {
      const { text: report } = await doctor(
        (name) => ({ DATABASE_URL: url, ...environment })[name],
        { json: true },
      );
      const findings = JSON.parse(report) as { advice?: string }[];
      return findings.find(({ advice }) => advice)?.advice;
    };

    assertEquals(
      [await advice({}), await advice({ DATABASE_PREPARE: "false" })],
      [
        "Set DATABASE_PREPARE=false: this is PgBouncer",
        "alter role postgres set idle_in_transaction_session_timeout = '10s'; " +
        "alter role postgres set lock_timeout = '2s'; alter role postgres set statement_timeout = '10s'",
      ],
    );
  });

  await it("applies the role's statement timeout", async () => {
    await observer`alter role postgres set statement_timeout = '100ms'`;
    await pgbouncer.restart();

    const error = await assertRejects(() =>
      app.database.for({ deadline: performance.now() + DEADLINE_MS })
        .scan(sql`select pg_sleep(60)`)
    );

    assertEquals((error as { code?: string }).code, "57014");
    await observer`alter role postgres reset statement_timeout`;
    await pgbouncer.restart();
    await scene.assertSound();
  });

  const faults: Record<string, () => Promise<void> | void> = {
    "PgBouncer is killed": () => pgbouncer.restart(),
    "the server is killed": async () => {
      await cluster.stop("immediate");
      await cluster.start();
    },
    "the connection to it breaks": () => proxy.cut(),
  };
  for (const [what, happen] of Object.entries(faults)) {
    await it(`neither loses nor mixes writes if ${what}`, async () => {
      const load = await startLoad(app);

      for (let n = 0; n < 2; n++) {
        await pause(500);
        await happen();
      }
      await pause(1_500);
      await load.stop();

      assert(load.responses[201]! > 0);
      await scene.assertSound(load);
    });
  }
}, { behindPgBouncer: true, ignore: !hasPgBouncer() });
