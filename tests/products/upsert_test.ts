import { assertEquals, assertNotEquals } from "@std/assert";
import { type Organization, testsOf } from "../support/app/harness.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { Copy } from "../support/client/copy.ts";
import { assertBuilt } from "../support/client/stored.ts";
import { fullBody } from "../support/data/bodies.ts";

type Row = Record<string, unknown>;

/** The result of the upsert of one book. */
async function upsert(org: Organization, body: object, match = "isbn13") {
  const { body: { data } } = await org.batch([{
    method: "upsert",
    match,
    body,
  }]);
  return data[0];
}

const it = testsOf("An upsert says what is");

it("and changes nothing when repeated", async ({ org, app }) => {
  const body = await fullBody(app, org);
  const copy = new Copy(org, app);
  const created = await upsert(org, body);
  await copy.catchUp();

  const repeated = await upsert(org, body);
  const sentBack = await upsert(org, created.data);
  const minimal = await org.batch(
    [{ method: "upsert", match: "isbn10", body }],
    { return: "minimal" },
  );

  assertEquals(created.status, 201);
  assertEquals(repeated, { status: 200, data: created.data });
  assertEquals(sentBack, repeated);
  assertEquals(minimal.body.data, [{
    status: 200,
    data: { id: created.data.id },
  }]);
  assertEquals((await copy.read()).changes, []);
});

it("of the book with the ISBN, not with such a code", async ({ org, sql }) => {
  const isbn13 = "9780306406157";
  const { id } = await org.create({ title: "Emma" });
  await sql`update products set product_code = ${isbn13} where organization_id = ${org.id} and id = ${id}`;

  const created = await upsert(org, { title: "Persuasion", isbn13 });
  const found = await upsert(
    org,
    { product_code: isbn13, page_count: 7 },
    "product_code",
  );

  assertEquals(created.status, 201);
  assertEquals([found.status, found.data.id], [200, id]);
});

it("whatever form its values have", async ({ org, app }) => {
  const { isbn13, ...rest } = await fullBody(app, org);
  const created = await upsert(org, {
    ...rest,
    isbn13,
    product_prices: [
      { currency_code: "GBP", list_price: 30.8, tax_rate: 0 },
      { currency_code: "EUR", list_price: 999999999999.9999 },
    ],
  });

  const repeated = await upsert(org, {
    publisher_id: org.publisher.toUpperCase(),
    isbn13: "978-0-306-40615-7",
    product_prices: [
      {
        currency_code: "GBP",
        list_price: "30.80",
        tax_rate: "-0.00",
        valid_to: null,
        is_default: false,
      },
      { currency_code: "EUR", list_price: "999999999999.9999" },
    ],
    languages: [{ ...rest.languages[0]!, country_code: "GB" }],
  });

  assertEquals(repeated, { status: 200, data: created.data });
});

it("of a price by its id: what it has not, stays", async ({ org }) => {
  const isbn13 = "9780306406157";
  const send = (product_prices: Row[]) =>
    upsert(org, { title: "Emma", isbn13, product_prices });
  const { data } = await send([{ currency_code: "GBP", list_price: 1 }]);

  const [{ id }] = data.product_prices;
  const repeated = await send([{ id }]);

  assertEquals(repeated, { status: 200, data });
  const another = await send([{ currency_code: "GBP", list_price: 2 }, { id }]);
  const [added, kept] = another.data.product_prices;
  assertEquals([kept.id, kept.list_price, added.list_price], [id, 1, 2]);
  assertNotEquals(added.id, id);
});

it("of prices, by currency and start", async ({ org, app }) => {
  const isbn13 = "9780306406157";
  const price = (currency_code: string, rest = {}) => ({
    currency_code,
    ...rest,
  });
  const prices = async (...product_prices: Row[]) => {
    const { status, data } = await upsert(org, {
      title: "Emma",
      isbn13,
      product_prices,
    });
    await assertBuilt(app, org);
    assertEquals(Math.floor(status / 100), 2, JSON.stringify(data));
    return data.product_prices as Row[];
  };
  const from = { valid_from: "2027-01-01" };
  const shown = (rows: Row[]) =>
    rows.map((row) => [row.id, row.currency_code, row.list_price]);

  const [gbp, later, eur] = await prices(
    price("GBP", { list_price: 1, retail_price: 2 }),
    price("GBP", { list_price: 2, ...from }),
    price("EUR", { list_price: 3 }),
  );
  const changed = await prices(
    price("EUR", { list_price: 4 }),
    price("GBP", { list_price: 5 }),
    price("USD", { list_price: 6 }),
  );
  const [, , usd] = changed;

  assertEquals(shown(changed), [
    [eur!.id, "EUR", 4],
    [gbp!.id, "GBP", 5],
    [usd!.id, "USD", 6],
  ]);
  assertEquals(changed[1]!.retail_price, null);
  const twice = await prices(price("GBP"), price("GBP", { list_price: 7 }));
  assertEquals(twice[0]!.id, gbp!.id);
  assertNotEquals(twice[1]!.id, later!.id);
  assertEquals(shown(await prices(price("GBP"), price("GBP"))), [
    [twice[0]!.id, "GBP", null],
    [twice[1]!.id, "GBP", null],
  ]);
  const partly = await prices({ id: twice[1]!.id, list_price: 8 });
  assertEquals(shown(partly), [[twice[1]!.id, "GBP", 8]]);
  assertEquals(await prices(), []);
});

it("of collateral and links, and keeps what is unchanged", async ({ org, app }) => {
  const body = await fullBody(app, org);
  const { data: created } = await upsert(org, body);
  const [text, cited] = body.collateral;

  const { data } = await upsert(org, {
    isbn13: body.isbn13,
    collateral: [{ ...text, text: "Another text" }, cited],
    packing_configurations: [{ unit_of_measure: "inner" }],
    contributors: body.contributors.toReversed(),
    custom_fields: [],
  });

  const idsOf = (rows: Row[]) => rows.map(({ id }) => id);
  assertEquals(idsOf(data.collateral), idsOf(created.collateral.slice(0, 2)));
  assertEquals(data.collateral[0].text, "Another text");
  assertEquals(data.packing_configurations, [
    created.packing_configurations[1],
  ]);
  assertEquals(data.contributors, created.contributors.toReversed());
  assertEquals(data.custom_fields, []);
  assertEquals(data.product_prices, created.product_prices);
  await assertBuilt(app, org);
});

it("of a product form, which its format has", async ({ org }) => {
  const isbn13 = "9780306406157";
  const [hardback, paperback] = [idOfCode("150", "BB"), idOfCode("150", "BC")];
  const without = { title: "Emma", isbn13, product_form_id: hardback };
  const created = await upsert(org, without);
  assertEquals(await upsert(org, without), { status: 200, data: created.data });

  const { data } = await upsert(org, { ...without, format_id: org.format });
  assertEquals(data.product_form_id, hardback);
  const { data: changed } = await upsert(org, {
    isbn13,
    product_form_id: paperback,
  });
  assertEquals(changed.product_form_id, paperback);
});

it("and reports its errors as before", async ({ org, app }) => {
  const body = await fullBody(app, org);
  const { data: created } = await upsert(org, body);

  const { status, error } = await upsert(org, {
    ...body,
    license_id: crypto.randomUUID(),
    product_prices: [
      ...body.product_prices,
      { id: crypto.randomUUID(), list_price: 1 },
    ],
  });

  assertEquals(status, 400);
  assertEquals(
    error.details.map(({ pointer, code }: Row) => [pointer, code]).toSorted(),
    [
      ["/license_id", "unknown_reference"],
      ["/product_prices/2/id", "unknown_reference"],
    ],
  );
  const { body: { data } } = await org.get(`/api/products/${created.id}`);
  assertEquals(data, created);
});
