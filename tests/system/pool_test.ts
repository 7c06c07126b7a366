import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { openConnection } from "../../db/connections/connection.ts";
import { Pool } from "../../db/connections/pool.ts";
import { raw, sql, type Statement } from "../../db/connections/sql.ts";
import { SETTINGS } from "../support/app/harness.ts";

/** The process of the server that serves the session, after some time. */
const session = sql<{ pid: string }>`
  select pg_backend_pid() as pid, pg_sleep(0.01) as slept
`;

Deno.test({
  name: "A pool",
  ignore: !SETTINGS.url,
  async fn({ step: it }) {
    const pool = new Pool(() => openConnection(SETTINGS), {
      connections: 3,
      statementTimeoutMs: 10_000,
    });
    const ask = <S extends Statement>(statement: S) =>
      pool.use(
        { organizationId: "", name: "" },
        "short",
        performance.now() + 10_000,
        ({ connection }) => connection.send(statement),
      );
    const use = async () => (await ask(session))[0]!.pid;
    let first = "";

    await it("prefers an open connection", async () => {
      first = await use();

      for (let i = 0; i < 5; i++) assertEquals(await use(), first);
    });

    await it("opens another connection while the first is used", async () => {
      const pids = await Promise.all([use(), use()]);

      assertEquals(new Set(pids).size, 2);
    });

    await it("keeps a used connection", async () => {
      const last = await use();
      pool.closeUnused();
      assertEquals(await use(), last);
      pool.closeUnused();

      assertEquals(await use(), last);
    });

    await it("replaces an unused connection", async () => {
      const last = await use();
      pool.closeUnused();
      pool.closeUnused();

      assertEquals(await use() === last, false);
    });

    await it("renews plans of empty tables", async () => {
      // Autovacuum knows no temporary tables.
      await ask(raw(`
        set plan_cache_mode = force_generic_plan;
        begin read write; create temporary table pairs (a int, b int); commit;
        prepare find as select from pairs where a = $1
      `));
      const plan = () => ask(raw("explain execute find(1)"));
      const ofEmpty = await plan();
      await ask(
        raw("insert into pairs select 1, i from generate_series(1, 9999) i"),
      );
      assertEquals(await plan(), ofEmpty);

      pool.renewPlans();

      assertNotEquals(await plan(), ofEmpty);
    });

    await it("refuses operations once it is closed", async () => {
      await pool.close(performance.now());

      await assertRejects(use);
    });
  },
});
