import { join } from "node:path";
import postgres from "postgres";
import { openDatabase } from "../../db/database.ts";
import { install } from "../../db/migrate.ts";
import { isFile } from "../onix/schemas.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { binaries, type Cluster, startCluster } from "../support/servers/cluster.ts";
import { compare } from "./citus_figures.ts";

/*
 * Starts a Citus cluster on this machine, a coordinator and two workers, with a database that
 * sql/citus.sql has distributed:
 *
 *     deno run -A --lock=tests/deno.lock tests/scale/citus_cluster.ts figures       the figures beside those of plain PostgreSQL
 *     deno run -A --lock=tests/deno.lock tests/scale/citus_cluster.ts deno test …   a command with DATABASE_URL and TEST_DATABASE_URL
 *     deno run -A --lock=tests/deno.lock tests/scale/citus_cluster.ts               the URL, until it is interrupted
 *
 * Needs Citus 13 and its PostgreSQL, from packages or from https://github.com/citusdata/citus.
 */

const NODE = {
  shared_preload_libraries: "citus",
  wal_level: "logical",
  max_connections: 200,
  max_prepared_transactions: 200,
  fsync: "off",
  // Root's folder has certificates that the nodes may not read.
  "citus.node_conninfo": "sslmode=disable",
  "citus.shard_count": 32,
};

/** The password of the superuser, by which the nodes connect to each other. */
const PASSWORD = crypto.randomUUID();

/** A connection to a database of a node, which may write. */
function connect(node: Cluster, database: string): postgres.Sql {
  const url = new URL(node.url);
  url.pathname = database;
  return postgres(url.href, {
    max: 1,
    onnotice: () => {},
    connection: { default_transaction_read_only: false },
  });
}

async function run(node: Cluster, database: string, ...statements: string[]): Promise<void> {
  const sql = connect(node, database);
  for (const statement of statements) await sql.unsafe(statement);
  await sql.end();
}

/** Starts a node with the database `catalogue`, whose superuser has the common password. */
async function startNode(): Promise<Cluster> {
  const node = await startCluster(NODE);
  await run(node, "postgres", "create database catalogue");
  await run(
    node,
    "catalogue",
    "create extension citus",
    `insert into pg_dist_authinfo values (0, 'postgres', 'password=${PASSWORD}')`,
    `alter user postgres password '${PASSWORD}'`,
  );
  const url = new URL(node.url);
  url.password = PASSWORD;
  return { ...node, url: url.href };
}

/** The URL of a database of the node, with schema and code lists. */
async function installed(node: Cluster, name: string): Promise<string> {
  const url = new URL(node.url);
  url.pathname = name;
  await using database = await openDatabase({ ...SETTINGS, url: url.href });
  await install(database.for({ deadline: performance.now() + 120_000 }));
  return url.href;
}

async function runCommand(url: string, [program, ...args]: string[]): Promise<number> {
  const env = { DATABASE_URL: url, TEST_DATABASE_URL: url };
  return (await new Deno.Command(program!, { args, env }).spawn().status).code;
}

async function main([first, ...others]: string[]): Promise<number> {
  const folder = binaries();
  if (!folder || !isFile(join(folder, "../lib/citus.so"))) {
    console.error("Skipped: Citus is not installed on this machine.");
    return 0;
  }
  await using coordinator = await startNode();
  await using one = await startNode();
  await using two = await startNode();
  await run(
    coordinator,
    "catalogue",
    `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
    ...[one, two].map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`),
  );
  const url = await installed(coordinator, "catalogue");
  const distribute = await Deno.readTextFile(new URL("../../sql/citus.sql", import.meta.url));
  await run(coordinator, "catalogue", distribute);
  if (first === "figures") {
    await run(coordinator, "postgres", "create database plain");
    console.log(await compare(await installed(coordinator, "plain"), url));
    return 0;
  }
  if (first) return await runCommand(url, [first, ...others]);
  console.log(url);
  await new Promise((resolve) => Deno.addSignalListener("SIGINT", () => resolve(undefined)));
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
