import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { organization, raw, sql } from "../../db/connections/sql.ts";
import type { Transaction } from "../../db/connections/transaction.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { ApiError } from "../../schema/errors.ts";
import { eventually } from "../support/app/eventually.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { startSleepers } from "../support/app/sleepers.ts";
import { script } from "../support/sql/script.ts";
import { TIMED } from "../support/app/deadline.ts";

const MINUTE_MS = 60_000;

/** Operations with a long deadline. */
function soon(database: Database) {
  return database.for({ deadline: performance.now() + MINUTE_MS });
}

/** Throws this SQLSTATE, like PostgreSQL. */
function raise(state: string) {
  return raw(`do $$ begin raise sqlstate '${state}'; end $$`);
}

Deno.test("openDatabase", TIMED, async ({ step: it }) => {
  const database = await openDatabase(SETTINGS);
  const table = raw(`notes_${crypto.randomUUID().replaceAll("-", "")}`);
  await script(
    soon(database),
    (sql) => sql`create table ${table} (note text not null)`,
  );
  const write = (note: string) => sql`insert into ${table} (note) values (${note})`;
  const stored = async () => {
    const [row] = await soon(database).lookUp(
      sql<{ notes: number }>`select count(*)::int as notes from ${table}`,
    );
    return row!.notes;
  };
  const isStored = async (note: string) => {
    const rows = await soon(database).lookUp(
      sql`select from ${table} where note = ${note}`,
    );
    return rows.length > 0;
  };

  await it("stores the writes of a transaction", async () => {
    const results = await soon(database).transaction(async (tx) => {
      await tx.send(write("first flight"));
      return await tx.commit(
        write("second flight"),
        sql<{ notes: number }>`select count(*)::int as notes from ${table}`,
      );
    });

    assertEquals(results[0].count, 1);
    assertEquals([...results[1]], [{ notes: 2 }]);
    assert(await isStored("first flight") && await isStored("second flight"));
  });

  await it({
    name: "reads what is committed, whatever the default of the database",
    // The embedded database has no parameters, and PgBouncer refuses this one.
    ignore: !SETTINGS.url || !SETTINGS.prepare,
    async fn() {
      const url = new URL(SETTINGS.url!);
      url.searchParams.set("default_transaction_isolation", "repeatable read");
      await using database = await openDatabase({ ...SETTINGS, url: url.href });

      const show = sql<{ level: string }>`
        select current_setting('transaction_isolation') as level
      `;
      const [read] = await soon(database).lookUp(show);
      const [[written]] = await soon(database).transaction((tx) => tx.commit(show));

      assertEquals([read!.level, written!.level], [
        "repeatable read",
        "read committed",
      ]);
    },
  });

  await it("runs the opening statements of a transaction first", async () => {
    const results = await soon(database).transaction(
      (tx) => tx.commit(sql`select from ${table} where note = 'opening'`),
      write("opening"),
    );

    assertEquals(results.map(({ count }) => count), [1]);
    assert(await isStored("opening"));
  });

  const failing: Record<
    string,
    [work: (tx: Transaction) => Promise<unknown>, error: RegExp]
  > = {
    "that throws": [async (tx) => {
      await tx.send(write("lost"));
      throw new TypeError("On purpose");
    }, /^On purpose$/],
    "that does not commit": [
      (tx) => tx.send(write("lost")),
      /^The transaction was not committed$/,
    ],
    // The first error is told, not a consequence of it.
    "whose pipeline fails": [(tx) => tx.send(...FLIGHT), /division by zero/],
    "whose last pipeline fails": [
      (tx) => tx.commit(...FLIGHT),
      /division by zero/,
    ],
    "whose error was ignored": [async (tx) => {
      await tx.send(write("lost"));
      await tx.send(raise("22012")).catch(() => {});
      return await tx.commit();
    }, /./],
  };
  const FLIGHT = [
    write("lost"),
    sql`select 1 / ${0}::int`,
    raise("23514"),
    write("lost"),
  ];
  for (const [what, [work, error]] of Object.entries(failing)) {
    await it(`stores nothing of a transaction ${what}`, async () => {
      const { message } = await assertRejects(
        () => soon(database).transaction(work),
        Error,
      );

      assertMatch(message, error);
      assert(!await isStored("lost"));
    });
  }

  await it("sends nothing after a commit", async () => {
    await assertRejects(() =>
      soon(database).transaction(async (tx) => {
        await tx.commit(write("in time"));
        await tx.send(write("behind"));
      })
    );

    assert(await isStored("in time"));
    assert(!await isStored("behind"));
    await assertRejects(() =>
      soon(database).transaction(async (tx) => {
        await tx.commit();
        await tx.send(sql`select`);
      })
    );
  });

  await it("passes the organization to statements", async () => {
    const operations = database.for({
      deadline: performance.now() + MINUTE_MS,
      caller: { organizationId: "own", name: "key" },
    });
    const own = sql<{ own: string }>`select ${organization}::text as own`;

    const [row] = await operations.lookUp(own);
    const [[inTransaction]] = await operations.transaction((tx) => tx.commit(own));

    assertEquals([row, inTransaction], [{ own: "own" }, { own: "own" }]);
    await assertRejects(async () => await soon(database).lookUp(own));
  });

  await it("looks up rows during long operations", async () => {
    const sleepers = startSleepers(database);
    await soon(database).lookUp(sql`select`);

    // The embedded database runs one operation at a time.
    if (SETTINGS.url) assert(!sleepers.isOver);
    await sleepers.end();
  });

  await it("keeps rows before an error out of the next result", async () => {
    for (let i = 0; i < 2 * SETTINGS.poolSize; i++) {
      await assertRejects(() =>
        soon(database).scan(
          sql`select ${3}::int / (2 - x) from generate_series(0, 2) x`,
        )
      );
      const rows = await soon(database).scan(sql`select ${i}::int as i`);

      assertEquals([...rows], [{ i }]);
    }
  });

  await it("releases the slot of work that throws at once", async () => {
    for (let i = 0; i < 2 * SETTINGS.poolSize; i++) {
      await assertRejects(
        () =>
          database.for({ deadline: performance.now() + 1_000 }).transaction(
            () => {
              throw new TypeError("On purpose");
            },
          ),
        TypeError,
      );
    }

    assertEquals(database.load, { used: 0, waiting: 0 });
  });

  for (
    const [state, times] of [["40001", 4], ["40P01", 4], ["23514", 1]] as const
  ) {
    await it(`runs a transaction ${times} times for ${state}`, async () => {
      let runs = 0;

      await assertRejects(() =>
        soon(database).transaction((tx) => {
          runs++;
          return tx.commit(raise(state));
        })
      );

      assertEquals(runs, times);
    });
  }

  await it("stores only the successful run", async () => {
    let runs = 0;

    await soon(database).transaction(async (tx) => {
      await tx.send(write(`run ${++runs}`));
      return await tx.commit(...runs < 3 ? [raise("40001")] : []);
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

  await it("ends a transaction with its operation", async () => {
    let left: Transaction;
    await soon(database).transaction((tx) => {
      left = tx;
      return tx.commit();
    });

    await assertRejects(() => left.send(write("late")));
    await assertRejects(() => left.commit(write("late")));

    assert(!await isStored("late"));
  });

  await it("stores nothing of a transaction after its deadline", async () => {
    const error = await assertRejects(
      () =>
        database.for({ deadline: performance.now() + 50 }).transaction(
          async (tx) => {
            await tx.send(write("too late"));
            await pause(100);
            return await tx.commit();
          },
        ),
      ApiError,
    );

    assertEquals(error.code, "SERVICE_UNAVAILABLE");
    assertEquals(error.headers["retry-after"], "1");
    await eventually(0, () => database.load.used);
    assert(!await isStored("too late"));
  });

  await it("starts nothing after its deadline", async () => {
    let started = false;

    const error = await assertRejects(
      () =>
        database.for({ deadline: performance.now() - 1 }).transaction((tx) => {
          started = true;
          return tx.commit();
        }),
      ApiError,
    );

    assertEquals(error.code, "SERVICE_UNAVAILABLE");
    assertEquals(started, false);
  });

  await it("writes in the background, and ignores errors", async () => {
    const operations = soon(database);

    operations.inBackground(() => [write("afterwards")]);
    operations.inBackground(() => [raise("23514")]);
    operations.inBackground(() => [write("after a failure")]);

    await eventually(true, () => isStored("afterwards"));
    await eventually(true, () => isStored("after a failure"));
  });

  await it("drops background writes beyond five hundred", async () => {
    const operations = soon(database);
    const before = await stored();

    for (let i = 0; i < 2_000; i++) operations.inBackground(() => [write(`${i}`)]);

    // Two run at once, one of which may be that of the step before, and five hundred wait.
    await eventually(
      true,
      async () => await stored() >= before + 501,
      60_000,
    );
    operations.inBackground(() => [write("the last")]);
    await eventually(true, () => isStored("the last"));
    assert(await stored() <= before + 503);
  });

  await script(soon(database), (sql) => sql`drop table ${table}`);

  await it("lets running operations finish when closed", async () => {
    const running = soon(database).transaction(async (tx) => {
      await tx.send(sql`select`);
      await pause(50);
      return await tx.commit(sql<{ done: boolean }>`select true as done`);
    });
    await pause(10);

    await database.close();

    assertEquals([...(await running)[0]], [{ done: true }]);
  });

  await it("refuses everything once closed", async () => {
    await assertRejects(async () => await soon(database).lookUp(sql`select`));
  });
});
