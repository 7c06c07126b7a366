import postgres from "postgres";
import {
  type Database,
  type DatabaseSettings,
  openDatabase,
  type Queries,
} from "../../../db/database.ts";
import { install, migrate } from "../../../db/migrate.ts";
import { SETTINGS } from "./harness.ts";
import { emptyFolder, version } from "./prepared_folder.ts";

/** An empty database for this test alone. */
export interface FreshDatabase extends AsyncDisposable {
  settings: DatabaseSettings;
  database: Database;
  operations: Queries;
}

/** Creates a database beside that of `TEST_DATABASE_URL`, or an embedded one. */
export async function openFreshDatabase(): Promise<FreshDatabase> {
  if (!SETTINGS.url) {
    const dataDir = await emptyFolder();
    return fresh(
      SETTINGS,
      await openDatabase({ ...SETTINGS, dataDir }),
      () => Deno.remove(dataDir, { recursive: true }),
    );
  }
  return await created();
}

/** Creates a database with schema and code lists, on the server of `TEST_DATABASE_URL`. */
export async function openInstalledDatabase(): Promise<FreshDatabase> {
  const copy = await created(`template ${await template()}`);
  // A copy starts an origin of its own.
  await migrate(copy.operations);
  return copy;
}

async function created(options = ""): Promise<FreshDatabase> {
  const name = `fresh_${crypto.randomUUID().replaceAll("-", "")}`;
  await administer(`create database ${name} ${options}`);
  const settings = settingsOf(name);
  return fresh(
    settings,
    await openDatabase(settings),
    () => administer(`drop database ${name} with (force)`),
  );
}

/**
 * The name of the database that the installed ones are copies of, since to install one takes
 * seconds. It takes connections only until it is complete.
 */
async function template(): Promise<string> {
  const name = `catalogue_tests_${await version()}`;
  const sql = postgres(SETTINGS.url!, { max: 1, prepare: SETTINGS.prepare });
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext(${name}))`;
    const complete = await tx`select from pg_database where datname = ${name} and not datallowconn`;
    if (complete.length > 0) return;
    await administer(`drop database if exists ${name} with (force)`);
    await administer(`create database ${name}`);
    const database = await openDatabase(settingsOf(name));
    await install(database.for({ deadline: performance.now() + 600_000 }));
    await database.close();
    await administer(`alter database ${name} with allow_connections false`);
    // PgBouncer keeps connections of its own.
    await tx`select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = ${name}`;
  });
  await sql.end();
  return name;
}

/** The settings for another database of the server. */
function settingsOf(name: string): DatabaseSettings {
  const url = new URL(SETTINGS.url!);
  url.pathname = name;
  return { ...SETTINGS, url: url.href };
}

function fresh(
  settings: DatabaseSettings,
  database: Database,
  drop: () => Promise<void>,
): FreshDatabase {
  return {
    settings,
    database,
    operations: database.for({ deadline: performance.now() + 600_000 }),
    async [Symbol.asyncDispose]() {
      await database.close();
      await drop();
    },
  };
}

async function administer(statement: string): Promise<void> {
  const sql = postgres(SETTINGS.url!, { max: 1 });
  await sql.unsafe(statement);
  await sql.end();
}
