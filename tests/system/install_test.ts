import { assertEquals, assertNotEquals } from "@std/assert";
import { install } from "../../db/migrate.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { script } from "../support/sql/script.ts";

Deno.test("The start of the service", async (t) => {
  await using fresh = await openFreshDatabase();
  const { operations: database } = fresh;

  await t.step("writes nothing if nothing has changed", async () => {
    await install(database);
    const before = await knownFiles();

    await install(database);

    assertEquals(await knownFiles(), before);
  });

  await t.step(
    "fills the code lists again if their file has changed",
    async () => {
      await script(
        database,
        (sql) =>
          sql`update schema_migrations set sha256 = 'another' where name = 'seed.sql'`,
      );
      await script(
        database,
        (sql) => sql`delete from onix_codes where list = 96`,
      );

      await install(database);

      const codes = await script(
        database,
        (sql) => sql`select code from onix_codes where list = 96`,
      );
      assertNotEquals(codes.length, 0);
    },
  );

  await t.step("counts products inserted by SQL", async () => {
    await script(database, async (sql) => {
      const [organization] = await sql`
        insert into organizations (name) values ('Loaded') returning id
      `;
      await sql`
        insert into products (organization_id, title) values (${
        organization!.id
      }, 'Emma')
      `;
    });

    const counts = await script(
      database,
      (sql) => sql`select filter, products::int from product_counts`,
    );
    assertEquals([...counts], [{ filter: "organization_id", products: 1 }]);
  });

  async function knownFiles() {
    return [
      ...await script(
        database,
        (sql) => sql`select name, sha256, applied_at from schema_migrations`,
      ),
    ];
  }
});
