import { assert, assertEquals } from "@std/assert";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import { testsOf } from "../support/app/harness.ts";

const EVERYWHERE_ELSE = {
  countries_included: [],
  countries_excluded: [],
  regions_included: ["WORLD"],
  regions_excluded: [],
};

const RIGHTS = [
  {
    sales_rights_type: "01",
    territory: {
      countries_included: ["GB", "IE"],
      regions_excluded: ["GB-NIR"],
    },
    publisher_name: "Harbour Press",
  },
  { sales_rights_type: "05", territory: EVERYWHERE_ELSE },
  { sales_rights_type: "03", is_rest_of_world: true, territory: null },
];

const it = testsOf("PUT and GET /products/{id}/sales-rights");

it("create all rights, in order", async ({ org }) => {
  const { path, product } = await org.create();

  const put = await org.put(`${path}/sales-rights`, RIGHTS);
  const got = await org.get(`${path}/sales-rights`);

  assertEquals(put.status, 200);
  assert(put.body.data.updated_at > product.updated_at);
  assertEquals(put.body.data.product_sales_rights, got.body.data);
  assertEquals(put.headers.get("etag"), got.headers.get("etag"));
  assertHas(got.body.data, [
    {
      sales_rights_type: "01",
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
    },
    {
      sales_rights_type: "05",
      for_sale: false,
      exclusive: false,
      territory: EVERYWHERE_ELSE,
      publisher_name: null,
    },
    {
      sales_rights_type: "03",
      for_sale: false,
      exclusive: null,
      is_rest_of_world: true,
      territory: null,
    },
  ]);
});

// `tests/input/fields_test.ts` sends each field and each id that it refuses.
it("need a territory, or are for the rest of the world", async ({ org }) => {
  const { path } = await org.create();
  await org.put(`${path}/sales-rights`, RIGHTS);

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
    await org.put(`${path}/sales-rights`, Array(501).fill(RIGHTS[2])),
    ["", "too_many"],
  );
  assertEquals((await org.get(`${path}/sales-rights`)).body.data.length, 3);
});
