import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { pause } from "../../db/connections/deadline.ts";
import { startReplica } from "./cluster.ts";
import { startLoad } from "./load.ts";
import { eventually, FACTOR, isPossible, openScene } from "./scene.ts";

Deno.test({ name: "A failover", ignore: !isPossible }, async (t) => {
  await using scene = await openScene();
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
  const load = await startLoad(app);
  await pause(500 * FACTOR);

  await t.step("to a standby before its promotion serves reads", async () => {
    proxy.target = standby.port;
    await cluster.stop("immediate");
    // The first request finds broken connections.
    await eventually(200, async () => (await org.get(path)).status);

    assertEquals((await org.put(path, { title: "Persuasion" })).status, 503);
  });

  await t.step("loses no acknowledged write", async () => {
    const before = load.acknowledged;
    await ofStandby`select pg_promote()`;
    await eventually(
      200,
      async () => (await org.put(path, { title: "Persuasion" })).status,
    );
    await pause(500 * FACTOR);
    await load.stop();

    assert(before > 0 && load.acknowledged > before);
    await load.verify();
    assertEquals((await org.get(path)).body.data.title, "Persuasion");
    await eventually({ used: 0, waiting: 0 }, () => app.database.load);
  });

  await ofStandby.end({ timeout: 1 });
});
