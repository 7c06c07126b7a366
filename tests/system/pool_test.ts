import { assertEquals, assertRejects } from "@std/assert";
import { openConnection } from "../../db/connections/connection.ts";
import { Pool } from "../../db/connections/pool.ts";
import { sql } from "../../db/connections/sql.ts";
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
    const use = async () => {
      const caller = { organizationId: "", name: "" };
      const deadline = performance.now() + 10_000;
      const [row] = await pool.use(
        caller,
        "short",
        deadline,
        ({ connection }) => connection.send(session),
      );
      return row!.pid;
    };
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

    await it("refuses operations once it is closed", async () => {
      await pool.close(performance.now());

      await assertRejects(use);
    });
  },
});
