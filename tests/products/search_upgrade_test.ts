import { assertEquals } from "@std/assert";
import { migrate } from "../../db/migrate.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { ROOT } from "../support/app/process.ts";
import { script } from "../support/sql/script.ts";

Deno.test("The migration of the search key", async () => {
  await using fresh = await openFreshDatabase();
  const { operations: database } = fresh;
  await using folder = await migrationsBefore("0011");
  await migrate(database, folder.url);
  const id = uuidv7();
  await script(database, async (sql) => {
    await sql`insert into organizations (id, name) values (${id}, 'Test')`;
    await sql`
      insert into products (organization_id, id, title)
      values (${id}, ${uuidv7()}, 'Pedro Páramo'), (${id}, ${uuidv7()}, 'Emma')
    `;
  });
  const products = () =>
    script(database, (sql) =>
      sql`
        select p.title, p.updated_at::text, p.search_text like '%paramo%' as found
        from products p
        where p.organization_id = ${id}
        order by p.title
      `);
  const before = await products();

  await migrate(database);

  const after = await products();
  assertEquals(before.map(({ found }) => found), [false, false]);
  assertEquals(after.map(({ found }) => found), [false, true]);
  assertEquals(
    after.map(({ updated_at }) => updated_at),
    before.map(({ updated_at }) => updated_at),
  );
});

/** A folder with the migrations before this number. */
async function migrationsBefore(number: string) {
  const path = await Deno.makeTempDir();
  const url = new URL(`file://${path}/`);
  const all = new URL("sql/migrations/", ROOT);
  for (const { name } of Deno.readDirSync(all)) {
    if (name < number) {
      await Deno.copyFile(new URL(name, all), new URL(name, url));
    }
  }
  return {
    url,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
