import { gunzip } from "node:zlib";
import { promisify } from "node:util";
import { raw, sql } from "../../db/connections/sql.ts";
import type { Queries } from "../../db/database.ts";
import { asScript } from "../../db/connections/transaction.ts";

const HERE = new URL("./", import.meta.url);

/** The names of the dumps of this folder, which `make.ts` has made. */
export const DUMPS = [...Deno.readDirSync(HERE)]
  .flatMap(({ name }) => /^(.*)\.sql\.gz$/.exec(name)?.[1] ?? [])
  .sort();

/** What the service answered when the dump was made. */
export interface Answers {
  organization: string;
  key: string;
  /** Products, by what has happened to them. */
  renamed: string;
  deleted: string;
  edited: string;
  imported: string;
  /** The message with the imported product, without its time. */
  onix: string;
  /** The data of the answers to GET, by path. */
  answers: Record<string, unknown>;
}

/** The answers that stand beside a dump. */
export async function answersOf(name: string): Promise<Answers> {
  return JSON.parse(await Deno.readTextFile(new URL(`${name}.json`, HERE)));
}

/**
 * Restores a dump into an empty database, which takes the place of the dumped one: its change
 * versions go on from there, and it is no copy.
 */
export async function restore(name: string, database: Queries): Promise<void> {
  const compressed = await Deno.readFile(new URL(`${name}.sql.gz`, HERE));
  const dump = new TextDecoder().decode(await promisify(gunzip)(compressed));
  // Settings would outlast the transaction, and psql alone knows its commands.
  const text = dump.replaceAll(/^(?:\\|SET |SELECT pg_catalog\.set_config).*$/gm, "");
  await database.transaction(async (tx) => {
    await tx.send(
      raw("set local check_function_bodies = off"),
      sql`select set_config('catalogue.dump', ${text}, true)`,
      raw("do $$ begin execute current_setting('catalogue.dump'); end $$"),
      raw(`do $$
        declare origin uuid = (select id from change_origins);
        begin
          perform begin_origin((select max(change_version) from product_changes));
          update change_origins set id = origin;
        end $$`),
    );
    await tx.commit();
  }, asScript);
}
