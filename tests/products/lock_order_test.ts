import { assertEquals } from "@std/assert";
import { TIMED } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import type { Sql } from "../support/sql/script.ts";

/*
 * Writers of the same rows take their locks in one order, so that none waits for another that
 * waits for it. A writer that waits for its last lock has all others.
 */

Deno.test({
  ...TIMED,
  name: "Locks are taken in order",
  ignore: !SETTINGS.url,
  async fn({ step: it }) {
    await using app = await openOwnApp();
    const { sql } = app;
    const org = await app.organization();

    /** Expects that a request waits for the last lock, and that it has the first then. */
    async function assertOrder(
      { request, lock, isFree }: {
        request: () => Promise<{ status: number }>;
        /** Takes the last lock. */
        lock: (sql: Sql) => PromiseLike<unknown>;
        /** Whether the first lock is free. */
        isFree: (sql: Sql) => Promise<boolean>;
      },
    ): Promise<void> {
      const [waiting] = await sql.begin(async (sql) => {
        await lock(sql);
        const waiting = request();
        await eventually(true, async () => await waits());
        assertEquals(await app.sql.begin(isFree), false);
        return [waiting];
      });
      assertEquals((await waiting!).status, 200);
    }

    async function waits(): Promise<boolean> {
      const { count } =
        await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return count > 0;
    }

    await it("of products: by their ids", async () => {
      const products = [
        await org.create(),
        await org.create(),
        await org.create(),
      ];
      const ids = products.map(({ id }) => id).sort();

      await assertOrder({
        request: () =>
          org.batch(
            ids.toReversed().map((id) => ({
              method: "update",
              id,
              body: { page_count: 7 },
            })),
          ),
        lock: (sql) => sql`select from products where id = ${ids[2]!} for no key update`,
        isFree: async (sql) =>
          (await sql`select from products where id = ${ids[
            0
          ]!} for no key update skip locked`)
            .count > 0,
      });
    });

    await it("of ISBNs: by their hashes", async () => {
      const isbns = ["9780306406157", "9780141439587", "9780198526636"];
      const locks = await sql<{ lock: string }[]>`
        select hashtextextended(${org.id} || ' isbn ' || isbn, 1)::text as lock
        from jsonb_array_elements_text(${sql.json(isbns)}) isbn
      `;
      const [first, , last] = locks.map(({ lock }) => BigInt(lock))
        .sort((a, b) => a < b ? -1 : 1).map(String);

      await assertOrder({
        request: () =>
          org.batch(isbns.map((isbn13) => ({
            method: "upsert",
            match: "isbn13",
            body: { title: "Emma", isbn13 },
          }))),
        lock: (sql) => sql`select pg_advisory_xact_lock(${last!}::bigint)`,
        isFree: async (sql) => {
          const [row] = await sql<{ is_free: boolean }[]>`
            select pg_try_advisory_xact_lock(${first!}::bigint) as is_free
          `;
          return row!.is_free;
        },
      });
    });
  },
});
