import { assert, assertEquals, assertMatch } from "@std/assert";
import { bound } from "../support/app/bound.ts";
import { testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

const it = testsOf("Prices of suppliers in a sheet");

const ISBN = "9780141439587";
const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

// deno-lint-ignore no-explicit-any
type Json = any;

const column = (key: string) => `supply_prices[${key}].price_amount`;

const inMarket = (countries: string[], ...prices: object[]) => ({
  market_reference: countries.join(" "),
  markets: [{ territory: { countries_included: countries } }],
  supply_details: [{
    supplier: { supplier_role: "04", supplier_name: "Harbour" },
    product_availability: "20",
    prices: prices.map((price) => ({ price_type: "02", currency_code: "GBP", ...price })),
  }],
});

const TODAY = new Date().toISOString().slice(0, 10);
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
/** A day that lies ahead, also if the tests run over midnight. */
const AHEAD = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);

/** A product with these territories, and what reads its sheets and prices. */
async function supplied(org: Organization, territories: object[]) {
  const { id, path } = await org.create({ isbn13: ISBN, title: "Salt" });
  const put = await org.put(`${path}/territories`, territories);
  assertEquals(put.status, 200, put.text);
  const read = async () => (await org.get(path)).body.data;
  return {
    id,
    path,
    read,
    /** The amounts of the prices, in the order of the product. */
    amounts: async () =>
      (await read()).product_territories.flatMap(({ supply_details }: Json) =>
        supply_details.flatMap(({ prices }: Json) => prices.map((one: Json) => one.price_amount))
      ),
  };
}

/** Sends a sheet, and returns its report. */
async function report(org: Organization, app: Json, text: string, query = ""): Promise<Json> {
  const reply = await app.send(`/api/csv/products${query}`, {
    method: "POST",
    headers: { "x-api-key": org.key, "content-type": "text/csv" },
    body: text,
  });
  assertEquals(reply.status, 200, reply.text);
  return reply.body.data;
}

const cells = async (org: Organization, ...keys: string[]) => {
  const { text } = await org.get(
    `/api/csv/products?columns=${encodeURIComponent(keys.map(column).join())}`,
  );
  return text.trimEnd().split("\r\n")[1]!.split(",");
};

it("shows the one price of a currency and type, and that of a country", async ({ org }) => {
  await supplied(org, [
    inMarket(
      ["GB", "IE"],
      { price_amount: 9.99 },
      { price_amount: 5, price_type: "05" },
      {
        price_amount: 7,
        price_qualifier: "05",
      },
      { price_amount: 8, valid_to: YESTERDAY },
      { price_amount: 10, valid_from: AHEAD },
    ),
    inMarket(["DE", "AU", "US"], {
      price_amount: 12,
      territory: { countries_included: ["AU"] },
    }, {
      price_amount: 13,
      territory: { regions_included: ["ECZ"] },
    }, {
      price_amount: 14,
      currency_code: "USD",
      price_type: "01",
      territory: { regions_included: ["WORLD"], countries_excluded: ["US"] },
    }),
  ]);
  assertEquals(
    await cells(org, "GBP 02", "GBP 05", "GBP 02 GB", "gbp 02 ie", "GBP 02 AU", "GBP 02 DE"),
    ["#several", "5", "9.99", "9.99", "12", "13"],
  );
  assertEquals(
    await cells(org, "USD 01", "USD 01 AU", "USD 01 US", "USD 01 GB", "GBP 02 US", "EUR 02"),
    ["14", "14", "", "", "", ""],
  );
});

it("changes the amount of the price, and takes away the taxes that repeat it", async ({ org, app }) => {
  const taxes = [
    { tax_type: "01", tax_rate_percent: 20, taxable_amount: 8.33, tax_amount: 1.66 },
    { tax_type: "02", tax_rate_percent: 1 },
  ];
  const { read } = await supplied(org, [
    inMarket(["GB"], { price_amount: 9.99, price_status: "02", taxes }, {
      price_amount: 5,
      price_type: "05",
    }),
    inMarket(["US"], { price_amount: 12, currency_code: "USD" }),
  ]);
  const before = await read();

  const { updated, outcomes: [{ changes }] } = await report(
    org,
    app,
    `isbn13;${column("GBP 02")};${column("USD 02")}\n${ISBN};10,49;12\n`,
  );

  assertEquals(updated, 1);
  assertEquals(changes.map(({ column, from, to }: Json) => [column, from, to]), [
    [column("GBP 02"), 9.99, 10.49],
    [
      "supply_prices[GBP 02].taxes",
      before.product_territories[0].supply_details[0].prices[0].taxes,
      [
        before.product_territories[0].supply_details[0].prices[0].taxes[1],
      ],
    ],
  ]);
  const after = await read();
  const [price] = before.product_territories[0].supply_details[0].prices;
  price.price_amount = 10.49;
  price.taxes.shift();
  assertEquals(after, { ...before, updated_at: after.updated_at });
});

it("changes no price that is not the only one, and creates none", async ({ org, app }) => {
  const { amounts, path } = await supplied(org, [
    inMarket(["GB"], { price_amount: 9 }),
    inMarket(["AU"], { price_amount: 11 }),
  ]);
  const messageOf = async (key: string, cell: string, query = "") => {
    const text = `isbn13,title,${column(key)}\n${ISBN},New,${cell}\n`;
    const { outcomes: [row] } = await report(org, app, text, query);
    const [first] = row?.messages ?? [];
    return [row?.outcome, first?.column, first?.code];
  };
  const refused = (key: string, code: string) => ["refused", column(key), code];

  assertEquals(await messageOf("GBP 02", "10"), refused("GBP 02", "ambiguous"));
  assertEquals(await messageOf("GBP 01", "10"), refused("GBP 01", "not_found"));
  assertEquals(await messageOf("GBP 02 US", "10"), refused("GBP 02 US", "not_found"));
  assertEquals(await messageOf("GBP 02 GB", "many"), refused("GBP 02 GB", "invalid_amount"));
  assertEquals(await messageOf("GBP 02 GB", "-1"), refused("GBP 02 GB", "invalid_amount"));
  assertEquals(await messageOf("GBP 02 GB", "€9"), refused("GBP 02 GB", "invalid_currency"));
  const created = await report(
    org,
    app,
    `isbn13,title,${column("GBP 02")}\n9780306406157,B,1\n`,
    "?create=true",
  );
  assertEquals(created.outcomes[0].messages[0].code, "not_found");
  assertEquals((await org.get(path)).body.data.title, "Salt");
  assertEquals(await amounts(), [9, 11]);

  // The word leaves several prices, and one, as they are.
  assertEquals((await messageOf("GBP 02", "#several"))[0], "updated");
  assertEquals((await messageOf("GBP 02 GB", "#several"))[0], undefined);
  assertEquals(await amounts(), [9, 11]);
});

it("takes two columns of one price if they agree", async ({ org, app }) => {
  const { amounts } = await supplied(org, [inMarket(["GB", "IE"], { price_amount: 9 })]);
  const send = (one: string, other: string) =>
    report(
      org,
      app,
      `isbn13,${column("GBP 02 GB")},${column("GBP 02 IE")}\n${ISBN},${one},${other}\n`,
    );

  const differing = await send("10", "11");
  assertEquals(differing.outcomes[0].messages[0].code, "duplicate");
  assertEquals((await send("10", "9")).updated, 1);
  assertEquals((await send("11", "11.00")).updated, 1);
  assertEquals(await amounts(), [11]);
});

it("has a column for each currency and type in the default sheet, which comes back unchanged", async ({ org, app }) => {
  await supplied(org, [
    inMarket(["GB"], { price_amount: 9.5 }, { price_amount: 12, currency_code: "EUR" }, {
      price_amount: 8,
      currency_code: "EUR",
      price_type: "01",
    }, { price_amount: 8, price_type: "05", price_qualifier: "05" }),
    inMarket(["IE"], { price_amount: 8, currency_code: "EUR" }),
  ]);
  const { text } = await org.get("/api/csv/products");
  const header = text.split("\r\n")[0]!;
  assertEquals(header.match(/supply_prices\[[^\]]*\]/g), [
    "supply_prices[EUR 01]",
    "supply_prices[EUR 02]",
    "supply_prices[GBP 02]",
  ]);
  assertMatch(text, /,8,#several,9\.5,/);
  const { rows, unchanged } = await report(org, app, text, "?empty=clear");
  assertEquals([rows, unchanged], [1, 1]);

  const { bytes } = await org.get("/api/xlsx/products");
  const reply = await app.send("/api/xlsx/products", {
    method: "POST",
    headers: { "x-api-key": org.key, "content-type": XLSX },
    body: bytes,
  });
  assertEquals(reply.body.data.unchanged, 1, reply.text);
});

it("has a column for each price that a recipient sees, however many it does not see", async ({ org, app }) => {
  const others =
    "AUD BRL CAD CHF CNY CZK DKK GBP HKD HUF ILS INR JPY KRW MXN NOK NZD PLN SEK SGD USD"
      .split(" ").map((currency_code) => ({ price_amount: 9, currency_code }));
  await supplied(org, [
    inMarket(["GB"], ...others),
    inMarket(["IE"], ...others, { price_amount: 8, currency_code: "EUR", price_type: "42" }),
  ]);
  const reader = await bound(app, org, { currencies: ["EUR"], price_types: ["02", "42"] });
  const { text } = await reader.get("/api/csv/products");
  assertEquals(text.split("\r\n")[0]!.match(/supply_prices[^,]*/g), [column("EUR 42")]);
});

it("clears an amount only where empty cells clear", async ({ org, app }) => {
  const { amounts } = await supplied(org, [inMarket(["GB"], { price_amount: 9 })]);
  const text = `isbn13,${column("GBP 02")}\n${ISBN},\n`;
  assertEquals((await report(org, app, text)).unchanged, 1);
  assertEquals((await report(org, app, text, "?empty=clear")).updated, 1);
  assertEquals(await amounts(), [null]);
  const filled = await report(org, app, `isbn13,${column("GBP 02")}\n${ISBN},3\n`);
  assertEquals(filled.updated, 1);
  assertEquals(await amounts(), [3]);
});

it("does not bring back a price that ended after the sheet was made", async ({ org, app }) => {
  const { amounts } = await supplied(org, [
    inMarket(["GB"], { price_amount: 9, valid_to: YESTERDAY }, {
      price_amount: 10,
      valid_from: TODAY,
    }),
  ]);
  const text = `isbn13,${column("GBP 02")}\n${ISBN},9.00\n`;
  const { stale, outcomes: [{ messages }] } = await report(org, app, text);
  assertEquals([stale, messages[0].column, messages[0].code], [1, column("GBP 02"), "stale"]);
  assertEquals(await amounts(), [9, 10]);
  assertEquals((await report(org, app, text, "?stale=apply")).updated, 1);
  assertEquals(await amounts(), [9, 9]);
});

it("moves the availability of the suppliers with that of the product in the same row", async ({ org, app }) => {
  const { read, path } = await supplied(org, [inMarket(["GB"], { price_amount: 9 })]);
  await org.put(path, { product_availability_code: "20" });
  const head = `isbn13,product_availability_code,${column("GBP 02")}`;
  assertEquals((await report(org, app, `${head}\n${ISBN},40,10\n`)).updated, 1);
  const [supply] = (await read()).product_territories[0].supply_details;
  assertEquals([supply.product_availability, supply.prices[0].price_amount], ["40", 10]);
});

it("leads wrong keys to columns that work", async ({ org, app }) => {
  const hintFor = async (name: string) => {
    const { status, body } = await app.send("/api/csv/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "text/csv" },
      body: `isbn13,${name}\n`,
    });
    assertEquals(status, 400, name);
    return /did you mean (.+)\?$/.exec(body.error.details[0].message)?.[1];
  };
  const [GBP, GB] = [column("GBP 02"), column("GBP 02 GB")];
  const cases = [
    ["supply_prices", GBP],
    ["supply_prices[GBP]", GBP],
    ["supply_prices[GBP].price_amount", GBP],
    ["supply_prices[GBP 2].price_amount", GBP],
    ["supply_prices[GBP 02].amount", GBP],
    ["supply_prices[GBP 02 UK].price_amount", GB],
    ["Supply Price", GBP],
  ] as const;
  for (const [name, hint] of cases) {
    assertEquals(await hintFor(name), hint, name);
    assert((await report(org, app, `isbn13,${hint}\n`, "?dry_run=true")).rows === 0);
  }
});
