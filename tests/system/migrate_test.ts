import { assert, assertEquals, assertRejects } from "@std/assert";
import { miscounted } from "../../db/doctor/recount.ts";
import { installDemo } from "../../db/demo.ts";
import { checkMigrated, install, migrate, pendingMigrations } from "../../db/migrate.ts";
import { readSchema } from "../../db/sql_files.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { copyOfSql, MIGRATIONS } from "../support/sql/folder.ts";
import { script } from "../support/sql/script.ts";
import { TIMED } from "../support/app/deadline.ts";

const [first] = MIGRATIONS as [string];
const number = (i: number) => String(i).padStart(4, "0");
const next = `migrations/${number(MIGRATIONS.length + 1)}_shelves.sql`;

/** The migrations of which databases exist, as released. A release adds its own. */
const FROZEN: Record<string, string> = {
  "0001_schema.sql": "cabe0cec848e0c7650bc7f45957af5480df8332936c4249d85dd5e0421e48262",
};

Deno.test("A released migration is never edited", async () => {
  for (const { name, sha256 } of await readSchema()) {
    const released = FROZEN[name] ?? sha256;
    const advice =
      `sql/migrations/${name} has run in databases of operators, which refuse to start after an edit: restore it, and add a new file, such as ${next}`;
    assertEquals(sha256, released, advice);
  }
});

Deno.test("deno task migrate", TIMED, async ({ step: it }) => {
  await using fresh = await openFreshDatabase();
  const { operations: database } = fresh;

  await it("applies every file once, in order, and then the functions", async () => {
    assertEquals((await migrate(database)).applied, [
      ...MIGRATIONS,
      "functions.sql",
    ]);
    assertEquals((await migrate(database)).applied, []);
  });

  await it("refuses a gap in the numbers", async () => {
    await using folder = await copyOfSql();
    const missing = number(MIGRATIONS.length + 1);
    const after = `${number(MIGRATIONS.length + 2)}_shelves.sql`;
    await Deno.writeTextFile(new URL(`migrations/${after}`, folder.url), "");

    await assertRefuses(
      folder.url,
      `expected "${missing}_….sql", found "${after}"`,
    );
  });

  await it("refuses a file that was edited after it was applied", async () => {
    await using fresh = await openFreshDatabase();
    await using folder = await copyOfSql();
    const file = new URL(next, folder.url);
    await Deno.writeTextFile(file, "create table shelves (id int);");
    await migrate(fresh.operations, folder.url);
    await Deno.writeTextFile(file, "create table shelves (id bigint);");

    await assertRejects(
      () => migrate(fresh.operations, folder.url),
      Error,
      `"${
        next.replace("migrations/", "")
      }" was edited after it was applied: restore it, and add a new file`,
    );
  });

  await it("tells the operator of a database from before 1.0.0 the way", async () => {
    await using folder = await copyOfSql();
    await Deno.writeTextFile(new URL(`migrations/${first}`, folder.url), "\n", { append: true });

    await assertRefuses(
      folder.url,
      "Export each organization with the checkout that made it, name an empty database in DATABASE_URL",
    );
  });

  await it("refuses a database of a version before 1.0, and of a later release", async () => {
    await using fresh = await openFreshDatabase();
    const { operations: database } = fresh;
    await migrate(database);
    const rename = (name: string, to: string) =>
      script(
        database,
        (sql) => sql`update schema_migrations set name = ${to} where name = ${name}`,
      );
    await rename(first, "0001_tenancy.sql");
    for (const check of [migrate, pendingMigrations]) {
      await assertRejects(
        () => check(database),
        Error,
        'The database is of a version before 1.0 ("0001_tenancy.sql"), which neither this release nor its import reads: name an empty database in DATABASE_URL, or another folder in DATA_DIR',
      );
    }
    await rename("0001_tenancy.sql", first);
    await script(
      database,
      (sql) => sql`insert into schema_migrations (name, sha256) values ('9999_later.sql', '')`,
    );
    await assertRejects(
      () => migrate(database),
      Error,
      'The database is of a later release, which has applied "9999_later.sql"',
    );
  });

  await it("rolls back a failing file", async () => {
    await using folder = await copyOfSql();
    const file = new URL(next, folder.url);
    await Deno.writeTextFile(
      file,
      "create table shelves (id int);\n\nselect 1 / 0;\n",
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
    const statement = "return greatest(now(), ";
    await migrate(database, folder.url);
    const before = await origin();
    await Deno.writeTextFile(
      file,
      text.replace(statement, "return greatest('infinity', "),
    );

    assertEquals((await migrate(database, folder.url)).applied, [
      "functions.sql",
    ]);
    assertEquals((await migrate(database, folder.url)).applied, []);

    const [{ version }] = await script(
      database,
      (sql) => sql<[{ version: string }]>`select next_version(now())::text as version`,
    );
    assertEquals(version, "infinity");
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
  name: "The next release migrates a database with products",
  async fn() {
    await using fresh = await openFreshDatabase();
    const { operations: database } = fresh;
    await install(database);
    await installDemo(database);
    const products = () =>
      script(
        database,
        (sql) => sql`select p.id, p.title, p.updated_at::text from products p order by p.id`,
      );
    const before = await products();
    await using folder = await copyOfSql();
    const name = `${String(MIGRATIONS.length + 1).padStart(4, "0")}_reviews.sql`;
    await Deno.writeTextFile(
      new URL(`migrations/${name}`, folder.url),
      `-- A table of product rows, and a column that all products get.
alter table products add column shelf text not null default 'A';

create table reviews (
  organization_id uuid not null,
  product_id uuid not null,
  stars int not null,

  constraint reviews_pkey primary key (organization_id, product_id),
  constraint reviews_product
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade
);

-- A function whose empty lines end no statement.
do $$
begin
  insert into reviews (organization_id, product_id, stars)
  select organization_id, id, 5 from products;

  update reviews set stars = 4;
end $$;
`,
    );

    const { wasEmpty, applied } = await migrate(database, folder.url);

    assertEquals({ wasEmpty, applied }, {
      wasEmpty: false,
      applied: [name, "functions.sql"],
    });
    assert(before.length > 0);
    assertEquals([...await products()], [...before]);
    assertEquals([...await database.scan(miscounted)], []);
    // Triggers see what SQL does to a new table of rows.
    await script(database, (sql) => sql`update reviews set stars = 3`);
    const after = await products();
    assertEquals(
      after.map((
        { id, updated_at },
        i,
      ) => [id, updated_at > before[i]!.updated_at]),
      before.map(({ id }) => [id, true]),
    );
  },
});
