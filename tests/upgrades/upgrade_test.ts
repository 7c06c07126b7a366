import { assertEquals } from "@std/assert";
import { miscounted } from "../../db/doctor/recount.ts";
import { install, pendingMigrations } from "../../db/migrate.ts";
import { TIMED } from "../support/app/deadline.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { openApp } from "../support/app/harness.ts";
import { Copy } from "../support/client/copy.ts";
import { onixClient } from "../support/client/onix.ts";
import { sessionOf } from "../support/sql/script.ts";
import { answersOf, DUMPS, restore } from "./dumps.ts";

for (const name of DUMPS) {
  Deno.test(`The database of ${name} is upgraded in place`, TIMED, async ({ step: it }) => {
    await using fresh = await openFreshDatabase();
    const { operations, database } = fresh;
    await restore(name, operations);
    const old = await answersOf(name);

    await it("by a start, which disables no webhook", async () => {
      await pendingMigrations(operations);
      assertEquals(await install(operations), []);
      assertEquals(await pendingMigrations(operations), []);
    });

    await using app = await openApp({ database });
    const ask = (method: string, path: string, body?: unknown) =>
      app.send(`/api${path}`, {
        method,
        headers: { "x-api-key": old.key, "content-type": "application/json" },
        ...body !== undefined && { body: JSON.stringify(body) },
      });
    const get = async (path: string) => (await ask("GET", path)).body.data;
    const contents = async (id: string) => {
      const { updated_at: _, ...others } = await get(`/products/${id}`);
      return others;
    };
    const onix = onixClient(app, old);

    for (const [path, answer] of Object.entries(old.answers)) {
      await it(`and shows the same at ${path.replaceAll(/[\da-f-]{36}/g, "ID")}`, async () => {
        const { data } = (await ask("GET", path)).body;
        assertEquals(sharedWith(answer, data), answer);
      });
    }

    await it("and shows a rename that was not propagated yet", async () => {
      assertEquals((await get(`/products/${old.renamed}`)).publisher_name, "Quay, renamed");
    });

    await it("and sends the same ONIX record", async () => {
      const xml = await onix.xml(`/${old.imported}`);
      assertEquals(xml.replace(/<SentDateTime>.*?<\/SentDateTime>/, ""), old.onix);
    });

    await it("and restores an old version, and what was deleted", async () => {
      const history = await get(`/products/${old.edited}/history`);
      const [{ version }] = history.slice(-1);
      const { updated_at: _, ...first } = await get(`/products/${old.edited}?version=${version}`);

      const undeleted = await ask("POST", `/products/${old.deleted}/restore`, {});
      const restored = await ask("POST", `/products/${old.edited}/restore`, { version });

      assertEquals([restored.status, undeleted.status], [200, 200]);
      assertEquals(await contents(old.edited), first);
      assertEquals((await get(`/products/${old.deleted}`)).subtitle, "Before the deletion");
    });

    await it("and goes on with its counts, its feed and its history", async () => {
      assertEquals([...await operations.scan(miscounted)], []);
      const before = await get(`/products/${old.imported}/history`);
      const reader = { get: (path: string) => ask("GET", path.replace("/api", "")) };
      const copy = new Copy(reader, { sql: sessionOf(operations) });
      await copy.catchUp();
      await ask("PUT", `/products/${old.imported}`, { subtitle: "After the upgrade" });

      const after = await get(`/products/${old.imported}/history`);
      assertEquals(after.slice(1), before);
      assertEquals(after[0].changes.length, 1);
      assertEquals((await copy.catchUp()).map(({ id }) => id), [old.imported]);
      await copy.assertComplete();
    });
  });
}

/** What the new answer has of the fields of the old one: a release may add fields. */
function sharedWith(old: unknown, answer: unknown): unknown {
  if (Array.isArray(old) && Array.isArray(answer)) {
    return answer.map((entry, i) => i < old.length ? sharedWith(old[i], entry) : entry);
  }
  if (!isObject(old) || !isObject(answer)) return answer;
  return Object.fromEntries(
    Object.keys(answer).filter((name) => name in old)
      .map((name) => [name, sharedWith(old[name], answer[name])]),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
