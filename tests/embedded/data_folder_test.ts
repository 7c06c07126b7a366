import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { takeFolder } from "../../db/connections/embedded.ts";
import { sql } from "../../db/connections/sql.ts";
import { openDatabase } from "../../db/database.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { script } from "../support/sql/script.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test(
  "The folder of the embedded database",
  TIMED,
  async ({ step: it }) => {
    const parent = await Deno.makeTempDir();

    await it("is recreated after a killed first start", async () => {
      const killed = await takeFolder(`${parent}/killed`);
      await Deno.mkdir(killed.database);
      killed.release();

      const folder = await takeFolder(`${parent}/killed`);

      await assertRejects(
        () => Deno.stat(folder.database),
        Deno.errors.NotFound,
      );
      folder.release();
    });

    await it("is kept once the database is complete", async () => {
      const made = await takeFolder(`${parent}/made`);
      await Deno.mkdir(made.database);
      await made.keep();
      made.release();

      const folder = await takeFolder(`${parent}/made`);

      assertEquals((await Deno.stat(folder.database)).isDirectory, true);
      folder.release();
    });

    await it("is private, even if others could read it before", async () => {
      await Deno.chmod(parent, 0o755);
      const dataDir = `${parent}/private`;
      const open = () => openDatabase({ ...SETTINGS, url: undefined, dataDir });
      await (await open()).close();
      await assertPrivate(dataDir);
      await Deno.chmod(dataDir, 0o755);

      await (await open()).close();

      await assertPrivate(dataDir);
    });

    await it("is refused if it is not a folder", async () => {
      await Deno.writeTextFile(`${parent}/file`, "");

      const error = await assertRejects(() => takeFolder(`${parent}/file`));

      assertMatch(
        error.message,
        /^DATA_DIR must be a readable and writable folder: File exists/,
      );
    });

    await it("is refused if its database is damaged", async () => {
      const dataDir = `${parent}/damaged`;
      await Deno.mkdir(`${dataDir}/postgres`, { recursive: true });
      await Deno.writeTextFile(`${dataDir}/postgres/PG_VERSION`, "9\n");

      const error = await assertRejects(() =>
        openDatabase({ ...SETTINGS, url: undefined, dataDir })
      );

      assertMatch(
        error.message,
        /^The database in DATA_DIR cannot be opened: /,
      );
    });

    await it("has no rows of an abandoned transaction", async () => {
      const dataDir = await preparedFolder();
      const database = await openDatabase({
        ...SETTINGS,
        url: undefined,
        dataDir,
      });
      const within = (ms: number) => database.for({ deadline: performance.now() + ms });
      await script(
        within(60_000),
        (sql) => sql`create table notes (text text)`,
      );
      const { promise: never, resolve } = Promise.withResolvers<void>();

      await assertRejects(() =>
        within(200).transaction(async (tx) => {
          await tx.send(sql`insert into notes values ('given up')`);
          await never;
        })
      );
      resolve();

      await within(60_000).transaction((tx) => tx.commit(sql`insert into notes values ('kept')`));
      const notes = await script(
        within(60_000),
        (sql) => sql`select text from notes`,
      );
      assertEquals([...notes], [{ text: "kept" }]);
      await database.close();
    });

    await Deno.remove(parent, { recursive: true });
  },
);

/** Fails if another user can read a file of the database. */
async function assertPrivate(dataDir: string): Promise<void> {
  const { mode, uid } = await Deno.stat(dataDir);
  assertEquals(mode! & 0o777, 0o700);
  // Only root may run a program as another user.
  if (uid !== 0) return;
  const { code } = await new Deno.Command("cat", {
    args: [`${dataDir}/postgres/PG_VERSION`],
    // That user may not enter the folder of the tests.
    cwd: "/",
    uid: NOBODY,
    stderr: "null",
  }).output();
  assertEquals(code, 1);
}

const NOBODY = 65_534;
