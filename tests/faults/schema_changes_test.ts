import { assertEquals } from "@std/assert";
import { startLoad } from "./load.ts";
import { pause } from "../../db/deadline.ts";
import { isPossible, openScene } from "./scene.ts";

/** What a later release may do while this one still runs. */
const CHANGES = [
  "alter table products add column spine_width numeric",
  "alter table product_prices add column note text not null default ''",
  "alter table products alter column page_count type bigint",
  "create index products_pages on products (organization_id, page_count)",
  "alter table products drop column spine_width",
  "alter table custom_field_values add column unit text",
];

Deno.test({ name: "A schema that changes", ignore: !isPossible }, async (t) => {
  await using scene = await openScene();
  const { app, observer } = scene;

  await t.step("under load, fails no request", async () => {
    const load = await startLoad(app);

    for (const change of CHANGES) {
      await pause(200);
      await observer.unsafe(change);
    }
    await pause(200);
    await load.stop();

    assertEquals(Object.keys(load.answers), ["200", "201"]);
    await scene.assertSound(load);
  });
});
