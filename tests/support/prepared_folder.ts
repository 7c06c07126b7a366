import { createHash } from "node:crypto";
import { cp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import config from "../../deno.json" with { type: "json" };
import { openDatabase } from "../../db/database.ts";
import { install } from "../../db/install.ts";
import { readMigrations, readSqlFile, SEED } from "../../db/sql_files.ts";

/** Linux's file system in memory. */
const MEMORY = "/dev/shm";

/** The space for the databases of all test files that run at the same time. */
const ENOUGH_BYTES = 2 ** 31;

/**
 * A folder with an embedded database with schema and code lists, for one test file.
 * Creating one takes seconds, so it is created once and cached until `sql/`, the
 * release of PGlite or this file changes. Each test file gets a copy, at `folder`
 * or in a new place.
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

/** A database has hundreds of files. On a disk, copying them takes longer than starting PGlite. */
async function quickPlace(): Promise<string> {
  const room = await statfs(MEMORY)
    .then(({ bavail, bsize }) => bavail * bsize, () => 0);
  return room < ENOUGH_BYTES ? tmpdir() : MEMORY;
}

/** The cache key: the sources of the folder, and the user, because users do not share it. */
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

/** Tests open about sixty copies, one per core at a time. These parts are the most expensive and unnecessary. */
async function lighten(cluster: string): Promise<void> {
  // template1 and template0: no test creates a database from them.
  for (const oid of ["1", "4"]) {
    await Deno.remove(`${cluster}/base/${oid}`, { recursive: true });
  }
  await Deno.writeTextFile(
    `${cluster}/postgresql.conf`,
    "shared_buffers = 16MB\n",
    { append: true },
  );
}
