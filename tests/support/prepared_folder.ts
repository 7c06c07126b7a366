import { createHash } from "node:crypto";
import { cp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import config from "../../deno.json" with { type: "json" };
import { openDatabase } from "../../db/database.ts";
import { install } from "../../db/install.ts";
import { readMigrations, readSqlFile, SEED } from "../../db/sql_files.ts";

/** The file system that Linux keeps in memory. */
const MEMORY = "/dev/shm";

/** The databases of the test files that run at the same time fit in this. */
const ENOUGH_BYTES = 2 ** 31;

/**
 * A folder of an embedded database with schema and code lists, for one test
 * file. Making one takes seconds, so it is made once for all of them, and
 * again when `sql/`, the release of PGlite or this file changes; each gets a
 * copy, at `folder` or in a new place.
 */
export async function preparedFolder(folder?: string): Promise<string> {
  const prepared = `${tmpdir()}/catalogue-tests-${await version()}`;
  await Deno.mkdir(prepared, { recursive: true });
  const turn = await Deno.open(`${prepared}/turn`, {
    create: true,
    write: true,
  });
  await turn.lock(true);
  try {
    if (!await isDone(prepared)) await prepare(prepared);
  } finally {
    turn.close();
  }
  const copy = folder ??
    await Deno.makeTempDir({
      dir: await quickPlace(),
      prefix: "catalogue-test-",
    });
  await cp(`${prepared}/data`, copy, { recursive: true });
  return copy;
}

/** A database is hundreds of files: on a disk, their copy costs more than the start of PGlite. */
async function quickPlace(): Promise<string> {
  const room = await statfs(MEMORY)
    .then(({ bavail, bsize }) => bavail * bsize, () => 0);
  return room < ENOUGH_BYTES ? tmpdir() : MEMORY;
}

/** Of what the folder is made of and by; users of one machine do not share it. */
async function version(): Promise<string> {
  const files = [...await readMigrations(), await readSqlFile(SEED)];
  const hash = createHash("sha256")
    .update(config.imports["@electric-sql/pglite"])
    .update(await Deno.readTextFile(new URL(import.meta.url)))
    .update(Deno.env.get("USER") ?? "");
  for (const { sha256 } of files) hash.update(sha256);
  return hash.digest("hex").slice(0, 16);
}

async function isDone(prepared: string): Promise<boolean> {
  return await Deno.stat(`${prepared}/done`).then(() => true, () => false);
}

async function prepare(prepared: string): Promise<void> {
  const dataDir = `${prepared}/data`;
  await Deno.remove(dataDir, { recursive: true }).catch(() => {});
  const database = await openDatabase({
    dataDir,
    poolSize: 1,
    statementTimeoutMs: 60_000,
    prepare: true,
  });
  await install(database.until(performance.now() + 120_000));
  await database.close();
  await lighten(`${dataDir}/postgres`);
  await Deno.writeTextFile(`${prepared}/done`, "");
}

/** Sixty copies are made and opened, one for each core at a time: of what it could do without, this costs most. */
async function lighten(cluster: string): Promise<void> {
  // template1 and template0, from which nobody makes a database here.
  for (const oid of ["1", "4"]) {
    await Deno.remove(`${cluster}/base/${oid}`, { recursive: true });
  }
  await Deno.writeTextFile(
    `${cluster}/postgresql.conf`,
    "shared_buffers = 16MB\n",
    { append: true },
  );
}
