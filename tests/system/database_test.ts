import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Database, openDatabase } from "../../db/database.ts";
import { pause } from "../../db/connections/deadline.ts";
import { shared } from "../../db/connections/gathering.ts";
import { pipelined, type Sql, type Tx } from "../../db/connections/sql.ts";
import { ApiError } from "../../schema/errors.ts";
import { SETTINGS } from "../support/harness.ts";
import { script } from "../support/script.ts";

const MINUTE_MS = 60_000;

/** Operations with more time than they need. */
function soon(database: Database) {
  return database.until(performance.now() + MINUTE_MS);
}

/** Throws the SQLSTATE as PostgreSQL does. */
function raise(sql: Sql, state: string) {
  return sql.unsafe(`do $$ begin raise sqlstate '${state}'; end $$`);
}

Deno.test("openDatabase", async (t) => {
  const database = await openDatabase(SETTINGS);
  const table = `notes_${crypto.randomUUID().replaceAll("-", "")}`;
  await script(
    soon(database),
    (sql) => sql`create table ${sql(table)} (note text not null)`,
  );
  const write = (sql: Sql, note: string) =>
    sql`insert into ${sql(table)} (note) values (${note})`;
  const isStored = async (note: string) => {
    const rows = await script(
      soon(database),
      (sql) => sql`select from ${sql(table)} where note = ${note}`,
    );
    return rows.length > 0;
  };

  await t.step("stores what a transaction has written", async () => {
    await soon(database).transaction((sql) => write(sql, "committed"));

    assert(await isStored("committed"));
  });

  await t.step("stores nothing of a transaction that throws", async () => {
    await assertRejects(
      () =>
        soon(database).transaction(async (sql) => {
          await write(sql, "thrown");
          throw new TypeError("On purpose");
        }),
      TypeError,
    );

    assert(!await isStored("thrown"));
  });

  await t.step(
    "does not call a transaction stored whose failure was overlooked",
    async () => {
      await assertRejects(() =>
        soon(database).transaction(async (sql) => {
          await write(sql, "overlooked");
          await raise(sql, "22012").catch(() => {});
        })
      );

      assert(!await isStored("overlooked"));
    },
  );

  await t.step(
    "throws the first failure of what is sent in one go",
    async () => {
      const error = await assertRejects(() =>
        soon(database).transaction((sql) =>
          pipelined([
            sql`select`,
            { statement: sql`select 1 / ${0}::int`, rows: 1 },
            sql`select`,
          ])
        )
      );

      assertEquals((error as { code?: string }).code, "22012");
    },
  );

  for (
    const [what, kind, expected] of [
      ["reads", "read", 2],
      ["look-ups", "lookUp", 2],
    ] as const
  ) {
    await t.step(`asks as many ${what} as it has connections`, async () => {
      let [running, most] = [0, 0];

      await Promise.all(
        Array.from(
          { length: 50 },
          (_, i) =>
            soon(database)[kind](shared(`${i}`, async (sql) => {
              most = Math.max(most, ++running);
              await sql`select`;
              running--;
            })),
        ),
      );

      assertEquals(most, SETTINGS.url ? expected : 1);
    });
  }

  await t.step("looks up beside reads that take long", async () => {
    let slept = false;
    const sleeping = Promise.all(Array.from(
      { length: 2 },
      () => script(soon(database), (sql) => sql.unsafe("select pg_sleep(0.2)")),
    )).then(() => slept = true);
    await soon(database).lookUp(shared("nothing", (sql) => sql`select`));

    // An embedded database does one thing after another.
    if (SETTINGS.url) assert(!slept);
    await sleeping;
  });

  await t.step("keeps rows before a failure from the next one", async () => {
    for (let i = 0; i < 2 * SETTINGS.poolSize; i++) {
      await assertRejects(() =>
        script(
          soon(database),
          (sql) => sql`select ${3}::int / (2 - x) from generate_series(0, 2) x`,
        )
      );
      const rows = await script(
        soon(database),
        (sql) => sql`select ${i}::int as i`,
      );

      assertEquals([...rows], [{ i }]);
    }
  });

  await t.step("gives back the place of work that throws at once", async () => {
    for (let i = 0; i < 2 * SETTINGS.poolSize; i++) {
      await assertRejects(
        () =>
          database.until(performance.now() + 1_000).run(() => {
            throw new TypeError("On purpose");
          }),
        TypeError,
      );
    }

    assertEquals(database.load, { used: 0, waiting: 0 });
  });

  for (const state of ["40001", "40P01"]) {
    await t.step(`runs a transaction three times for ${state}`, async () => {
      let runs = 0;

      await assertRejects(() =>
        soon(database).transaction(async (sql) => {
          runs++;
          await raise(sql, state);
        })
      );

      assertEquals(runs, 3);
    });
  }

  await t.step("stores the run that succeeds, and no other", async () => {
    let runs = 0;

    await soon(database).transaction(async (sql) => {
      await write(sql, `run ${++runs}`);
      if (runs < 3) await raise(sql, "40001");
    });

    assertEquals(
      [
        await isStored("run 1"),
        await isStored("run 2"),
        await isStored("run 3"),
      ],
      [false, false, true],
    );
  });

  await t.step("runs a transaction once for any other failure", async () => {
    let runs = 0;

    await assertRejects(() =>
      soon(database).transaction(async (sql) => {
        runs++;
        await raise(sql, "23514");
      })
    );

    assertEquals(runs, 1);
  });

  await t.step("lends its handle for the time of the operation", async () => {
    let [ofRead, ofTransaction]: [Sql?, Tx?] = [];
    await script(soon(database), (sql) => {
      ofRead = sql;
      return sql`select`;
    });
    await soon(database).transaction((sql) => {
      ofTransaction = sql;
      return sql`select`;
    });

    for (const sql of [ofRead!, ofTransaction!]) {
      await assertRejects(async () => await write(sql, "late"));
      await assertRejects(async () => await sql.unsafe("select"));
    }

    assert(!await isStored("late"));
  });

  await t.step(
    "stores nothing of a transaction after its deadline",
    async () => {
      const error = await assertRejects(
        () =>
          database.until(performance.now() + 50).transaction(async (sql) => {
            await write(sql, "too late");
            await pause(100);
          }),
        ApiError,
      );

      assertEquals(error.code, "SERVICE_UNAVAILABLE");
      assertEquals(error.headers["retry-after"], "1");
      while (database.load.used > 0) await pause(10);
      assert(!await isStored("too late"));
    },
  );

  await t.step("starts nothing after its deadline", async () => {
    let started = false;

    const error = await assertRejects(
      () =>
        database.until(performance.now() - 1).transaction((sql) => {
          started = true;
          return sql`select`;
        }),
      ApiError,
    );

    assertEquals(error.code, "SERVICE_UNAVAILABLE");
    assertEquals(started, false);
  });

  await script(soon(database), (sql) => sql`drop table ${sql(table)}`);

  await t.step("lets what runs finish when it is closed", async () => {
    const running = soon(database).transaction(async (sql) => {
      await sql`select`;
      await pause(50);
      return await sql<{ done: boolean }[]>`select true as done`;
    });
    await pause(10);

    await database.close();

    assertEquals([...await running], [{ done: true }]);
  });

  await t.step("refuses everything once it is closed", async () => {
    await assertRejects(() => script(soon(database), (sql) => sql`select`));
  });
});

Deno.test({
  name: "A commit that is cancelled leaves nothing behind",
  // It takes two sessions of a server.
  ignore: !SETTINGS.url || !SETTINGS.prepare,
  async fn() {
    const database = await openDatabase({ ...SETTINGS, poolSize: 2 });
    const canceller = await openDatabase({ ...SETTINGS, poolSize: 1 });
    const commit = () =>
      soon(database).transaction(async (sql) => {
        const [row] = await sql<
          { pid: number }[]
        >`select pg_backend_pid() as pid`;
        return row!.pid;
      });
    const pid = await commit();
    const end = performance.now() + 3_000;
    let failed = 0;
    const isOver = () => failed > 1 || performance.now() > end;
    const cancel = async () => {
      while (!isOver()) {
        await script(soon(canceller), (sql) =>
          sql`
            select pg_cancel_backend(pid)
            from pg_stat_activity
            where pid = ${pid} and query = 'commit' and state = 'active'
          `);
      }
    };

    const cancelling = cancel();
    while (!isOver()) await commit().catch(() => failed++);
    await cancelling;

    for (let i = 0; i < 10; i++) await commit();
    await database.close();
    await canceller.close();
  },
});
