/*
 * `deno test` runs each file in a worker of its own, which loads the service,
 * compiles the embedded database and opens it. That takes longer than most files.
 * So `deno task test` runs shards: files that import a share of all tests, and use
 * one database. A file of tests also runs alone: `deno task test FILE`.
 */

const TESTS = new URL("../", import.meta.url);

/** The folders whose files need a worker or servers of their own: `deno.json` names them. */
const ALONE = ["faults", "load", "processes", "scale", "shards"];

/** The files that are divided among the shards: those of all other folders. */
const FILES = [...Deno.readDirSync(TESTS)]
  .filter(({ name, isDirectory }) =>
    isDirectory && !ALONE.includes(name) &&
    // The tests of the embedded database open no other one, so they run once.
    !(name === "embedded" && Deno.env.has("TEST_DATABASE_URL"))
  )
  .flatMap((folder) =>
    [...Deno.readDirSync(new URL(`${folder.name}/`, TESTS))]
      .map(({ name }) => `${folder.name}/${name}`)
  )
  .filter((path) => path.endsWith("_test.ts"))
  .sort();

/** The share of all tests that each shard has. The last ones are short, so that all workers end at about the same time. */
const SHARES = [3, 3, 3, 1, 1, 1];

/** The seconds that the longest files take, roughly. A file that is not listed takes `SHORT`. */
const SECONDS: Record<string, number> = {
  "access/credentials_test.ts": 4,
  "access/jwks_outage_test.ts": 6,
  "embedded/connection_memory_test.ts": 3,
  "embedded/data_folder_test.ts": 4,
  "embedded/embedded_test.ts": 7,
  "embedded/every_field_test.ts": 7,
  "embedded/full_disk_test.ts": 3,
  "embedded/log_outage_test.ts": 6,
  "embedded/maintenance_test.ts": 3,
  "history/history_test.ts": 15,
  "history/restore_test.ts": 25,
  "history/retention_test.ts": 4,
  "http/client_test.ts": 7,
  "http/docs_test.ts": 15,
  "http/flood_test.ts": 9,
  "http/openapi_test.ts": 4,
  "http/unread_responses_test.ts": 6,
  "input/body_test.ts": 4,
  "input/fields_test.ts": 5,
  "input/fuzz_test.ts": 3,
  "model/random_writes_test.ts": 12,
  "onix/cost_test.ts": 3,
  "onix/edits_test.ts": 5,
  "onix/every_edit_test.ts": 8,
  "onix/import_test.ts": 15,
  "onix/outgoing_test.ts": 3,
  "onix/samples_import_test.ts": 6,
  "products/arrays_test.ts": 5,
  "products/changes_origin_test.ts": 5,
  "products/renames_test.ts": 3,
  "products/size_limits_test.ts": 14,
  "products/sql_writes_test.ts": 15,
  "products/totals_test.ts": 4,
  "products/territories_test.ts": 6,
  "sheets/sheets_test.ts": 10,
  "system/database_test.ts": 4,
  "system/doctor_test.ts": 4,
  "system/migrate_test.ts": 5,
  "system/start_test.ts": 10,
  "system/stop_test.ts": 9,
  "system/transfer_process_test.ts": 14,
  "system/transfer_test.ts": 7,
  "webhooks/messages_test.ts": 8,
  "webhooks/operators_test.ts": 4,
  "webhooks/retries_test.ts": 35,
  "webhooks/targets_test.ts": 3,
  "webhooks/tls_test.ts": 5,
};

const SHORT = 1;

/** Imports the tests of the shard with this number, from 1. */
export async function importShard(number: number): Promise<void> {
  for (const file of shards()[number - 1]!) {
    await import(new URL(file, TESTS).href);
  }
}

/** The files of each shard. The longest are dealt out first, each to the shard that has least of its share to do. */
function shards(): string[][] {
  const secondsOf = (file: string) => SECONDS[file] ?? SHORT;
  const shards = SHARES.map((share) => ({
    files: [] as string[],
    share,
    seconds: 0,
  }));
  for (const file of FILES.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const least = shards.reduce((a, b) =>
      (b.seconds + secondsOf(file)) / b.share <
          (a.seconds + secondsOf(file)) / a.share
        ? b
        : a
    );
    least.files.push(file);
    least.seconds += secondsOf(file);
  }
  return shards.map(({ files }) => files);
}
