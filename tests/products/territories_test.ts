import { assert, assertEquals } from "@std/assert";
import { assertDetails } from "../support/client/expect.ts";
import { testsOf } from "../support/app/harness.ts";
import { insertTree, TREE, withoutIds } from "../support/data/rights_tree.ts";

/** A tree of 20,001 rows, one more than it may have. */
const TOO_MANY_ROWS = Array.from({ length: 40 }, (_, i) => ({
  supply_details: Array(i ? 499 : 500).fill({}),
}));

const it = testsOf("PUT and GET /products/{id}/territories");

it("create the whole tree", async ({ org }) => {
  const { path, product } = await org.create();

  const put = await org.put(`${path}/territories`, withoutIds(TREE));
  const got = await org.get(`${path}/territories`);
  const full = await org.get(path);

  assertEquals(put.status, 200);
  assertEquals(put.headers.get("etag"), full.headers.get("etag"));
  assertEquals(put.body, full.body);
  assertEquals(got.headers.get("etag"), full.headers.get("etag"));
  assertEquals(got.body.data, full.body.data.product_territories);
  assertEquals(withoutIds(got.body.data), withoutIds(TREE));
  assert(put.body.data.updated_at > product.updated_at);
});

it("keep the rows of entries with an id", async ({ org }) => {
  const { path } = await org.create();
  const territory = { countries_included: ["GB"] };
  const supply = (supplier_name: string) => ({
    supplier: { supplier_name },
    prices: [{ price_amount: 1, currency_code: "GBP" }],
  });
  const { body: { data: { product_territories: [first, second] } } } = await org
    .put(`${path}/territories`, [
      { market_reference: "A", supply_details: [supply("x"), supply("y")] },
      { market_reference: "B", markets: [{ name: "Old", territory }] },
    ]);
  const [x, y] = first.supply_details;

  const { status, body: { data } } = await org.put(`${path}/territories`, [
    {
      id: second.id,
      markets: [{ id: second.markets[0].id, name: "New", territory }],
    },
    { id: first.id, supply_details: [{ id: y.id, prices: x.prices }] },
    { supply_details: [{ id: x.id }] },
  ]);

  assertEquals(status, 200);
  const [one, two, three] = data.product_territories;
  assertEquals([one.id, two.id], [second.id, first.id]);
  assertEquals(one.market_reference, null);
  assertEquals(one.markets, [{ ...second.markets[0], name: "New" }]);
  assertEquals(two.supply_details[0].id, y.id);
  assertEquals(two.supply_details[0].supplier.supplier_name, null);
  assertEquals(two.supply_details[0].prices, x.prices);
  assertEquals(three.supply_details[0].id, x.id);
  assertEquals(three.supply_details[0].prices, []);
});

it("refuse other types and long arrays", async ({ org }) => {
  const { path } = await org.create();
  const put = (body: unknown) => org.put(`${path}/territories`, body);

  for (const body of [{}, "null", "7", '"x"']) {
    assertDetails(await put(body), ["", "invalid_type"]);
  }
  assertDetails(await put(Array(501).fill({})), ["", "too_many"]);
  assertDetails(await put(TOO_MANY_ROWS), ["", "too_many"]);
});

it("refuse a price that ends before it begins", async ({ org }) => {
  const { path } = await org.create();
  const day = "2026-01-01";
  const prices = [
    { valid_from: day, valid_to: day },
    { valid_from: day, valid_to: "2025-12-31" },
    { valid_from: null, valid_to: day },
    { valid_from: day, valid_to: "2025-12-32" },
    { valid_to: "2025-12-31", valid_from: day, price_type: "ZZ" },
  ];
  const put = (prices: object[]) =>
    org.put(`${path}/territories`, [
      {},
      { supply_details: [{}, {}, { prices }] },
    ]);
  const kept = await put(prices.slice(0, 1));

  const reply = await put(prices);

  assertEquals(kept.status, 200);
  assertDetails(
    reply,
    ["/1/supply_details/2/prices/1/valid_to", "invalid_date"],
    ["/1/supply_details/2/prices/3/valid_to", "invalid_date"],
    ["/1/supply_details/2/prices/4/valid_to", "invalid_date"],
    ["/1/supply_details/2/prices/4/price_type", "invalid_code"],
  );
  assertEquals((await org.get(path)).text, kept.text);
});

it("refuse a duplicate id in the tree", async ({ org, app }) => {
  const { id, path } = await org.create();
  await insertTree(app, org, id);
  const [territory] = TREE;
  const [market] = territory!.markets;
  const [supply] = territory!.supply_details;

  const reply = await org.put(`${path}/territories`, [
    { ...territory, exclusivity: "maybe" },
    { id: territory!.id!.toUpperCase() },
    {
      markets: [{ id: market!.id, territory: market!.territory }],
      supply_details: [{ id: supply!.id }],
    },
    { supply_details: [{ prices: supply!.prices }] },
  ]);

  assertDetails(
    reply,
    ["/0/exclusivity", "invalid_value"],
    ["/1/id", "duplicate"],
    ["/2/markets/0/id", "duplicate"],
    ["/2/supply_details/0/id", "duplicate"],
    ["/3/supply_details/0/prices/0/id", "duplicate"],
    ["/3/supply_details/0/prices/1/id", "duplicate"],
  );
});

it("refuse a territory that contradicts itself", async ({ org }) => {
  const { path } = await org.create();
  const [GB, US, WORLD] = ["GB", "US", "WORLD"];
  const cases: [object, string, string][] = [
    [{ countries_included: [GB, GB] }, "countries_included/1", "duplicate"],
    [
      { countries_included: [GB], countries_excluded: [US, GB] },
      "countries_excluded",
      "contradictory",
    ],
    [
      { regions_included: [WORLD], regions_excluded: [WORLD] },
      "regions_excluded",
      "contradictory",
    ],
    [{ countries_excluded: [US] }, "countries_included", "required"],
    [{ regions_excluded: [WORLD] }, "countries_included", "required"],
  ];

  for (const [territory, at, code] of cases) {
    const market = { markets: [{ territory }] };
    const price = { supply_details: [{ prices: [{ territory }] }] };
    const right = { sales_rights_type: "01", territory };

    assertDetails(await org.put(`${path}/territories`, [market, price]), [
      `/0/markets/0/territory/${at}`,
      code,
    ], [`/1/supply_details/0/prices/0/territory/${at}`, code]);
    assertDetails(await org.put(`${path}/sales-rights`, [right]), [
      `/0/territory/${at}`,
      code,
    ]);
  }
});

it("refuse a market of nothing, and a price without a currency", async ({ org }) => {
  const { path } = await org.create();
  const nowhere = {
    countries_included: [],
    countries_excluded: [],
    regions_included: [],
    regions_excluded: [],
  };
  const put = (entry: object) => org.put(`${path}/territories`, [entry]);

  for (const market of [{}, { name: "Home" }, { territory: nowhere }]) {
    assertDetails(await put({ markets: [market] }), [
      "/0/markets/0/territory",
      "required",
    ]);
  }
  const prices = [
    { price_amount: 5 },
    { price_amount: "0.00" },
    { price_amount: "9.99", currency_code: null },
  ];
  assertDetails(
    await put({ supply_details: [{ prices }] }),
    ...prices.map((_, i): [string, string] => [
      `/0/supply_details/0/prices/${i}/currency_code`,
      "required",
    ]),
  );
  // What is free in ONIX may be of no currency.
  const free = { price_amount: 0, currency_code: null };
  const { status } = await put({
    supply_details: [{ prices: [free, { price_type: "02" }] }],
  });
  assertEquals(status, 200);
});

it("return more values than a body may have", async ({ org }) => {
  const { path } = await org.create({
    collateral: [{
      collateral_type: "text_content",
      text: ',"product_territories":[],"product_sales_rights":[]}',
    }],
  });
  const supply = { prices: Array(300).fill({}) };

  const put = await org.put(
    `${path}/territories`,
    Array(30).fill({ supply_details: [supply] }),
  );
  const territories = await org.get(`${path}/territories`);
  const rights = await org.get(`${path}/sales-rights`);

  assertEquals([put.status, territories.status, rights.status], [
    200,
    200,
    200,
  ]);
  assertEquals(territories.body.data, put.body.data.product_territories);
  assertEquals(rights.body.data, []);
});

it("refuse a product that is larger than 4 MiB", async ({ org }) => {
  const { path } = await org.create();
  const before = await org.get(path);

  const reply = await org.put(
    `${path}/territories`,
    // As many entries as a tree may have.
    Array(40).fill({ supply_details: Array(499).fill({}) }),
  );

  assertDetails(reply, ["", "too_large"]);
  assertEquals((await org.get(path)).text, before.text);
});

it("leave one complete tree of two concurrent ones", async ({ org }) => {
  const { path } = await org.create();
  const tree = (name: string) =>
    Array(5).fill({
      market_reference: name,
      markets: ["GB", "IE"].map((country) => ({
        name,
        territory: { countries_included: [country] },
      })),
    });
  const put = (name: string) => org.put(`${path}/territories`, tree(name));

  const replies = await Promise.all(["A", "B", "A", "B"].map(put));

  for (const { status } of replies) assertEquals(status, 200);
  const { body: { data } } = await org.get(`${path}/territories`);
  const names = data.flatMap((
    { market_reference, markets }: {
      market_reference: string;
      markets: { name: string }[];
    },
  ) => [market_reference, ...markets.map(({ name }) => name)]);
  assertEquals(names, Array(15).fill(names[0]));
});

it("tell two prices of one type, currency, country and time", async ({ org }) => {
  const { path } = await org.create();
  const price = { price_type: "02", price_amount: 7.99, currency_code: "GBP" };
  const of = (territory: object) => ({ ...price, price_amount: 9.99, territory });
  const scotland = of({ regions_included: ["GB-SCT"] });
  // deno-fmt-ignore
  const cases: [other: object, isTold: boolean, first?: object][] = [
    [{ ...price, price_amount: 9.99 }, true],
    [of({ countries_included: ["GB"] }), true],
    [of({ regions_included: ["WORLD"], countries_excluded: ["GB"] }), true],
    [{ ...price, currency_code: "EUR" }, false],
    [{ ...price, price_type: "01" }, false],
    [{ ...price, price_amount: null }, false],
    [{ ...price, valid_from: "2027-03-01" }, false],
    [{ ...price, minimum_order_quantity: 10 }, false],
    [scotland, true, of({ countries_included: ["GB"] })],
    [scotland, false, of({ countries_included: ["GB"], regions_excluded: ["GB-SCT"] })],
    [scotland, false, of({ regions_included: ["WORLD"], countries_excluded: ["GB"] })],
    [of({ regions_included: ["WORLD"], countries_excluded: ["GB"] }), false, scotland],
  ];
  for (const [other, isTold, first = price] of cases) {
    const put = await org.put(`${path}/territories`, [
      {},
      { supply_details: [{ prices: [price] }, { prices: [first, other] }] },
    ]);

    assertEquals(put.status, 200, put.text);
    assertEquals(
      put.body.warnings?.map(({ pointer, code }: { pointer: string; code: string }) => ({
        pointer,
        code,
      })),
      isTold ? [{ pointer: "/1/supply_details/1/prices/1", code: "two_prices" }] : undefined,
      JSON.stringify(other),
    );
  }
});
