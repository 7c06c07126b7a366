import { assert, assertEquals } from "@std/assert";
import { PATIENCE_MS } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { startFollower } from "./follower.ts";
import { pause } from "../../db/connections/deadline.ts";
import { DEADLINE_MS, faultTest } from "./scene.ts";

const LIST = "/api/products";

faultTest("A replica that goes down", async (scene, { step: it }) => {
  await using follower = await startFollower(scene);
  const org = await follower.organization();
  const { id, path } = await org.create();
  const reader = await org.issueKey("read");
  await follower.caughtUp();

  /** Reads until the condition holds, and expects each response in time. */
  async function readUntil(isOver: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!isOver()) {
      const asked = performance.now();
      assert(asked < end, "It comes to an end");
      const replies = await Promise.all(
        [path, LIST, path].map((path) => follower.get(reader, path)),
      );
      const ms = performance.now() - asked;
      assertEquals(replies.map(({ status }) => status), [200, 200, 200]);
      // A status of 200 is given before the deadline. The test may notice it later.
      assert(ms < DEADLINE_MS + 5_000, `${ms} ms`);
      await pause(20);
    }
  }

  /** Whether the replica serves reads: while paused, it does not have the change. */
  async function isUsed(): Promise<boolean> {
    await follower.caughtUp();
    await follower.pause();
    await follower.retitle(id, "Sanditon");
    const { body } = await follower.get(reader, path);
    await follower.resume();
    await follower.retitle(id, "Emma");
    return body.data.title === "Emma";
  }

  const { cluster, proxy, changes } = follower;
  const faults: [string, () => unknown, () => unknown][] = [
    ["stopped", () => cluster.stop("fast"), cluster.start],
    ["killed", () => cluster.stop("immediate"), cluster.start],
    ["silent from the first byte", () => {
      proxy.behaviour = "hold";
      proxy.cut();
    }, () => proxy.behaviour = "forward"],
    ["hanging up at start-up", () => {
      proxy.behaviour = "hang up";
      proxy.cut();
    }, () => proxy.behaviour = "forward"],
  ];
  for (const [how, begin, end] of faults) {
    await it(`${how}, is replaced by the primary`, async () => {
      await eventually(true, isUsed);
      changes.length = 0;

      const reading = readUntil(() => changes.length > 0);
      await begin();
      await reading;
      await end();
      await readUntil(() => changes.length > 1);

      assertEquals(changes, [true, false]);
      await eventually(true, isUsed);
      await scene.assertSound();
    });
  }

  await it("with dead connections is reconnected", async () => {
    await eventually(true, isUsed);
    const over = performance.now() + DEADLINE_MS;

    const reading = readUntil(() => performance.now() > over);
    proxy.silence();
    await reading;

    await eventually(true, isUsed);
    await scene.assertSound();
  });
});

faultTest("A replica without its primary", async (scene, { step: it }) => {
  await using follower = await startFollower(scene);
  const org = await follower.organization();
  const { path } = await org.create();
  const reader = await org.issueKey("read");
  await follower.caughtUp();
  for (const key of [org.key, reader]) await follower.get(key, path);

  await it("serves read-only callers", async () => {
    await scene.cluster.stop("fast");

    const replies = [
      await follower.get(reader, path),
      await follower.get(reader, LIST),
      await follower.get(org.key, path),
    ];

    assertEquals(replies.map(({ status }) => status), [200, 200, 503]);
  });

  await it("serves all callers after its promotion", async () => {
    await scene.cluster.start();
    await follower.observer`select pg_promote()`;

    const written = await org.put(path, { title: "Persuasion" });
    const replies = [await org.get(path), await follower.get(reader, path)];

    assertEquals(written.status, 200);
    assertEquals(replies.map(({ body }) => body.data.title), [
      "Persuasion",
      "Emma",
    ]);
  });
});
