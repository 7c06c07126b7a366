import { assertEquals } from "@std/assert";
import { install } from "../../db/migrate.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { script } from "../support/sql/script.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test("The start of the service", TIMED, async ({ step: it }) => {
  await using fresh = await openFreshDatabase();
  const { operations: database } = fresh;

  await it("applies changed functions and code lists once", async () => {
    await install(database);
    const before = await knownFiles();
    await script(database, async (sql) => {
      await sql`
        update schema_migrations set sha256 = 'another' where name in ('functions.sql', 'seed.sql')
      `;
      await sql`delete from onix_codes where list = 96`;
      await sql`drop trigger counted on products`;
    });

    await install(database);
    const after = await knownFiles();
    await install(database);

    assertEquals(
      after.map(({ name, sha256 }) => [name, sha256]),
      before.map(({ name, sha256 }) => [name, sha256]),
    );
    assertEquals(await knownFiles(), after);
    const [{ codes, triggers }] = await script(
      database,
      (sql) =>
        sql<[{ codes: number; triggers: number }]>`
          select
            (select count(*)::int from onix_codes where list = 96) as codes,
            (select count(*)::int from pg_trigger where tgname = 'counted') as triggers
        `,
    );
    assertEquals([codes, triggers], [199, 1]);
  });

  async function knownFiles() {
    return [
      ...await script(
        database,
        (sql) => sql`select name, sha256, applied_at from schema_migrations order by name`,
      ),
    ];
  }
});
