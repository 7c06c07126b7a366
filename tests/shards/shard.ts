/*
 * `deno test` runs each file in a worker of its own, which loads the service,
 * compiles the embedded database and opens it. That takes longer than most files.
 * So `deno task test` runs shards: files that import a share of all tests, and use
 * one database. A file of tests also runs alone: `deno task test FILE`.
 */

const TESTS = new URL("../", import.meta.url);

/** The folders whose tests are divided among the shards. */
const FOLDERS = [
  "access",
  // These open no other database, so they run once.
  ...Deno.env.get("TEST_DATABASE_URL") ? [] : ["embedded"],
  "http",
  "input",
  "model",
  "onix",
  "products",
  "references",
  "system",
  "webhooks",
];

/** More shards than cores, so that the last one to end is short. */
const SHARDS = 12;

/** Imports the tests of the shard with this number, from 1. */
export async function importShard(number: number): Promise<void> {
  const files = FOLDERS.flatMap((folder) =>
    [...Deno.readDirSync(new URL(folder, TESTS))]
      .map(({ name }) => `${folder}/${name}`)
  ).filter((path) => path.endsWith("_test.ts")).sort();
  for (let i = number - 1; i < files.length; i += SHARDS) {
    await import(new URL(files[i]!, TESTS).href);
  }
}
