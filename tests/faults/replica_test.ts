import { assertEquals } from "@std/assert";
import { organization, sql, type Statement } from "../../db/connections/sql.ts";
import type { Queries } from "../../db/database.ts";
import { inTime } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import type { Organization } from "../support/app/organization.ts";
import { type Follower, startFollower } from "./follower.ts";
import { DEADLINE_MS, faultTest } from "./scene.ts";

const LIST = "/api/products";

faultTest("A replica", async (scene, { step: it }) => {
  await using follower = await startFollower(scene);

  await it("shows writers their own writes", async ({ step: it }) => {
    const org = await follower.organization();
    const writers = [org.key, await org.issueKey("write")];
    const reader = await org.issueKey("read");
    const { path } = await org.create();
    const { path: gone } = await org.create();
    await follower.caughtUp();
    await follower.pause();

    await org.put(path, { title: "Persuasion" });
    await org.delete(gone);
    const { path: added } = await org.create({ title: "Sanditon" });

    const own = [["Persuasion", 404, 200, 2, ["Persuasion", "Sanditon"]]];
    const old = [["Emma", 200, 404, 2, ["Emma", "Emma"]]];
    for (const key of writers) {
      await it("through the process that wrote", async () => {
        assertEquals([await seen(follower.get, key)], own);
      });
      await it("through another process", async () => {
        assertEquals([await seen(follower.getElsewhere, key)], own);
      });
    }
    await it("while readers see the replica's data", async () => {
      assertEquals([await seen(follower.get, reader)], old);
    });
    await it("and serves all callers once it has caught up", async () => {
      await follower.resume();
      await follower.caughtUp();
      for (const key of [...writers, reader]) {
        assertEquals([await seen(follower.get, key)], own);
      }
    });

    async function seen(get: Follower["get"], key: string) {
      const title = (await get(key, path)).body.data.title;
      const statuses = [await get(key, gone), await get(key, added)];
      const list = await get(key, LIST);
      const sheet = await get(key, "/api/csv/products?columns=title");
      return [
        title,
        ...statuses.map(({ status }) => status),
        list.body.meta.total,
        sheet.text.trim().split("\r\n").slice(1).sort(),
      ];
    }
  });

  await it("is not considered down while it is busy", async () => {
    const { replica, changes } = follower;
    const before = [...changes];
    const deadline = performance.now() + 2 * DEADLINE_MS;

    const found = await Promise.all(["a", "b"].map((organizationId) => {
      const caller = { organizationId, name: "reader" };
      return replica.for({
        deadline,
        caller,
        primary: scene.app.database.for({ deadline, caller }),
      }).scan(sql`select pg_sleep(2.5)`);
    }));

    assertEquals(found.map(({ length }) => length), [1, 1]);
    assertEquals(changes, before);
  });

  await it("never shows a reader older data", async () => {
    const org = await follower.organization();
    const { path } = await org.create({ page_count: 1 });
    const [reader, other] = [
      await org.issueKey("read"),
      await org.issueKey("read"),
    ];
    const pagesFor = async (key: string) => (await follower.get(key, path)).body.data.page_count;
    await follower.caughtUp();
    await follower.pause();
    await org.put(path, { page_count: 2 });
    assertEquals(await pagesFor(other), 1);

    await away();
    assertEquals(await pagesFor(reader), 2);
    await back();

    // The replica responds again, but does not have the change.
    assertEquals(await pagesFor(other), 1);
    for (let i = 0; i < 5; i++) assertEquals(await pagesFor(reader), 2);
    await follower.resume();
    await follower.caughtUp();
    assertEquals([await pagesFor(reader), await pagesFor(other)], [2, 2]);
    await eventually(true, () => isUsed(org, reader));
  });

  await it("keeps a reader's latest position", async () => {
    const org = await follower.organization();
    const { id } = await org.create();
    const deadline = () => performance.now() + DEADLINE_MS;
    const caller = { organizationId: org.id, name: "reader" };
    const primary = () => scene.app.database.for({ deadline: deadline(), caller });
    const titleFrom = async (operations: Queries) => {
      const [row] = await follower.replica
        .for({ deadline: deadline(), caller, primary: operations })
        .lookUp(sql<{ title: string }>`
          select p.title from products p
          where p.organization_id = ${organization} and p.id = ${id}
        `);
      return row!.title;
    };
    const read = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    // The look-up of the primary's WAL position, which follows the read, returns late.
    const late: Queries = Object.assign(primary(), {
      async lookUp<S extends Statement>(statement: S) {
        const rows = await primary().lookUp(statement);
        if (statement.strings.join().includes("pg_current_wal")) {
          read.resolve();
          await gate.promise;
        }
        return rows;
      },
    });
    await follower.caughtUp();

    await away();
    const first = titleFrom(late);
    await inTime("the look-up of the position", read.promise);
    await follower.caughtUp();
    await follower.pause();
    await follower.retitle(id, "Persuasion");
    const second = await titleFrom(primary());
    gate.resolve();
    await back();

    assertEquals([await first, second], ["Emma", "Persuasion"]);
    assertEquals(await titleFrom(primary()), "Persuasion");
    await follower.resume();
  });

  await it("does not serve a Bearer token that may write", async () => {
    const org = await follower.organization();
    const { path } = await org.create();
    const [writer, other] = [
      await follower.asEditor(org.id),
      await follower.asEditor(org.id),
    ];
    await follower.caughtUp();
    await follower.pause();

    await writer(path, { method: "PUT", body: '{"title":"Persuasion"}' });
    const replies = [await writer(path), await other(path)];
    await follower.resume();

    assertEquals(replies.map(({ body }) => body.data.title), [
      "Persuasion",
      "Persuasion",
    ]);
  });

  await it("continues a cursor that is ahead of it", async () => {
    const org = await follower.organization();
    const reader = await org.issueKey("read");
    await follower.caughtUp();
    await follower.pause();
    await org.create();
    const { body: { meta } } = await org.get(`${LIST}/changes`);
    const next = `${LIST}/changes?after=${meta.cursor}`;

    const early = await follower.get(reader, next);
    await follower.resume();
    await follower.caughtUp();
    const later = await follower.get(reader, next);

    for (const { status, body } of [early, later]) {
      assertEquals([status, body.data], [200, []]);
    }
  });

  await it("may cancel a read that conflicts with the primary", async () => {
    const org = await follower.organization();
    const { id } = await org.create();
    await follower.observer`alter system set max_standby_streaming_delay = 0`;
    await follower.observer`select pg_reload_conf()`;
    await follower.caughtUp();
    const deadline = performance.now() + DEADLINE_MS;
    const caller = { organizationId: org.id, name: "reader" };
    const primary = scene.app.database.for({ deadline, caller });

    const reading = follower.replica.for({ deadline, caller, primary }).scan(
      sql<{ title: string }>`
        select p.title, pg_sleep(1)::text from products p
        where p.organization_id = ${organization} and p.id = ${id}
      `,
    );
    await eventually([{ reading: 1 }], async () => [
      ...await follower.observer`
      select count(*)::int as reading from pg_stat_activity
      where application_name = 'catalogue' and wait_event = 'PgSleep'
    `,
    ]);
    await scene.observer.begin((sql) => sql`lock table products`);

    assertEquals((await reading)[0]!.title, "Emma");
    await eventually([{ conflicts: 1 }], async () => [
      ...await follower.observer`
      select confl_lock::int as conflicts from pg_stat_database_conflicts
      where datname = 'postgres'
    `,
    ]);
  });

  // The last step: the replica no longer follows the primary.
  await it("serves no reader after its promotion", async () => {
    const { changes } = follower;
    const org = await follower.organization();
    const reader = await org.issueKey("read");
    await follower.caughtUp();
    assertEquals((await follower.get(reader, LIST)).body.meta.total, 0);
    changes.length = 0;

    await follower.observer`select pg_promote()`;
    await eventually([true], async () => {
      await ask();
      return changes;
    });
    await org.create();

    assertEquals((await follower.get(reader, LIST)).body.meta.total, 1);
  });

  /** Makes the replica silent, and waits until the service has noticed. */
  async function away(): Promise<void> {
    const { proxy, changes } = follower;
    changes.length = 0;
    proxy.behaviour = "hold";
    proxy.cut();
    await eventually([true], async () => {
      await ask();
      return changes;
    });
  }

  /** Ends the silence, and waits until the service has noticed. */
  async function back(): Promise<void> {
    const { proxy, changes } = follower;
    proxy.behaviour = "forward";
    proxy.cut();
    await eventually([true, false], async () => {
      await ask();
      return changes;
    });
  }

  /** A request that checks the replica's state. */
  async function ask(): Promise<void> {
    const deadline = performance.now() + DEADLINE_MS;
    const caller = { organizationId: "nobody", name: crypto.randomUUID() };
    await follower.replica.for({
      deadline,
      caller,
      primary: scene.app.database.for({ deadline, caller }),
    }).lookUp(sql`select`);
  }

  /** Whether the replica serves a reader: while paused, it does not have the change. */
  async function isUsed(org: Organization, key: string): Promise<boolean> {
    const { id, path } = await org.create({ title: "Emma" });
    await follower.caughtUp();
    await follower.pause();
    await follower.retitle(id, "Sanditon");
    const { body } = await follower.get(key, path);
    await follower.resume();
    return body.data.title === "Emma";
  }
});
