import { assert, assertEquals, assertRejects } from "@std/assert";
import type postgres from "postgres";
import { sql } from "../../db/connections/sql.ts";
import type { Transaction } from "../../db/connections/transaction.ts";
import { ApiError } from "../../schema/errors.ts";
import { eventually } from "../support/app/eventually.ts";
import { startLoad } from "./load.ts";
import { pause } from "../../db/connections/deadline.ts";
import { DEADLINE_MS, faultTest } from "./scene.ts";

const STORM_MS = 6_000;

faultTest("Killed sessions", async (scene, { step: it }) => {
  const { app, observer } = scene;
  const database = () => app.database.for({ deadline: performance.now() + DEADLINE_MS });
  await observer`create table notes (note text not null)`;
  const notes = async () =>
    (await observer`select note from notes order by note`).map((row) => row.note);

  /** Kills the sessions that wait for a lock, and returns their number. */
  async function killWaiting(sql: postgres.TransactionSql): Promise<number> {
    // Without this, the transaction sees a cached snapshot of pg_stat_activity.
    await sql`select pg_stat_clear_snapshot()`;
    const { count } = await sql`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where application_name = 'catalogue' and wait_event_type = 'Lock'
    `;
    return count;
  }

  await it("are replaced before the next request", async () => {
    const org = await app.organization();
    await Promise.all(Array.from({ length: 8 }, () => org.create()));

    assert(await scene.killSessions(100) > 0);
    const written = await org.post("/api/products", { title: "Emma" });
    await scene.killSessions(100);
    const read = await org.get(`/api/products/${written.body.data?.id}`);

    assertEquals([written.status, read.status], [201, 200]);
    await scene.assertSound();
  });

  for (const table of TABLES) {
    await it(`are replaced when they write ${table}`, async () => {
      const org = await app.organization();
      const { path } = await org.create({ title: "Before" });
      const body = {
        title: "After",
        product_prices: [{ currency_code: "GBP" }],
        collateral: [{ collateral_type: "text_content", text: "After" }],
        product_collections: [{ collection_id: org.series }],
        series_id: org.series,
        custom_fields: [{ field_id: org.customField, field_value: "After" }],
        format_id: org.format,
      };

      const response = observer.begin(async (sql) => {
        await sql`lock table ${sql(table)} in share mode`;
        const response = org.put(path, body);
        await eventually(1, () => killWaiting(sql));
        return { response };
      });
      const { status, body: { data } } = await (await response).response;

      assertEquals(status, 200);
      assertEquals(
        [data.title, data.collateral.length, data.series_id, data.format_id],
        ["After", 1, org.series, org.format],
      );
      assertEquals(data.product_prices.length, 1);
      assertEquals((await org.get(path)).body.data, data);
      await scene.assertSound();
    });
  }

  await it("are replaced during look-ups", async () => {
    const org = await app.organization();
    const { path } = await org.create();

    const { responses } = await observer.begin(async (sql) => {
      await sql`lock table products`;
      const responses = Array.from({ length: 20 }, () => org.get(path));
      await eventually(true, async () => await killWaiting(sql) > 0);
      return { responses };
    });

    for (const { status } of await Promise.all(responses)) {
      assertEquals(status, 200);
    }
    await scene.assertSound();
  });

  await it("roll back their transaction", async () => {
    let broken: Transaction;
    await observer`truncate notes`;

    await assertRejects(() =>
      database().transaction((tx) => {
        broken = tx;
        return tx.commit(sql`select pg_terminate_backend(pg_backend_pid())`);
      })
    );
    await Promise.all(
      Array.from(
        { length: 20 },
        (_, n) =>
          database().transaction(async (tx) => {
            await tx.send(sql`insert into notes values (${`other ${n}`})`);
            await assertRejects(() => broken.send(sql`insert into notes values ('stray')`));
            return await tx.commit();
          }),
      ),
    );

    const stored = await notes();
    assertEquals([stored.length, stored.includes("stray")], [20, false]);
    await scene.assertSound();
  });

  await it("apply a transaction with an unknown outcome at most once", async () => {
    let runs = 0;
    await observer`
    create function kill() returns trigger language plpgsql as $$
    begin
      perform pg_terminate_backend(pg_backend_pid());
      return null;
    end
    $$
    `;
    await observer`
    create constraint trigger killed_at_commit after insert on notes
    deferrable initially deferred for each row execute function kill()
    `;

    const error = await assertRejects(() =>
      database().transaction((tx) => {
        runs++;
        return tx.commit(sql`insert into notes values ('in doubt')`);
      }), ApiError);

    assertEquals([error.code, runs], ["SERVICE_UNAVAILABLE", 1]);
    await observer`drop trigger killed_at_commit on notes`;
    await scene.assertSound();
  });

  await it("neither lose nor mix writes of two organizations", async () => {
    const load = await startLoad(app, { clients: 6 });

    let killed = 0;
    for (const end = performance.now() + STORM_MS; performance.now() < end;) {
      await pause(100);
      killed += await scene.killSessions(1);
    }
    await load.stop();

    assert(killed > 0 && load.responses[201]! > 0);
    await scene.assertSound(load);
  });
});

/** The tables that an update of a product writes, in order. */
const TABLES = [
  "products",
  "product_counts",
  "product_prices",
  "collateral",
  "product_collections",
  "custom_field_values",
  "product_documents",
];
