/**
 * Fills an embedded database in the given folder until the disk is full and
 * PostgreSQL needs another WAL segment. That ends the process, so this runs in
 * its own.
 */
import { statfs } from "node:fs/promises";
import { openDatabase } from "../../../db/database.ts";
import { pause } from "../../../db/connections/deadline.ts";
import { script } from "../sql/script.ts";

const [dataDir = ""] = Deno.args;
const database = await openDatabase({
  dataDir,
  poolSize: 1,
  statementTimeoutMs: 10_000,
  prepare: true,
});
const operations = database.for({ deadline: performance.now() + 60_000 });
await script(operations, (sql) => sql`create table notes (text text)`);
const { bavail, bsize } = await statfs(dataDir);
await Deno.writeFile(
  `${dataDir}/ballast`,
  new Uint8Array(bavail * bsize - 1_000_000),
);
for (let i = 1; i <= 3; i++) {
  await script(operations, (sql) => sql`insert into notes values (${i})`);
  console.log(i);
  await pause(100);
  await script(operations, (sql) => sql`select pg_switch_wal()`);
}
