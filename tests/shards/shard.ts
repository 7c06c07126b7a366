/*
 * `deno test` runs each file in a worker of its own, which loads the service,
 * compiles the embedded database and opens it. That takes longer than most files.
 * So `deno task test` runs shards: files that import a share of all tests, and use
 * one database. A file of tests also runs alone: `deno task test FILE`.
 */

const TESTS = new URL("../", import.meta.url);

/** The folders whose files need a worker or servers of their own: `deno.json` names them. */
const ALONE = ["faults", "load", "processes", "scale", "shards"];

/**
 * What a server changes nothing of, so that it runs on the embedded database alone: files that
 * open no database, that open the embedded one themselves, or that test what is decided before a
 * statement is sent, or after its rows were read.
 */
const ON_EMBEDDED = [
  "access/jwks_test access/jwks_outage_test access/token_test",
  "http/client_test http/docs_test http/openapi_test http/unread_responses_test input/body_test",
  "onix/as_written_test onix/cost_test onix/facts_test onix/incoming_test onix/limits_test",
  "onix/lost_parts_test onix/outgoing_test onix/pieces_test onix/read_test onix/releases_test",
  "onix/report_test onix/samples_test onix/well_formed_test",
  "system/cli_test system/config_test system/deadline_test system/image_test",
  "system/layers_test system/memory_test system/output_test system/pages_test",
  "system/parse_queue_test system/queue_test",
  "webhooks/guide_test webhooks/names_test webhooks/schedule_test webhooks/targets_test",
  "webhooks/tls_test",
].flatMap((line) => line.split(" ").map((file) => `${file}.ts`));

/** The files that are divided among the shards: those of all other folders. */
const FILES = [...Deno.readDirSync(TESTS)]
  .filter(({ name, isDirectory }) => isDirectory && !ALONE.includes(name))
  .flatMap((folder) =>
    [...Deno.readDirSync(new URL(`${folder.name}/`, TESTS))]
      .map(({ name }) => `${folder.name}/${name}`)
  )
  .filter((path) => path.endsWith("_test.ts"))
  .filter((path) =>
    !Deno.env.has("TEST_DATABASE_URL") ||
    !(path.startsWith("embedded/") || ON_EMBEDDED.includes(path))
  )
  .sort();

/** The share of all tests that each shard has. The last ones are short, so that all workers end at about the same time. */
const SHARES = [3, 3, 3, 1, 1, 1];

/** The seconds that the longest files take, roughly. A file that is not listed takes `SHORT`. */
const SECONDS: Record<string, number> = {
  "access/credentials_test.ts": 3,
  "access/ended_credentials_test.ts": 8,
  "access/jwks_outage_test.ts": 3,
  "embedded/connection_memory_test.ts": 4,
  "embedded/data_folder_test.ts": 11,
  "embedded/embedded_test.ts": 17,
  "embedded/every_field_test.ts": 14,
  "embedded/full_disk_test.ts": 5,
  "embedded/log_outage_test.ts": 6,
  "embedded/maintenance_test.ts": 4,
  "embedded/telemetry_test.ts": 3,
  "history/history_test.ts": 12,
  "history/restore_test.ts": 12,
  "http/client_test.ts": 16,
  "http/docs_test.ts": 25,
  "http/flood_test.ts": 32,
  "http/openapi_test.ts": 8,
  "http/unread_responses_test.ts": 6,
  "input/body_test.ts": 5,
  "input/fields_test.ts": 12,
  "input/fuzz_test.ts": 5,
  "input/odd_values_test.ts": 20,
  "model/random_writes_test.ts": 9,
  "onix/both_sides_test.ts": 37,
  "onix/cost_test.ts": 7,
  "onix/edits_test.ts": 27,
  "onix/every_edit_test.ts": 26,
  "onix/hostile_test.ts": 4,
  "onix/import_test.ts": 20,
  "onix/lost_parts_test.ts": 4,
  "onix/odd_records_test.ts": 27,
  "onix/read_test.ts": 3,
  "onix/readiness_test.ts": 5,
  "onix/readings_test.ts": 12,
  "onix/rows_test.ts": 14,
  "onix/samples_import_test.ts": 5,
  "products/arrays_test.ts": 12,
  "products/batch_test.ts": 4,
  "products/changes_interleaved_test.ts": 11,
  "products/changes_origin_test.ts": 4,
  "products/changes_test.ts": 4,
  "products/concurrency_test.ts": 5,
  "products/finding_table_test.ts": 5,
  "products/list_products_test.ts": 4,
  "products/long_texts_test.ts": 4,
  "products/renames_test.ts": 7,
  "products/size_limits_test.ts": 20,
  "products/sql_writes_test.ts": 29,
  "products/territories_test.ts": 4,
  "products/totals_test.ts": 4,
  "products/update_product_test.ts": 4,
  "references/in_use_test.ts": 7,
  "sheets/hostile_test.ts": 6,
  "sheets/sheets_test.ts": 10,
  "system/cli_test.ts": 4,
  "system/database_test.ts": 7,
  "system/doctor_test.ts": 6,
  "system/install_test.ts": 3,
  "system/migrate_test.ts": 5,
  "system/prepared_statements_test.ts": 3,
  "system/start_test.ts": 13,
  "system/stop_test.ts": 9,
  "system/transfer_process_test.ts": 24,
  "system/transfer_test.ts": 16,
  "webhooks/guide_test.ts": 4,
  "webhooks/messages_test.ts": 12,
  "webhooks/names_test.ts": 5,
  "webhooks/operators_test.ts": 6,
  "webhooks/retries_test.ts": 36,
  "webhooks/targets_test.ts": 3,
  "webhooks/tls_test.ts": 4,
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
