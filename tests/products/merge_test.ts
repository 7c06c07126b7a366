import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import type { Reply } from "../support/client/envelope.ts";
import { type Organization, testsOf } from "../support/app/harness.ts";

/** The arrays that are merged by id, with fields that identify an entry. */
const MERGED = {
  product_prices: ["GBP", "EUR", "USD"]
    .map((currency_code) => ({ currency_code })),
  packing_configurations: ["inner", "outer", "pallet"]
    .map((unit_of_measure) => ({ unit_of_measure })),
};

const it = testsOf("PUT /products/{id}: arrays merged by id");

for (const [array, [one, two, three]] of Object.entries(MERGED)) {
  const productWithTwo = async (org: Organization) => {
    const { path, product } = await org.create({ [array]: [one, two] });
    const rows: { id: string }[] = product[array];
    const [first, second] = rows.map(({ id }) => id);
    return { path, rows, first: first!, second: second! };
  };

  it(`${array}: changes only the row with the id`, async ({ org }) => {
    const { path, rows, second } = await productWithTwo(org);

    const { status, body: { data } } = await org.put(path, {
      [array]: [{ id: second, ...three }],
    });

    assertEquals(status, 200);
    assertEquals(data[array], [rows[0], { ...rows[1], ...three }]);
  });

  it(`${array}: appends a new row`, async ({ org }) => {
    const { path, rows, first } = await productWithTwo(org);

    const { body: { data } } = await org.put(path, {
      [array]: [three, { id: first, ...two }, one],
    });

    assertEquals(data[array].slice(0, 2), [{ ...rows[0], ...two }, rows[1]]);
    assertHas(data[array].slice(2), [three, one]);
  });

  it(`${array}: appends after gaps that SQL has left`, async ({ org, sql }) => {
    const { path, rows, second } = await productWithTwo(org);
    await sql`update ${
      sql(array)
    } set position = 10 where organization_id = ${org.id} and id = ${second}`;

    const { body: { data } } = await org.put(path, { [array]: [three] });

    assertEquals(data[array].slice(0, 2), rows);
    assertHas(data[array].slice(2), [three]);
  });

  it(`${array}: accepts ids in any order and case`, async ({ org }) => {
    const { path, rows, first, second } = await productWithTwo(org);

    const { body: { data } } = await org.put(path, {
      [array]: [{ id: second.toUpperCase(), ...three }, { id: first }],
    });

    assertEquals(data[array], [rows[0], { ...rows[1], ...three }]);
  });

  it(`${array}: deletes all rows only for an empty array`, async ({ org }) => {
    const { path, rows } = await productWithTwo(org);

    const left = await org.put(path, { title: "Persuasion" });
    const emptied = await org.put(path, { [array]: [] });
    const again = await org.put(path, { [array]: [one] });

    assertEquals(left.body.data[array], rows);
    assertEquals(emptied.body.data[array], []);
    assertHas(again.body.data[array], [one]);
    assertNotEquals(again.body.data[array][0].id, rows[0]!.id);
  });
}

it("keeps the absent fields of a price", async ({ org }) => {
  const { path, product } = await org.create({ product_prices: [PRICE] });
  const [{ id }] = product.product_prices;
  const changes = {
    currency_code: "EUR",
    retail_price: 1,
    retail_price_inc_tax: 2,
    list_price: 3,
    tax_rate: 4,
    is_default: false,
    valid_from: "2026-02-01",
    valid_to: "2026-11-30",
  };
  const expected: Record<string, unknown> = { ...PRICE };

  for (const [field, value] of Object.entries(changes)) {
    const { status, body: { data } } = await org.put(path, {
      product_prices: [{ id, [field]: value }],
    });

    expected[field] = value;
    assertEquals(status, 200);
    assertEquals(data.product_prices, [{ id, ...expected }]);
  }
});

it("refuses a price that ends before it begins", async ({ org, sql }) => {
  const { path, product } = await org.create({
    product_prices: [
      PRICE,
      { ...PRICE, valid_to: PRICE.valid_from },
      { ...PRICE, valid_from: null },
    ],
  });
  const [first, second, third]: { id: string }[] = product.product_prices;

  const created = await org.post("/api/products", ENDS_EARLY);
  const changes = {
    product_prices: [
      { id: first!.id, valid_to: "2025-12-31" },
      { id: second!.id, valid_from: "2026-01-02" },
      { id: third!.id, valid_from: "2027-01-01", valid_to: null },
      { id: crypto.randomUUID() },
    ],
  };
  const updated = await org.put(path, changes);
  const batch = await org.batch([
    { method: "create", body: ENDS_EARLY },
    { method: "update", id: product.id, body: changes },
  ]);
  const moved = await org.put(path, {
    product_prices: [
      { id: first!.id, valid_from: "2027-01-01", valid_to: "2027-01-01" },
      { id: third!.id, valid_from: "2027-01-01", valid_to: null },
    ],
  });

  for (const reply of [created, resultOf(batch, 0)]) {
    assertDetails(reply, ["/product_prices/0/valid_to", "invalid_date"]);
  }
  for (const reply of [updated, resultOf(batch, 1)]) {
    assertDetails(
      reply,
      ["/product_prices/0/valid_to", "invalid_date"],
      ["/product_prices/1/valid_from", "invalid_date"],
      ["/product_prices/3/id", "unknown_reference"],
    );
  }
  assertEquals(moved.status, 200);
  const bySql = () =>
    sql`update product_prices set valid_to = '2025-12-31' where id = ${
      first!.id
    }`;
  await assertRejects(bySql, Error, "product_prices_validity");
});

it("allows several prices to be the default", async ({ org }) => {
  const { product } = await org.create({ product_prices: [PRICE, PRICE] });

  assertHas(product.product_prices, [PRICE, PRICE]);
});

const PRICE = {
  currency_code: "GBP",
  retail_price: 9.99,
  retail_price_inc_tax: 11.99,
  list_price: 12,
  tax_rate: 20,
  is_default: true,
  valid_from: "2026-01-01",
  valid_to: "2026-12-31",
};

const ENDS_EARLY = {
  title: "Emma",
  product_prices: [{ ...PRICE, valid_to: "2025-12-31" }],
};

/** The result of an operation of a batch, as the response that it would be. */
function resultOf(batch: Reply, index: number): Reply {
  const body = batch.body.data[index];
  return { ...batch, status: body.status, body };
}
