import { assert, assertEquals } from "@std/assert";
import { randomBytes } from "node:crypto";
import { clockAhead } from "./clock.ts";
import { countingReads } from "./counting.ts";
import { openApp, send } from "./harness.ts";

const STRANGERS = 2_000;

Deno.test("Unknown API keys by the thousand", async (t) => {
  await using app = await openApp();
  const database = countingReads(app.database);
  const handler = app.variant({ database });
  const org = await app.organization();
  const { path } = await org.create();
  const ask = (key: string) =>
    send(handler, path, { headers: { "x-api-key": key } });
  assertEquals((await ask(org.key)).status, 200);

  await t.step("keep nobody out whose key is known", async () => {
    database.reads = 0;
    // Known, and old enough to be looked up again.
    using _ = clockAhead(5_000);

    const refused = Array.from({ length: STRANGERS }, () => ask(newKey()));
    const own = await Promise.all([org.key, org.key].map(ask));
    const replies = await Promise.all(refused);

    assertEquals(own.map(({ status }) => status), [200, 200]);
    for (const { status, headers } of replies) {
      assert(status === 401 || status === 503 && headers.has("retry-after"));
    }
    assert(replies.some(({ status }) => status === 401));
    assert(database.reads < STRANGERS / 2, `${database.reads} look-ups`);
  });

  await t.step("are looked up again when fewer come", async () => {
    const { status } = await ask(newKey());

    assertEquals(status, 401);
  });
});

/** A key that nobody has issued. */
function newKey(): string {
  return `cat_${randomBytes(6).toString("hex")}_${
    randomBytes(32).toString("base64url")
  }`;
}
