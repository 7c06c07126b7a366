import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { raw } from "../../db/connections/sql.ts";
import { toApiError } from "../../middleware/failure.ts";
import { STATUS } from "../../schema/errors.ts";
import { eventually } from "../support/app/eventually.ts";
import type { Reply } from "../support/client/envelope.ts";
import { DEADLINE_MS, faultTest } from "./scene.ts";
import { script } from "../support/sql/script.ts";

faultTest("Locks and slow statements", async (scene, { step: it }) => {
  const { app, observer } = scene;

  await it("lose no write behind 2,000 waiting requests", async () => {
    const org = await app.organization();
    await org.create();

    const responses = await observer.begin(async (sql) => {
      await sql`lock table products in access exclusive mode`;
      const reads = Array.from(
        { length: 1000 },
        () => org.get("/api/products"),
      );
      const writes = Array.from(
        { length: 1000 },
        (_, n) => org.post("/api/products", { title: `waited ${n}` }),
      );
      return await Promise.all([...reads, ...writes]);
    });
    const after: Reply[] = [];
    // A few at a time: all at once might take longer than their deadline on a busy machine.
    while (after.length < 100) {
      after.push(
        ...await Promise.all(Array.from(
          { length: 10 },
          (_, n) => org.post("/api/products", { title: `after ${after.length + n}` }),
        )),
      );
    }

    for (const { status, headers, body } of responses) {
      // Of the caller's requests, 500 wait.
      const code = status === 429 ? "TOO_MANY_REQUESTS" : "SERVICE_UNAVAILABLE";
      assertEquals([status, body.error?.code], [STATUS[code], code]);
      assertEquals(headers.get("retry-after"), "1");
    }
    for (const { status, text } of after) assertEquals(status, 201, text);
    const stored = await observer`
      select title from products where organization_id = ${org.id}
    `;
    assertEquals(
      stored.map(({ title }) => title).sort(),
      ["Emma", ...after.map(({ body }) => body.data.title)].sort(),
    );
    assertEquals((await org.get("/api/products")).body.meta.total, 101);
    await scene.assertSound();
  });

  for (
    const [name, state, wait, reason] of [
      ["a statement", "57014", "select pg_sleep(60)", /took too long/],
      ["a lock", "55P03", "lock table seasons", /holds a lock/],
    ] as const
  ) {
    await it(`time out ${name}, and keep the connection`, async () => {
      const database = app.database.for({
        deadline: performance.now() + 2 * DEADLINE_MS,
      });
      const sessions = () =>
        observer`
        select pid from pg_stat_activity where application_name = 'catalogue' order by pid
      `;
      await script(database, (sql) => sql`select`);
      const before = await sessions();

      const error = await observer.begin(async (sql) => {
        await sql`lock table seasons`;
        return await assertRejects(() => database.transaction((tx) => tx.commit(raw(wait))));
      });

      assertEquals((error as { code?: string }).code, state);
      const { status, headers, message } = toApiError(error);
      assertEquals([status, headers], [503, { "retry-after": "1" }]);
      assertMatch(message, reason);
      assert(
        (await script(database, (sql) => sql`select 1 as one`)).length === 1,
      );
      assertEquals([...await sessions()], [...before]);
      await eventually({ used: 0, waiting: 0 }, () => app.database.load);
      await scene.assertSound();
    });
  }
});
