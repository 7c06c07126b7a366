/*
 * `deno test` runs each file in a worker of its own, which loads the service,
 * compiles the embedded database and opens it. That takes longer than most files.
 * So `deno task test` runs shards: files that import a share of all tests, and use
 * one database. A file of tests also runs alone: `deno task test FILE`.
 */

import { IS_ONE_OF_SEVERAL } from "../support/app/sample.ts";
import measured from "./seconds.json" with { type: "json" };
import { timesOf } from "./times.ts";

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
  "http/client_test http/docs_test http/openapi_test http/unread_responses_test",
  "input/body_test input/validate_in_turns_test",
  "onix/as_written_test onix/cost_test onix/facts_test onix/incoming_test onix/limits_test",
  "onix/lost_parts_test onix/outgoing_test onix/pieces_test onix/read_test onix/releases_test",
  "onix/report_test onix/samples_test onix/well_formed_test",
  "system/cli_test system/config_test system/deadline_test system/expressions_test system/image_test",
  "system/layers_test system/memory_test system/output_test system/pages_test",
  "system/parse_queue_test system/queue_test",
  "webhooks/guide_test webhooks/names_test webhooks/schedule_test webhooks/targets_test",
  "webhooks/tls_test",
].flatMap((line) => line.split(" ").map((file) => `${file}.ts`));

/** Long series of generated cases. What they test is decided without a statement of their own, so one database is enough. */
const SERIES = [
  "input/odd_values_test.ts",
  "onix/both_sides_test.ts",
  "onix/every_edit_test.ts",
  "onix/odd_records_test.ts",
  "onix/rows_test.ts",
];

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
  .filter((path) => !(IS_ONE_OF_SEVERAL && SERIES.includes(path)))
  .sort();

/** The share of all tests that each shard has. The last ones are short, so that all workers end at about the same time. */
const SHARES = [3, 3, 3, 1, 1, 1];

/** Files that take longer, in seconds. `deno task balance` measures them. */
const SECONDS: Record<string, number> = measured;

/** The seconds that all other files take. */
const SHORT = 1;

/** Imports the tests of the shard with this number, from 1. */
export async function importShard(number: number): Promise<void> {
  for (const file of shards()[number - 1]!) {
    using _times = timesOf(file);
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
