import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { assertDetails } from "../support/client/expect.ts";
import { openApp } from "../support/app/harness.ts";
import { insertTree, TREE, withoutIds } from "../support/data/rights_tree.ts";

const TOO_MANY_ROWS = Array(50).fill({ supply_details: Array(401).fill({}) });

Deno.test("PUT and GET /products/{id}/territories", async (t) => {
  await using app = await openApp();

  await t.step("create the whole tree", async () => {
    const org = await app.organization();
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

  await t.step(
    "change only updated_at if a response is sent back",
    async () => {
      const org = await app.organization();
      const { id, path } = await org.create({ page_count: 3 });
      await insertTree(app, org, id);
      const before = await org.get(path);

      const { body: { data } } = await org.get(`${path}/territories`);
      const after = await org.put(`${path}/territories`, data);

      assertEquals(after.status, 200);
      assert(after.body.data.updated_at > before.body.data.updated_at);
      assertNotEquals(after.headers.get("etag"), before.headers.get("etag"));
      const { updated_at } = after.body.data;
      assertEquals(after.body.data, { ...before.body.data, updated_at });
    },
  );

  await t.step("keep the rows of entries with an id", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    const supply = (supplier_name: string) => ({
      supplier: { supplier_name },
      prices: [{ price_amount: 1 }],
    });
    const { body: { data: { product_territories: [first, second] } } } =
      await org.put(`${path}/territories`, [
        { market_reference: "A", supply_details: [supply("x"), supply("y")] },
        { market_reference: "B", markets: [{ name: "Old" }] },
      ]);
    const [x, y] = first.supply_details;

    const { status, body: { data } } = await org.put(`${path}/territories`, [
      { id: second.id, markets: [{ id: second.markets[0].id, name: "New" }] },
      { id: first.id, supply_details: [{ id: y.id, prices: x.prices }] },
      { supply_details: [{ id: x.id }] },
    ]);

    assertEquals(status, 200);
    const [one, two, three] = data.product_territories;
    assertEquals([one.id, two.id], [second.id, first.id]);
    assertEquals(one.market_reference, null);
    assertEquals(one.markets, [{
      ...second.markets[0],
      name: "New",
    }]);
    assertEquals(two.supply_details[0].id, y.id);
    assertEquals(two.supply_details[0].supplier.supplier_name, null);
    assertEquals(two.supply_details[0].prices, x.prices);
    assertEquals(three.supply_details[0].id, x.id);
    assertEquals(three.supply_details[0].prices, []);
  });

  await t.step("delete everything for an empty array", async () => {
    const org = await app.organization();
    const { id, path } = await org.create();
    await insertTree(app, org, id);

    const { status, body } = await org.put(`${path}/territories`, []);

    assertEquals(status, 200);
    assertEquals(body.data.product_territories, []);
    assertEquals((await org.get(`${path}/territories`)).body.data, []);
  });

  await t.step("name every error of the tree with its pointer", async () => {
    const org = await app.organization();
    const { path } = await org.create();

    const reply = await org.put(`${path}/territories`, [
      {
        exclusivity: "maybe",
        shelf: 1,
        markets: [{
          territory: {
            countries_included: ["GB", "XX"],
            countries_excluded: null,
            regions_included: ["GB-XXX"],
            regions_excluded: [7],
          },
        }, { name: 5, territory: null }],
        market_publishing_detail: {
          market_publishing_status: "99",
          market_dates: [{ market_date_role: "99", date: "2026-02-30" }, {}],
        },
        supply_details: [{
          supplier: { supplier_role: "99", supplier_name: "x".repeat(2001) },
          product_availability: "00",
          supply_dates: [{ supply_date_role: "99", date: "now" }],
          order_time: 0,
          pack_quantity: 1.5,
          unpriced_item_type: "99",
          prices: [{
            price_type: "99",
            price_amount: -1,
            currency_code: "gbp",
            price_status: "99",
            minimum_order_quantity: "1",
            valid_from: "2026-02-01",
            valid_to: "2026-01-31",
            taxes: [{
              tax_type: "99",
              tax_rate_code: "X",
              tax_rate_percent: 101,
              taxable_amount: "1.23456",
              tax_amount: "1000000000000",
            }],
          }],
        }],
      },
      "not a territory",
      { market_publishing_detail: [], supply_details: {}, id: "x" },
    ]);

    const supply = "/0/supply_details/0";
    const price = `${supply}/prices/0`;
    assertDetails(
      reply,
      ["/0/exclusivity", "invalid_value"],
      ["/0/shelf", "unknown_field"],
      ["/0/markets/0/territory/countries_included/1", "invalid_code"],
      ["/0/markets/0/territory/countries_excluded", "invalid_type"],
      ["/0/markets/0/territory/regions_included/0", "invalid_code"],
      ["/0/markets/0/territory/regions_excluded/0", "invalid_code"],
      ["/0/markets/1/name", "invalid_type"],
      ["/0/markets/1/territory", "invalid_type"],
      ["/0/market_publishing_detail/market_publishing_status", "invalid_code"],
      [
        "/0/market_publishing_detail/market_dates/0/market_date_role",
        "invalid_code",
      ],
      ["/0/market_publishing_detail/market_dates/0/date", "invalid_date"],
      [
        "/0/market_publishing_detail/market_dates/1/market_date_role",
        "required",
      ],
      ["/0/market_publishing_detail/market_dates/1/date", "required"],
      [`${supply}/supplier/supplier_role`, "invalid_code"],
      [`${supply}/supplier/supplier_name`, "too_long"],
      [`${supply}/product_availability`, "invalid_code"],
      [`${supply}/supply_dates/0/supply_date_role`, "invalid_code"],
      [`${supply}/supply_dates/0/date`, "invalid_date"],
      [`${supply}/order_time`, "out_of_range"],
      [`${supply}/pack_quantity`, "out_of_range"],
      [`${supply}/unpriced_item_type`, "invalid_code"],
      [`${price}/price_type`, "invalid_code"],
      [`${price}/price_amount`, "invalid_amount"],
      [`${price}/currency_code`, "invalid_code"],
      [`${price}/price_status`, "invalid_code"],
      [`${price}/minimum_order_quantity`, "invalid_type"],
      [`${price}/valid_to`, "invalid_date"],
      [`${price}/taxes/0/tax_type`, "invalid_code"],
      [`${price}/taxes/0/tax_rate_code`, "invalid_code"],
      [`${price}/taxes/0/tax_rate_percent`, "invalid_percent"],
      [`${price}/taxes/0/taxable_amount`, "invalid_amount"],
      [`${price}/taxes/0/tax_amount`, "invalid_amount"],
      ["/1", "invalid_type"],
      ["/2/market_publishing_detail", "invalid_type"],
      ["/2/supply_details", "invalid_type"],
      ["/2/id", "invalid_uuid"],
    );
  });

  await t.step("refuse other types and long arrays", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    const put = (body: unknown) => org.put(`${path}/territories`, body);

    for (const body of [{}, "null", "7", '"x"']) {
      assertDetails(await put(body), ["", "invalid_type"]);
    }
    assertDetails(await put(Array(501).fill({})), ["", "too_many"]);
    assertDetails(await put([{ markets: Array(501).fill({}) }]), [
      "/0/markets",
      "too_many",
    ]);
    assertDetails(await put(TOO_MANY_ROWS), ["", "too_many"]);
  });

  await t.step("list a hundred errors at most", async () => {
    const org = await app.organization();
    const { path } = await org.create();

    const { status, body: { error } } = await org.put(
      `${path}/territories`,
      Array(300).fill({ exclusivity: 1 }),
    );

    assertEquals(status, 400);
    assertEquals(error.details.length, 100);
  });

  await t.step("refuse the id of another product's row", async () => {
    const org = await app.organization();
    const { id, path } = await org.create();
    const other = await org.create();
    const tree = [{
      markets: [{}],
      supply_details: [{ prices: [{}] }],
    }];
    await insertTree(app, org, id);
    const { body: { data: { product_territories: [foreign] } } } = await org
      .put(`${other.path}/territories`, tree);
    const before = await org.get(path);

    const reply = await org.put(`${path}/territories`, [
      foreign,
      { id: uuidv7() },
      // The id of a row of another kind.
      { supply_details: [{ id: TREE[0]!.id }] },
    ]);

    assertDetails(
      reply,
      ["/0/id", "unknown_reference"],
      ["/0/markets/0/id", "unknown_reference"],
      ["/0/supply_details/0/id", "unknown_reference"],
      ["/0/supply_details/0/prices/0/id", "unknown_reference"],
      ["/1/id", "unknown_reference"],
      ["/2/supply_details/0/id", "unknown_reference"],
    );
    const after = await org.get(path);
    assertEquals(after.text, before.text);
  });

  await t.step("refuse a duplicate id in the tree", async () => {
    const org = await app.organization();
    const { id, path } = await org.create();
    await insertTree(app, org, id);
    const [territory] = TREE;
    const [market] = territory!.markets;
    const [supply] = territory!.supply_details;

    const reply = await org.put(`${path}/territories`, [
      { ...territory, exclusivity: "maybe" },
      { id: territory!.id!.toUpperCase() },
      { markets: [{ id: market!.id }], supply_details: [{ id: supply!.id }] },
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

  await t.step("honour If-Match and If-None-Match", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    const at = `${path}/territories`;
    const etag = (await org.get(at)).headers.get("etag")!;

    const known = await org.get(at, { "if-none-match": etag });
    const other = await org.put(at, [{}], { "if-match": '"other"' });
    const same = await org.put(at, [{}], { "if-match": etag });
    const again = await org.put(at, [], { "if-match": etag });

    assertEquals(known.status, 304);
    assertEquals(known.headers.get("etag"), etag);
    assertEquals(other.status, 412);
    assertEquals(same.status, 200);
    assertEquals(again.status, 412);
    assertEquals((await org.get(at)).body.data.length, 1);
  });

  await t.step("return 404 outside the organization", async () => {
    const [org, other] = [await app.organization(), await app.organization()];
    const { id, path } = await org.create();
    await insertTree(app, org, id);
    for (const at of [path, `/api/products/${uuidv7()}`]) {
      for (const body of [[], [{}], TREE]) {
        const { status } = await other.put(`${at}/territories`, body);
        const conditional = await other.put(`${at}/territories`, body, {
          "if-match": '"other"',
        });

        assertEquals(status, 404);
        assertEquals(conditional.status, 404);
      }
      assertEquals((await other.get(`${at}/territories`)).status, 404);
    }
    assertEquals((await org.get(`${path}/territories`)).body.data, TREE);
  });

  await t.step("refuse writes with a read-only key", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    const key = { "x-api-key": await org.issueKey("read") };

    assertEquals((await org.get(`${path}/territories`, key)).status, 200);
    assertEquals((await org.put(`${path}/territories`, [], key)).status, 403);
  });

  await t.step("keep every digit of an amount", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    const digits = "999999999999.9999";
    for (const amount of [digits, `"${digits}"`]) {
      const put = await org.put(
        `${path}/territories`,
        `[{"supply_details":[{"prices":[{"price_amount":${amount}}]}]}]`,
      );
      const got = await org.get(`${path}/territories`);

      for (const { status, text } of [put, got]) {
        assertEquals(status, 200);
        assert(/"price_amount" ?: ?999999999999\.9999\b/.test(text));
      }
    }
  });

  await t.step(
    "accept 200 territories with 20 supply details each",
    async () => {
      const org = await app.organization();
      const { path } = await org.create();
      const supply = {
        supplier: { supplier_role: "01", supplier_name: "Harbour" },
        product_availability: "20",
        prices: [{
          price_type: "02",
          price_amount: 9.99,
          currency_code: "GBP",
        }],
      };
      const tree = Array.from({ length: 200 }, (_, i) => ({
        market_reference: `M${i}`,
        markets: [{ territory: { countries_included: ["GB", "IE"] } }],
        supply_details: Array(20).fill(supply),
      }));

      const first = await org.put(`${path}/territories`, tree);
      const second = await org.put(
        `${path}/territories`,
        withoutIds(first.body.data.product_territories.slice(0, 100)),
      );

      assertEquals(first.status, 200);
      assertEquals(first.body.data.product_territories.length, 200);
      assertEquals(second.status, 200);
      assertEquals(second.body.data.product_territories.length, 100);
    },
  );

  await t.step("return more values than a body may have", async () => {
    const org = await app.organization();
    const { path } = await org.create({
      collateral: [{
        collateral_type: "text_content",
        text: ',"product_territories":[],"product_sales_rights":[]}',
      }],
    });
    const supply = { prices: Array(450).fill({}) };

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

  await t.step("refuse a product that is larger than 4 MiB", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    const before = await org.get(path);

    const reply = await org.put(
      `${path}/territories`,
      Array(39).fill({ supply_details: Array(500).fill({}) }),
    );

    assertDetails(reply, ["", "too_large"]);
    assertEquals((await org.get(path)).text, before.text);
  });

  await t.step("leave one complete tree of two concurrent ones", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    const tree = (name: string) =>
      Array(5).fill({ market_reference: name, markets: [{ name }, { name }] });
    const put = (name: string) => org.put(`${path}/territories`, tree(name));

    const replies = await Promise.all(["A", "B", "A", "B"].map(put));

    for (const { status } of replies) assertEquals(status, 200);
    const { body: { data } } = await org.get(`${path}/territories`);
    const names = data.flatMap((
      { market_reference, markets }: typeof TREE[number],
    ) => [market_reference, ...markets.map(({ name }) => name)]);
    assertEquals(names, Array(15).fill(names[0]));
  });
});
