import { assertEquals } from "@std/assert";
import { startLoad } from "./load.ts";
import { pause } from "../../db/connections/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { faultTest } from "./scene.ts";

/** Schema changes of a later release while this one runs. */
const CHANGES = [
  "alter table products add column spine_width numeric",
  "alter table product_prices add column note text not null default ''",
  "alter table products alter column page_count type bigint",
  "create index products_pages on products (organization_id, page_count)",
  "alter table products drop column spine_width",
  "alter table custom_field_values add column unit text",
];

/** Changes that invalidate the prepared look-ups of keys and products. */
const CHANGES_OF_READS = [
  "alter table api_keys alter column scope type varchar(20)",
  "alter table api_keys alter column scope type text",
  "alter table product_prices alter column currency_code type varchar(20)",
  "alter table api_keys alter column scope type varchar(30)",
];

faultTest("A schema that changes", async (scene, { step: it }) => {
  const { app, observer } = scene;

  await it("fails no request under load", async () => {
    const load = await startLoad(app);

    // Requests wait behind a change that waits for a lock: not until their own lock timeout.
    await observer`set lock_timeout = '500ms'`;
    for (const change of CHANGES) {
      await pause(200);
      await eventually(true, () => observer.unsafe(change).then(() => true, unlessLocked));
    }
    await pause(200);
    await load.stop();

    assertEquals(Object.keys(load.responses), ["200", "201"]);
    await scene.assertSound(load);
  });

  await it("does not mix results of concurrent reads", async () => {
    const orgs = [await app.organization(), await app.organization()];
    const products = await Promise.all(orgs.map((org) => org.create()));
    const expected = Array.from(
      { length: 40 },
      (_, i) => i % 5 === 0 ? "UNAUTHORIZED" : products[i % 2]!.id,
    );
    const asked = () =>
      Promise.all(expected.map(async (_, i) => {
        const { path } = products[i % 2]!;
        const { body } = await (i % 5 === 0
          ? app.send(path, { headers: { "x-api-key": unknownKey() } })
          : orgs[i % 2]!.get(path));
        return body.data?.id ?? body.error.code;
      }));

    assertEquals(await asked(), expected);
    for (const change of CHANGES_OF_READS) {
      await observer.unsafe(change);
      assertEquals(await asked(), expected);
    }
    await scene.assertSound();
  });
  // On a busy machine, the first requests take seconds.
}, { deadlineMs: 60_000 });

/** False for a statement that did not get its lock in time. Throws other errors. */
function unlessLocked(error: { code?: string }): false {
  if (error.code !== "55P03") throw error;
  return false;
}

function unknownKey(): string {
  const random = crypto.randomUUID().replaceAll("-", "");
  return `cat_${random.slice(0, 12)}_${random.padEnd(43, "0")}`;
}
