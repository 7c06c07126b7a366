import { assertEquals } from "@std/assert";
import { ARRAYS } from "../../schema/product.ts";
import {
  type App,
  openApp,
  type Organization,
} from "../support/app/harness.ts";
import { insertTree, TREE } from "../support/data/rights_tree.ts";

Deno.test("Rights and supply", async (t) => {
  await using app = await openApp();

  await t.step("are complete in a product", async () => {
    const org = await app.organization();
    const { id, path } = await org.create();
    await insertTree(app, org, id);

    const read = await org.get(path);
    const written = await org.put(path, { title: "Persuasion" });

    assertEquals(read.body.data.product_territories, TREE);
    assertEquals(written.body.data.product_territories, TREE);
  });

  await t.step("are embedded in a list by include", async () => {
    const org = await app.organization();
    const { id } = await org.create();
    await insertTree(app, org, id);
    await insertRights(app, org, id);
    const { body: { data: product } } = await org.get(`/api/products/${id}`);
    const shallow = TREE.map((
      { id, market_reference, exclusivity, markets },
    ) => ({
      id,
      market_reference,
      exclusivity,
      markets,
    }));
    const { product_sales_rights } = product;

    for (
      const [include, embedded] of [
        ["", {}],
        ["product_territories", { product_territories: shallow }],
        ["sales_rights", { product_sales_rights }],
        ["product_sales_rights", { product_sales_rights }],
        ["sales_rights,product_territories", {
          product_territories: shallow,
          product_sales_rights,
        }],
      ] as const
    ) {
      const { status, body: { data: [item] } } = await org.get(
        `/api/products?include=${include}`,
      );

      assertEquals(status, 200);
      const lighter = Object.fromEntries(
        Object.entries(product).filter(([field]) => !NESTED.includes(field)),
      );
      assertEquals(item, { ...lighter, ...embedded });
    }
  });

  await t.step(
    "derive for_sale from the sales rights type (ONIX List 46)",
    async () => {
      const org = await app.organization();
      const { id, path } = await org.create();
      await insertRights(app, org, id);

      const { body: { data } } = await org.get(path);

      const rights: Record<string, unknown>[] = data.product_sales_rights;
      assertEquals(
        rights.map((right) => [
          right.sales_rights_type,
          right.for_sale,
          right.exclusive,
        ]),
        [
          ["00", false, null],
          ["01", true, true],
          ["02", true, false],
          ["03", false, null],
          ["04", false, true],
          ["05", false, false],
          ["06", false, null],
          ["07", true, true],
          ["08", true, false],
        ],
      );
      assertEquals(rights[1], {
        id: rights[1]!.id,
        sales_rights_type: "01",
        sales_rights_type_label:
          "For sale, based on publisher’s exclusive publishing rights in the specified territory",
        for_sale: true,
        exclusive: true,
        is_rest_of_world: false,
        territory: {
          countries_included: ["GB", "IE"],
          countries_excluded: [],
          regions_included: [],
          regions_excluded: ["GB-NIR"],
        },
        publisher_name: "Harbour Press",
      });
    },
  );

  await t.step("have no territory for the rest of the world", async () => {
    const org = await app.organization();
    const { id, path } = await org.create();
    await insertRights(app, org, id);

    const { body: { data } } = await org.get(path);

    assertEquals(data.product_sales_rights[0], {
      id: data.product_sales_rights[0].id,
      sales_rights_type: "00",
      sales_rights_type_label:
        "Sales rights unknown or unstated for any reason",
      for_sale: false,
      exclusive: null,
      is_rest_of_world: true,
      territory: null,
      publisher_name: null,
    });
  });
});

/** The fields that lists omit. */
const NESTED = Object.keys(ARRAYS);

/** One row per code of ONIX List 46, the first for the rest of the world. */
async function insertRights(
  app: App,
  org: Organization,
  product: string,
): Promise<void> {
  await app.sql((sql) =>
    sql`
      insert into product_sales_rights (
        organization_id, product_id, position, sales_rights_type, is_rest_of_world,
        countries_included, regions_excluded, publisher_name
      )
      select
        ${org.id}, ${product}, position, '0' || position, position = 0,
        '{GB,IE}', '{GB-NIR}', case when position > 0 then 'Harbour Press' end
      from generate_series(8, 0, -1) position
    `
  );
}
