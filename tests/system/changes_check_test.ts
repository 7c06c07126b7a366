import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import postgres from "postgres";
import { examine } from "../../db/commands/doctor.ts";
import { readConfig } from "../../schema/config.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";

Deno.test("deno task doctor checks the feed of changes", async ({ step: it }) => {
  await using fresh = SETTINGS.url ? await openFreshDatabase() : undefined;
  const url = fresh?.settings.url;
  await using app = await openApp({}, { url });
  const check = async () => {
    const database = app.database.for({ deadline: performance.now() + 90_000 });
    const { changes } = await examine(database, readConfig(() => undefined));
    return changes!;
  };

  await it({
    name: "and reports a transaction that stays open",
    ignore: !url,
    async fn() {
      const sql = postgres(url!, { max: 1, fetch_types: false });
      await sql`begin`;
      // The minimum age for the check, without waiting.
      const [row] = await sql`
        select pg_current_xact_id(), pg_backend_pid() as pid, pg_sleep(10.5)
      `;

      const { ok, finding, advice } = await check();

      await sql`rollback`;
      await sql.end();
      assert(!ok);
      assertStringIncludes(finding, "has been writing for 1");
      assertStringIncludes(advice!, "pg_terminate_backend(");
      assert(row!.pid > 0);
    },
  });

  await it("and reports a copied database before a migration", async () => {
    await app.sql`update change_origins set place = 'elsewhere'`;

    assertEquals(await check(), {
      ok: false,
      finding: "The database was copied",
      advice: "deno task migrate",
    });
  });
});
