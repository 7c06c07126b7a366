import { assert, assertMatch, assertStringIncludes } from "@std/assert";
import { doctor } from "../../db/doctor/doctor.ts";
import { startFollower } from "./follower.ts";
import { faultTest } from "./scene.ts";

faultTest("deno task doctor with a replica", async (scene, { step: it }) => {
  await using follower = await startFollower(scene);

  async function finding(DATABASE_REPLICA_URL: string): Promise<string> {
    const variables: Record<string, string> = {
      DATABASE_URL: scene.cluster.url,
      DATABASE_REPLICA_URL,
    };
    const { text: report } = await doctor((name) => variables[name]);
    assert(!report.includes(new URL(scene.cluster.url).password));
    const [, , found] = /(\w+) +(replica .*)/s.exec(report) ?? [];
    return found!.replaceAll(/\s+/g, " ");
  }

  await it("reports a replica that has caught up", async () => {
    assertMatch(
      await finding(follower.cluster.url),
      /^replica Caught up with the primary within \d+ ms$/,
    );
  });

  await it("reports the lag of a replica and its reason", async () => {
    await follower.pause();
    await follower.organization();

    const found = await finding(follower.cluster.url);
    await follower.resume();

    assertMatch(
      found,
      /^replica [\d.]+ MB behind the primary: replay is paused -> select pg_wal_replay_resume\(\)/,
    );
  });

  await it("refuses a primary as replica", async () => {
    assertStringIncludes(
      await finding(scene.cluster.url),
      "Not a replica: it accepts writes -> Set DATABASE_REPLICA_URL to",
    );
  });

  await it("reports an unreachable replica", async () => {
    const gone = new URL(follower.cluster.url);
    gone.port = "1";

    assertMatch(
      await finding(gone.href),
      /ECONNREFUSED.* -> Check DATABASE_REPLICA_URL/,
    );
  });
});
