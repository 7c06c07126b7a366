import postgres from "postgres";
import {
  type Database,
  type DatabaseSettings,
  openDatabase,
  type Queries,
} from "../../../db/database.ts";
import { SETTINGS } from "./harness.ts";
import { emptyFolder } from "./prepared_folder.ts";

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
  const name = `fresh_${crypto.randomUUID().replaceAll("-", "")}`;
  await administer(`create database ${name}`);
  const url = new URL(SETTINGS.url);
  url.pathname = name;
  const settings = { ...SETTINGS, url: url.href };
  return fresh(
    settings,
    await openDatabase(settings),
    () => administer(`drop database ${name} with (force)`),
  );
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
