import { assert, assertEquals } from "@std/assert";
import { maintain } from "../../db/connections/embedded.ts";
import { raw, sql, type Statement } from "../../db/connections/sql.ts";
import { openDatabase } from "../../db/database.ts";
import { eventually } from "../support/app/eventually.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { emptyFolder } from "../support/app/prepared_folder.ts";

const MIB = 1_048_576;

Deno.test("The maintenance of the embedded database", async ({ step: it }) => {
  const dataDir = await emptyFolder();
  const database = await openDatabase({ ...SETTINGS, url: undefined, dataDir });
  const queries = database.for({ deadline: performance.now() + 60_000 });
  const run = <S extends Statement>(statement: S) => queries.scan(statement);
  const table = raw('"Odd name"');
  await run(sql`create table ${table} (id int primary key, note text)`);
  await run(sql`
    insert into ${table} select n, repeat('a', 200) from generate_series(1, 5000) n
  `);

  /** Statistics of changes are otherwise up to a second late. */
  async function maintainNow() {
    await run(sql`select pg_stat_force_next_flush()`);
    await maintain(queries);
  }

  async function sizes() {
    const [row] = await run(sql<{ table: string; log: string }>`
      select pg_total_relation_size('"Odd name"') as table, pg_current_wal_lsn() - redo_lsn as log
      from pg_control_checkpoint()
    `);
    return { table: Number(row!.table), log: Number(row!.log) };
  }

  await it("reclaims the space of old rows", async () => {
    const before = await sizes();
    for (let round = 1; round <= 8; round++) {
      await run(sql`update ${table} set note = repeat(${String(round)}, 200)`);
      await maintainNow();
    }

    const after = await sizes();
    assert(
      after.table < 3 * before.table,
      `${before.table} grew to ${after.table} bytes`,
    );
  });

  await it("renews the planner's statistics", async () => {
    const [row] = await run(sql<{ rows: number }>`
      select reltuples::int as rows from pg_class where oid = '"Odd name"'::regclass
    `);
    assertEquals(Number(row!.rows), 5000);
  });

  await it("vacuums no table without changes", async () => {
    const vacuums = () =>
      run(sql<{ vacuums: string }>`
        select sum(vacuum_count) as vacuums from pg_stat_user_tables
      `);
    const before = await vacuums();
    await maintainNow();

    assertEquals(await vacuums(), before);
  });

  await it("bounds the write-ahead log", async () => {
    await eventually(true, async () => {
      await run(sql`update ${table} set note = note`);
      return (await sizes()).log >= 64 * MIB;
    });
    await maintainNow();

    const { log } = await sizes();
    assert(log < MIB, `${log} bytes would be replayed after a crash`);
  });

  await database.close();
});
