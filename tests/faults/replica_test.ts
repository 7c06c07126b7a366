import { assertEquals } from "@std/assert";
import { shared } from "../../db/connections/gathering.ts";
import { replicated } from "../../db/own_writes.ts";
import { type Follower, startFollower } from "./follower.ts";
import { DEADLINE_MS, eventually, isPossible, openScene } from "./scene.ts";

const LIST = "/api/products";

Deno.test({ name: "A replica", ignore: !isPossible }, async (t) => {
  await using scene = await openScene();
  await using follower = await startFollower(scene);

  await t.step("keeps from nobody what they wrote themselves", async (t) => {
    const org = await follower.organization();
    const others = [await org.issueKey("read"), await org.issueKey("write")];
    const { path } = await org.create();
    const { path: gone } = await org.create();
    await follower.caughtUp();
    await follower.pause();

    await org.put(path, { title: "Persuasion" });
    await org.delete(gone);
    const { path: added } = await org.create({ title: "Sanditon" });

    const own = [["Persuasion", 404, 200, 2]];
    const old = [["Emma", 200, 404, 2]];
    await t.step("through the process that wrote", async () => {
      assertEquals([await seen(follower.get, org.key)], own);
    });
    await t.step("through another process", async () => {
      assertEquals([await seen(follower.getElsewhere, org.key)], own);
    });
    await t.step("while others read what it has", async () => {
      for (const key of others) {
        assertEquals([await seen(follower.get, key)], old);
      }
    });
    await t.step("and lets all read it once it has that", async () => {
      await follower.resume();
      await follower.caughtUp();
      for (const key of [org.key, ...others]) {
        assertEquals([await seen(follower.get, key)], own);
      }
    });

    async function seen(get: Follower["get"], key: string) {
      const title = (await get(key, path)).body.data.title;
      const statuses = [await get(key, gone), await get(key, added)];
      const list = await get(key, LIST);
      return [
        title,
        ...statuses.map(({ status }) => status),
        list.body.meta.total,
      ];
    }
  });

  await t.step("knows of no write where nothing was written", async () => {
    const org = await follower.organization();
    const notes = async () =>
      (await scene.observer`
        select from last_writes where organization_id = ${org.id}
      `).count;

    const { status } = await org.put(`${LIST}/${org.id}`, { title: "Emma" });

    assertEquals([status, await notes()], [404, 0]);
    await org.create();
    assertEquals(await notes(), 1);
  });

  await t.step("that is busy with lists, is not away", async () => {
    const { replica, changes } = follower;
    const before = [...changes];
    const reads = replica.until(performance.now() + DEADLINE_MS);

    const found = await Promise.all(Array.from(
      { length: 4 },
      (_, i) =>
        reads.read(
          shared(`sleep ${i}`, (sql) => sql.unsafe("select pg_sleep(2.5)")),
        ),
    ));

    assertEquals(found, [undefined, undefined, undefined, undefined]);
    assertEquals(changes, before);
    const lookUp = () =>
      replica.until(performance.now() + DEADLINE_MS)
        .lookUp(shared("one", (sql) => sql`select 1 as one`));
    await eventually(1, async () => (await lookUp())?.length);
  });

  await t.step("serves a writer again once it has caught up", async () => {
    const org = await follower.organization();
    const { id, path } = await org.create();
    await follower.caughtUp();
    await follower.pause();
    await follower.retitle(id, "Sanditon");

    const reply = await org.get(path);
    await follower.resume();

    assertEquals(reply.body.data.title, "Emma");
  });

  await t.step("knows the writes of a Bearer token's user", async () => {
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
      "Emma",
    ]);
  });

  await t.step("shows no organization another's products", async () => {
    const [ours, theirs] = [
      await follower.organization(),
      await follower.organization(),
    ];
    const { path } = await ours.create();
    await follower.caughtUp();

    const [product, list] = [await theirs.get(path), await theirs.get(LIST)];

    assertEquals([product.status, list.body.meta.total], [404, 0]);
  });

  await t.step("may cancel a read for what the primary did", async () => {
    const org = await follower.organization();
    const { id } = await org.create();
    await follower.observer`alter system set max_standby_streaming_delay = 0`;
    await follower.observer`select pg_reload_conf()`;
    await follower.caughtUp();
    const deadline = performance.now() + DEADLINE_MS;
    const { read } = replicated(
      scene.app.database.until(deadline),
      follower.replica.until(deadline),
      { organizationId: org.id, name: "reader", mayWrite: false },
    );

    const reading = read(shared("Emma", (sql) =>
      sql<{ title: string }[]>`
        select p.title, pg_sleep(1)::text from products p
        where p.organization_id = ${org.id} and p.id = ${id}
      `));
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
});
