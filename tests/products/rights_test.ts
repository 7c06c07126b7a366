import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { ARRAYS } from "../../schema/product.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { eventually } from "../support/app/eventually.ts";
import { assertDetails } from "../support/client/expect.ts";
import { insertTree, TREE, withoutIds } from "../support/data/rights_tree.ts";

/** The arrays of a product that have paths of their own, with entries. */
const TREES: [
  name: string,
  array: string,
  entries: object[],
  ignored: string[],
][] = [
  ["territories", "product_territories", withoutIds(TREE), [
    "market_publishing_detail.market_publishing_status_label",
    "market_publishing_detail.market_dates.market_date_role_label",
    "supply_details.supplier.supplier_role_label",
    "supply_details.product_availability_label",
    "supply_details.supply_dates.supply_date_role_label",
    "supply_details.prices.price_type_label",
    "supply_details.prices.price_qualifier_label",
  ]],
  ["sales-rights", "product_sales_rights", [
    {
      sales_rights_type: "01",
      territory: { countries_included: ["GB", "IE"] },
    },
    { sales_rights_type: "03", is_rest_of_world: true, territory: null },
  ], ["sales_rights_type_label", "for_sale", "exclusive"]],
];

const CONDITIONS: HeadersInit[] = [{}, { "if-match": '"other"' }];

const it = testsOf("Rights and supply");

for (const [name, array, entries, ignored] of TREES) {
  it(`${name}: change only updated_at if a response is sent back`, async ({ org }) => {
    const { path } = await org.create({ page_count: 3 });
    const before = await org.put(`${path}/${name}`, entries);

    const { body: { data }, headers } = await org.get(`${path}/${name}`);
    assertEquals(data, before.body.data[array]);
    assertEquals(headers.get("etag"), before.headers.get("etag"));
    const after = await org.put(`${path}/${name}`, data);
    const emptied = await org.put(`${path}/${name}`, []);

    assertEquals([after.status, emptied.status], [200, 200]);
    assertEquals(after.headers.get("ignored-fields"), ignored.join(", "));
    assert(after.body.data.updated_at > before.body.data.updated_at);
    assertNotEquals(after.headers.get("etag"), before.headers.get("etag"));
    const { updated_at } = after.body.data;
    assertEquals(after.body.data, { ...before.body.data, updated_at });
    assertEquals(emptied.body.data[array], []);
    assertEquals((await org.get(`${path}/${name}`)).body.data, []);
  });

  it(`${name}: honour If-Match and If-None-Match with the product's ETag`, async ({ org }) => {
    const { path } = await org.create();
    const at = `${path}/${name}`;
    const etag = (await org.get(path)).headers.get("etag")!;

    const known = await org.get(at, { "if-none-match": etag });
    const other = await org.put(at, entries, { "if-match": '"other"' });
    const same = await org.put(at, entries, { "if-match": etag });
    const again = await org.put(at, [], { "if-match": etag });

    assertEquals([known, other, same, again].map(({ status }) => status), [
      304,
      412,
      200,
      412,
    ]);
    assertEquals(known.headers.get("etag"), etag);
    assertEquals((await org.get(at)).body.data.length, entries.length);
  });

  it(`${name}: return 404 outside the organization`, async ({ org, app }) => {
    const other = await app.organization();
    const { path } = await org.create();
    const { body: { data } } = await org.put(`${path}/${name}`, entries);
    for (const at of [path, `/api/products/${uuidv7()}`]) {
      for (const body of [[], entries, data[array]]) {
        for (const headers of CONDITIONS) {
          const { status } = await other.put(`${at}/${name}`, body, headers);
          assertEquals(status, 404);
        }
      }
      assertEquals((await other.get(`${at}/${name}`)).status, 404);
    }
    assertEquals((await org.get(`${path}/${name}`)).body.data, data[array]);
  });
}

it("are embedded in a list by include", async ({ org, app }) => {
  const { id } = await org.create();
  await insertTree(app, org, id);
  await insertRights(app, org, id);
  const { body: { data: product } } = await org.get(`/api/products/${id}`);
  const shallow = TREE.map((
    { id, market_reference, exclusivity, markets },
  ) => ({ id, market_reference, exclusivity, markets }));
  const { product_territories, product_sales_rights } = product;
  const both = { product_territories: shallow, product_sales_rights };

  for (
    const [include, embedded] of [
      ["", {}],
      ["product_territories", { product_territories: shallow }],
      ["supply_details", { product_territories }],
      ["supply_details,product_territories", { product_territories }],
      ["sales_rights", { product_sales_rights }],
      ["product_sales_rights", { product_sales_rights }],
      ...[
        "sales_rights,product_territories",
        " product_territories , sales_rights ",
        "sales_rights,sales_rights,product_territories",
      ].map((include) => [include, both] as const),
    ] as const
  ) {
    const { status, body: { data: [item] } } = await org.get(
      `/api/products?include=${encodeURIComponent(include)}`,
    );

    assertEquals(status, 200);
    const lighter = Object.fromEntries(
      Object.entries(product).filter(([field]) => !NESTED.includes(field)),
    );
    assertEquals(item, { ...lighter, ...embedded });
  }
  await eventually([product_territories], async () => {
    const { body } = await org.get(
      "/api/products/changes?include=supply_details",
    );
    return body.data.map((change: { product: typeof product }) =>
      change.product.product_territories
    );
  });
});

it("derive for_sale from the sales rights type (ONIX List 46)", async ({ org, app }) => {
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
});

// `tests/input/fields_test.ts` sends each field and each id that it refuses.
it("of sale need a territory, or are for the rest of the world", async ({ org }) => {
  const [, , [, world]] = TREES[1]!;
  const { path } = await org.create();
  const kept = await org.put(`${path}/sales-rights`, TREES[1]![2]);

  assertDetails(
    await org.put(`${path}/sales-rights`, [
      { territory: {} },
      { sales_rights_type: "01" },
      { sales_rights_type: "01", territory: null, is_rest_of_world: false },
      { sales_rights_type: "01", territory: { countries_included: [] } },
      { sales_rights_type: "03", is_rest_of_world: true, territory: {} },
      { sales_rights_type: "9", is_rest_of_world: true, territory: {} },
    ]),
    ["/0/sales_rights_type", "required"],
    ["/0/territory", "required"],
    ["/1/territory", "required"],
    ["/2/territory", "required"],
    ["/3/territory", "required"],
    ["/4/territory", "unexpected_territory"],
    ["/5/is_rest_of_world", "duplicate"],
    ["/5/sales_rights_type", "invalid_code"],
    ["/5/territory", "unexpected_territory"],
  );
  assertDetails(await org.put(`${path}/sales-rights`, {}), [
    "",
    "invalid_type",
  ]);
  assertDetails(
    await org.put(`${path}/sales-rights`, Array(501).fill(world)),
    ["", "too_many"],
  );
  assertEquals((await org.get(path)).text, kept.text);
});

/** The fields that lists omit. */
const NESTED = Object.keys(ARRAYS);

/** One row per code of ONIX List 46, the first for the rest of the world. */
async function insertRights(
  app: App,
  org: Organization,
  product: string,
): Promise<void> {
  await app.sql`
    insert into product_sales_rights (
      organization_id, product_id, position, sales_rights_type, is_rest_of_world,
      countries_included, regions_excluded, publisher_name
    )
    select
      ${org.id}, ${product}, position, '0' || position, position = 0,
      '{GB,IE}', '{GB-NIR}', case when position > 0 then 'Harbour Press' end
    from generate_series(8, 0, -1) position
  `;
}
