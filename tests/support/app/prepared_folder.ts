import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import config from "../../../deno.json" with { type: "json" };
import { type Database, openDatabase } from "../../../db/database.ts";
import { install } from "../../../db/migrate.ts";
import { readSchema, readSeed } from "../../../db/sql_files.ts";

/**
 * A folder with an embedded database with schema and code lists, for one test file.
 * Creating one takes seconds, so it is created once and cached until `sql/`, the
 * release of PGlite or this file changes. Each test file gets a copy, at `folder`,
 * or in a new place until all its tests have ended.
 */
export async function preparedFolder(folder?: string): Promise<string> {
  return await copyOf("data", folder);
}

/** The same without tables. */
export async function emptyFolder(folder?: string): Promise<string> {
  return await copyOf("empty", folder);
}

async function copyOf(
  source: "data" | "empty",
  folder?: string,
): Promise<string> {
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
  const copy = folder ?? await temporaryFolder();
  await copyFolder(`${prepared}/${source}`, copy);
  return copy;
}

const temporary: string[] = [];

async function temporaryFolder(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "catalogue-test-" });
  temporary.push(folder);
  return folder;
}

// Also after a test that has failed, and while none of its processes has the folder open.
Deno.test.afterAll(async () => {
  for (const folder of temporary) {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
});

/** Deno's own copy takes twice as long, and fills the holes of sparse files. */
async function copyFolder(from: string, to: string): Promise<void> {
  const args = ["-r", `${from}/.`, to];
  const { success } = await new Deno.Command("cp", { args }).output();
  if (!success) throw new Error(`Could not copy ${from} to ${to}`);
}

/** The cache key: the sources of the folder, and the user, because users do not share it. */
export async function version(): Promise<string> {
  const files = [...await readSchema(), await readSeed()];
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
  const [empty, dataDir] = [`${prepared}/empty`, `${prepared}/data`];
  for (const folder of [empty, dataDir]) {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
  await (await open(empty)).close();
  await lighten(`${empty}/postgres`);
  await Deno.mkdir(dataDir);
  await copyFolder(empty, dataDir);
  const database = await open(dataDir);
  await install(database.for({ deadline: performance.now() + 120_000 }));
  await database.close();
  for (const folder of [empty, dataDir]) {
    await makeSparse(`${folder}/postgres/pg_wal`);
  }
  await Deno.writeTextFile(`${prepared}/done`, "");
}

function open(dataDir: string): Promise<Database> {
  return openDatabase({
    dataDir,
    poolSize: 1,
    statementTimeoutMs: 60_000,
    prepare: true,
  });
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

/** Makes the zeros at the end of each segment a hole, which takes no time to copy. */
async function makeSparse(log: string): Promise<void> {
  for await (const { name, isFile } of Deno.readDir(log)) {
    if (!isFile) continue;
    const segment = `${log}/${name}`;
    const bytes = await Deno.readFile(segment);
    await Deno.truncate(segment, bytes.findLastIndex((byte) => byte) + 1);
    await Deno.truncate(segment, bytes.length);
  }
}
