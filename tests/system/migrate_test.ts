import { assertEquals, assertRejects } from "@std/assert";
import { install } from "../../db/install.ts";
import { migrate } from "../../db/migrate.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { ROOT } from "../support/app/process.ts";
import { script } from "../support/sql/script.ts";

const MIGRATIONS = new URL("sql/migrations/", ROOT);

Deno.test("deno task migrate", async (t) => {
  await using fresh = await openFreshDatabase();
  const { operations: database } = fresh;
  const names = Array.from(Deno.readDirSync(MIGRATIONS), ({ name }) => name)
    .sort();
  const next = `${String(names.length + 1).padStart(4, "0")}_shelves.sql`;

  await t.step(
    "applies every file once, in order",
    async () => {
      assertEquals(await migrate(database), names);
      assertEquals(await migrate(database), []);
    },
  );

  await t.step("refuses a gap in the numbers", async () => {
    await using folder = await copyOfMigrations();
    await Deno.remove(new URL(names[1]!, folder.url));

    await assertRefuses(
      folder.url,
      `expected "0002_….sql", found "${names[2]}"`,
    );
  });

  await t.step(
    "refuses a file that was edited after it was applied",
    async () => {
      await using folder = await copyOfMigrations();
      await Deno.writeTextFile(new URL(names[0]!, folder.url), "\n", {
        append: true,
      });

      await assertRefuses(
        folder.url,
        `"${names[0]}" was edited after it was applied`,
      );
    },
  );

  await t.step(
    "refuses a database with an unknown migration",
    async () => {
      await using folder = await copyOfMigrations();
      await Deno.remove(new URL(names.at(-1)!, folder.url));

      await assertRefuses(folder.url, `the database has "${names.at(-1)}"`);
    },
  );

  await t.step("rolls back a failing file", async () => {
    await using folder = await copyOfMigrations();
    const file = new URL(next, folder.url);
    await Deno.writeTextFile(
      file,
      "create table shelves (id int);\nselect 1 / 0;",
    );
    await assertRefuses(folder.url, "division by zero");

    await Deno.writeTextFile(file, "create table shelves (id int);");

    assertEquals(await migrate(database, folder.url), [next]);
    assertEquals(await migrate(database, folder.url), []);
  });

  async function assertRefuses(folder: URL, message: string): Promise<void> {
    await assertRejects(() => migrate(database, folder), Error, message);
  }
});

Deno.test({
  name: "deno task migrate may run in several processes at once",
  ignore: !SETTINGS.url,
  async fn() {
    await using fresh = await openFreshDatabase();
    const migrateElsewhere = () =>
      new Deno.Command(Deno.execPath(), {
        args: ["task", "-q", "migrate"],
        cwd: ROOT,
        env: { DATABASE_URL: fresh.settings.url! },
      }).output();

    const all = await Promise.all([
      migrateElsewhere(),
      migrateElsewhere(),
      install(fresh.operations),
      install(fresh.operations),
    ]);

    assertEquals(all.map((process) => process?.code ?? 0), [0, 0, 0, 0]);
    const known = await script(
      fresh.operations,
      (sql) => sql`select name from schema_migrations`,
    );
    assertEquals(known.length, [...Deno.readDirSync(MIGRATIONS)].length + 1);
  },
});

async function copyOfMigrations() {
  const path = await Deno.makeTempDir();
  const url = new URL(`file://${path}/`);
  for (const { name } of Deno.readDirSync(MIGRATIONS)) {
    await Deno.copyFile(new URL(name, MIGRATIONS), new URL(name, url));
  }
  return {
    url,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
