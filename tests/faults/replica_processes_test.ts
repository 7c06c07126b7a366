import { assertEquals } from "@std/assert";
import { startDirectly } from "../support/servers/processes.ts";
import { startFollower } from "./follower.ts";
import { faultTest } from "./scene.ts";

faultTest("Two processes with a replica", async (scene, { step: it }) => {
  await using follower = await startFollower(scene);
  const env = {
    DATABASE_URL: scene.cluster.url,
    DATABASE_REPLICA_URL: follower.cluster.url,
  };
  await using first = await startDirectly(env);
  await using second = await startDirectly(env);
  const org = await follower.organization();
  const reader = await org.issueKey("read");
  await follower.caughtUp();

  async function ask({ origin }: typeof first, key: string, body?: object) {
    const response = await fetch(`${origin}/api/products`, {
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...body && { method: "POST", body: JSON.stringify(body) },
    });
    const { meta } = await response.json();
    return meta?.total ?? response.status;
  }

  await it("show a caller's writes through both processes", async () => {
    await follower.pause();

    const written = [
      await ask(first, org.key, { title: "Emma" }),
      await ask(second, org.key),
      await ask(second, org.key, { title: "Persuasion" }),
      await ask(first, org.key),
    ];
    const read = [await ask(first, reader), await ask(second, reader)];

    assertEquals(written, [201, 1, 201, 2]);
    assertEquals(read, [0, 0]);
  });

  await it("read from it once it has caught up", async () => {
    await follower.resume();
    await follower.caughtUp();

    assertEquals([await ask(first, reader), await ask(second, reader)], [2, 2]);
  });
});
