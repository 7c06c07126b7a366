import { assertEquals } from "@std/assert";
import { assertDetails } from "../support/expect.ts";
import { openApp, type Organization } from "../support/harness.ts";
import { assertBuilt, read } from "../support/stored.ts";

/** The arrays that keep rows without an entry, with an entry each. */
const MERGED = {
  product_prices: { currency_code: "GBP" },
  packing_configurations: { unit_of_measure: "inner" },
};

const TEXT = { collateral_type: "text_content", text: "€".repeat(100_000) };

Deno.test("The largest size of a product", async (t) => {
  await using app = await openApp();

  await t.step("is a response of 4 MiB", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    let collateral: object[] = [];
    for (;;) {
      const before = await read(app, org, path);
      const reply = await org.put(path, {
        title: "Changed",
        collateral: [...collateral, TEXT, TEXT],
      });
      if (reply.status !== 200) {
        assertDetails(reply, ["", "too_large"]);
        assertEquals((await read(app, org, path)).text, before.text);
        break;
      }
      collateral = reply.body.data.collateral.map((
        { id, collateral_type }: Record<string, string>,
      ) => ({ id, collateral_type }));
    }
    assertEquals(collateral.length, 12);
    await assertBuilt(app, org);
  });

  for (const [array, entry] of Object.entries(MERGED)) {
    await t.step(`is 500 entries of ${array}`, async () => {
      const org = await app.organization();
      const { path, product } = await org.create({
        [array]: Array(499).fill(entry),
      });
      const more = { title: "Changed", [array]: [entry, entry] };

      assertDetails(await org.put(path, more), [`/${array}`, "too_large"]);
      assertEquals((await org.get(path)).body.data, product);
      assertEquals(await count(org, path, array, [entry]), 500);
      assertDetails(await org.put(path, { [array]: [entry] }), [
        `/${array}`,
        "too_large",
      ]);
      assertEquals(await count(org, path, array, []), 0);
      assertEquals(await count(org, path, array, [entry]), 1);
    });

    await t.step(
      `counts all rows of ${array}, even with gaps in their positions`,
      async () => {
        const org = await app.organization();
        const full = await org.create();
        const { id, path } = await org.create({ [array]: [entry] });
        await app.sql((sql) =>
          sql`
          insert into ${sql(array)} (
            organization_id, product_id, id, position, ${
            sql(Object.keys(entry)[0]!)
          }
          )
          select ${org.id}, ${full.id}, gen_random_uuid(), 0, ${
            Object.values(entry)[0]
          }
          from generate_series(1, 500)
        `
        );
        await app.sql((sql) =>
          sql`update ${sql(array)} set position = 499 where product_id = ${id}`
        );

        assertDetails(await org.put(full.path, { [array]: [entry] }), [
          `/${array}`,
          "too_large",
        ]);
        assertEquals(await count(org, path, array, [entry, entry]), 3);
      },
    );

    await t.step(
      `is not reached early when ${array} are sent back`,
      async () => {
        const org = await app.organization();
        const { path } = await org.create({ [array]: Array(40).fill(entry) });
        for (let rows = 41; rows <= 60; rows++) {
          const { body: { data } } = await org.get(path);

          assertEquals(
            await count(org, path, array, [...data[array], entry]),
            rows,
          );
        }
      },
    );
  }

  await t.step(
    "does not prevent reading what SQL made larger",
    async () => {
      const org = await app.organization();
      const { id, path } = await org.create({ collateral: [TEXT] });
      await app.sql((sql) =>
        sql`
        insert into collateral (organization_id, product_id, id, position, collateral_type, text)
        select ${org.id}, ${id}, gen_random_uuid(), i, 'text_content', repeat('x', 100000)
        from generate_series(1, 49) i
      `
      );
      const large = await read(app, org, path);

      assertEquals(large.data.collateral.length, 50);
      assertEquals((await org.get("/api/products")).body.meta.total, 1);
      assertEquals((await org.put(path, {})).status, 200);
      assertDetails(await org.put(path, { title: "Changed" }), [
        "",
        "too_large",
      ]);
      assertEquals((await read(app, org, path)).text, large.text);
      const { status } = await org.put(path, { collateral: [] });
      assertEquals(status, 200);
    },
  );
});

/** Writes the array, and returns the product's number of entries. */
async function count(
  org: Organization,
  path: string,
  array: string,
  entries: object[],
): Promise<number> {
  const { status, body } = await org.put(path, { [array]: entries });
  assertEquals(status, 200, JSON.stringify(body.error));
  return body.data[array].length;
}
