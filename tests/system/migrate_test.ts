import { assertEquals, assertRejects } from "@std/assert";
import { checkMigrated, install, migrate } from "../../db/migrate.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { ROOT } from "../support/app/process.ts";
import { copyOfSql, MIGRATIONS } from "../support/sql/releases.ts";
import { script } from "../support/sql/script.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test("deno task migrate", TIMED, async ({ step: it }) => {
  await using fresh = await openFreshDatabase();
  const { operations: database } = fresh;
  const [first, second, third] = MIGRATIONS as [string, string, string];
  const last = MIGRATIONS.at(-1)!;
  const number = String(MIGRATIONS.length + 1).padStart(4, "0");
  const next = `migrations/${number}_shelves.sql`;

  await it("applies every file once, in order, and then the functions", async () => {
    assertEquals((await migrate(database)).applied, [
      ...MIGRATIONS,
      "functions.sql",
    ]);
    assertEquals((await migrate(database)).applied, []);
  });

  await it("refuses a gap in the numbers", async () => {
    await using folder = await copyOfSql();
    await Deno.remove(new URL(`migrations/${second}`, folder.url));

    await assertRefuses(
      folder.url,
      `expected "0002_….sql", found "${third}"`,
    );
  });

  await it("refuses a file that was edited after it was applied", async () => {
    await using folder = await copyOfSql();
    await Deno.writeTextFile(
      new URL(`migrations/${first}`, folder.url),
      "\n",
      { append: true },
    );

    await assertRefuses(
      folder.url,
      `"${first}" was edited after it was applied`,
    );
  });

  await it("refuses a database with an unknown migration", async () => {
    await using folder = await copyOfSql();
    await Deno.remove(new URL(`migrations/${last}`, folder.url));

    await assertRefuses(folder.url, `the database has "${last}"`);
  });

  await it("rolls back a failing file", async () => {
    await using folder = await copyOfSql();
    const file = new URL(next, folder.url);
    await Deno.writeTextFile(
      file,
      "create table shelves (id int);\nselect 1 / 0;",
    );
    await assertRefuses(folder.url, "division by zero");

    await Deno.writeTextFile(file, "create table shelves (id int);");

    const applied = [next.replace("migrations/", ""), "functions.sql"];
    assertEquals((await migrate(database, folder.url)).applied, applied);
    assertEquals((await migrate(database, folder.url)).applied, []);
  });

  await it("applies the functions again if they were edited", async () => {
    await using fresh = await openFreshDatabase();
    await using folder = await copyOfSql();
    const { operations: database } = fresh;
    const file = new URL("functions.sql", folder.url);
    const text = await Deno.readTextFile(file);
    await migrate(database, folder.url);
    const before = await origin();
    await Deno.writeTextFile(file, text.replace("return 'P-'", "return 'Q-'"));

    assertEquals((await migrate(database, folder.url)).applied, [
      "functions.sql",
    ]);
    assertEquals((await migrate(database, folder.url)).applied, []);

    const [{ code }] = await script(
      database,
      (sql) => sql<[{ code: string }]>`select new_product_code() as code`,
    );
    assertEquals(code.slice(0, 2), "Q-");
    assertEquals(await origin(), before);

    /** The origin of change versions, and what they add to a transaction id. */
    async function origin() {
      return [
        ...await script(database, (sql) =>
          sql`
            select o.id, o.place, (change_version() - pg_current_xact_id()::text::bigint)::int as base
            from change_origins o
          `),
      ];
    }
  });

  await it("gives a new table of product rows its triggers", async () => {
    await using fresh = await openFreshDatabase();
    await using folder = await copyOfSql();
    const { operations: database } = fresh;
    await migrate(database, folder.url);
    await Deno.writeTextFile(
      new URL(next, folder.url),
      "create table reviews (organization_id uuid, product_id uuid, stars int);",
    );

    await migrate(database, folder.url);

    const triggers = await script(
      database,
      (sql) =>
        sql`select tgname as name from pg_trigger where tgrelid = 'reviews'::regclass order by tgname`,
    );
    assertEquals(
      triggers.map(({ name }) => name),
      ["deleted", "inserted", "truncated", "updated"],
    );
  });

  await it("is asked for until the functions exist", async () => {
    await using fresh = await openFreshDatabase();
    const { operations: database } = fresh;
    await migrate(database);
    await checkMigrated(database);
    await script(
      database,
      (sql) => sql`delete from schema_migrations where name = 'functions.sql'`,
    );

    await assertRejects(
      () => checkMigrated(database),
      Error,
      "Migrations are pending",
    );
  });

  async function assertRefuses(folder: URL, message: string): Promise<void> {
    await assertRejects(() => migrate(database, folder), Error, message);
  }
});

Deno.test({
  ...TIMED,
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

    assertEquals(all.map((one) => "code" in one ? one.code : 0), [0, 0, 0, 0]);
    const known = await script(
      fresh.operations,
      (sql) => sql`select name from schema_migrations`,
    );
    // With functions.sql and seed.sql.
    assertEquals(known.length, MIGRATIONS.length + 2);
  },
});
