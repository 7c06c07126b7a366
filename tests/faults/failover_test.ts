import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { Copy } from "../support/client/copy.ts";
import { eventually } from "../support/app/eventually.ts";
import { startReplica } from "../support/servers/cluster.ts";
import { startLoad } from "./load.ts";
import { faultTest } from "./scene.ts";

faultTest("A failover", async (scene, { step: it }) => {
  const { app, cluster, observer, proxy } = scene;
  await using standby = await startReplica(cluster);
  const ofStandby = postgres(standby.url, { max: 1, fetch_types: false });
  // Synchronous replication: without it, a failover may lose an acknowledged commit.
  await observer`alter system set synchronous_standby_names = '*'`;
  await observer`select pg_reload_conf()`;
  await eventually([{ sync_state: "sync" }], async () => [
    ...await observer`select sync_state from pg_stat_replication`,
  ]);
  const org = await app.organization();
  const { path } = await org.create();
  const [{ version }] = (await org.get(`${path}/history`)).body.data;
  const copy = new Copy(org, app);
  await copy.catchUp();
  const load = await startLoad(app);
  await eventually(true, () => load.acknowledged > 0);

  await it("to a standby before its promotion serves reads", async () => {
    proxy.target = standby.port;
    await cluster.stop("immediate");
    // The first request finds broken connections.
    await eventually(200, async () => (await org.get(path)).status);

    for (const past of ["/history", `?version=${version}`, "?at=2099-01-01"]) {
      assertEquals((await org.get(`${path}${past}`)).status, 200, past);
    }
    const writes = [
      await org.put(path, { title: "Persuasion" }),
      await org.post(`${path}/restore`, { version }),
    ];
    assertEquals(writes.map(({ status }) => status), [503, 503]);
  });

  await it("loses no acknowledged write", async () => {
    const before = load.acknowledged;
    await ofStandby`select pg_promote()`;
    await eventually(
      200,
      async () => (await org.put(path, { title: "Persuasion" })).status,
    );
    await eventually(true, () => load.acknowledged > before);
    await load.stop();

    assert(before > 0);
    await load.verify();
    assertEquals((await org.get(path)).body.data.title, "Persuasion");
    await eventually({ used: 0, waiting: 0 }, () => app.database.load);
  });

  await it("keeps the cursors of GET /products/changes", async () => {
    await copy.catchUp();

    await copy.assertComplete();
  });

  await ofStandby.end({ timeout: 1 });
});

faultTest(
  "A failover that loses changes expires the cursors",
  async (scene) => {
    const { app, cluster, observer, proxy } = scene;
    await using standby = await startReplica(cluster);
    const ofStandby = postgres(standby.url, { max: 1, fetch_types: false });
    const org = await app.organization();
    const { path } = await org.create();
    const copy = new Copy(org, app);
    await eventually([{ count: 1 }], async () => [
      ...await ofStandby`select count(*)::int from products`,
    ]);
    await ofStandby`alter system set primary_conninfo = ''`;
    await ofStandby`select pg_reload_conf()`;
    await eventually([{ count: 0 }], async () => [
      ...await observer`select count(*)::int from pg_stat_replication`,
    ]);
    for (let i = 0; i < 5; i++) await org.put(path, { title: `Lost ${i}` });
    await copy.catchUp();
    const { cursor } = copy;

    proxy.target = standby.port;
    await cluster.stop("immediate");
    await ofStandby`select pg_promote()`;
    // New transactions reuse the ids of the lost ones.
    for (let i = 0; i < 20; i++) {
      await eventually(
        201,
        async () => (await org.post("/api/products", { title: "Emma" })).status,
      );
    }

    const { status, body } = await org.get(
      `/api/products/changes?after=${cursor}`,
    );
    assertEquals([status, body.error?.code], [410, "CURSOR_EXPIRED"]);
    const anew = new Copy(org, app);
    await anew.catchUp();
    await anew.assertComplete();
    await ofStandby.end({ timeout: 1 });
  },
);
