import { assertEquals } from "@std/assert";
import { RELEASES } from "../../features/onix/schema/rules/releases.ts";
import { openApp } from "../support/app/harness.ts";
import { onixClient } from "../support/client/onix.ts";
import { leastWith, xml } from "./records.ts";
import { faultsOf, HAS_SCHEMAS } from "./schemas.ts";
import { imported, message, recordsOf, writeRecord, written } from "./support.ts";
import type { Book } from "../../features/onix/schema/mapping/mapped.ts";

/*
 * The prices of a product without supply details: a price with tax is of type 02, one
 * without of type 01 (List 58), with their first and last days (List 173).
 */

type Price = Record<string, unknown>;

const FROM = "PriceDate(PriceDateRole=14 Date=20260101)";
const TO = "PriceDate(PriceDateRole=15 Date=20261231)";

/** The elements of each price, in a short form. */
// deno-fmt-ignore
const CASES: [name: string, price: Price, ...elements: string[]][] = [
  ["with tax", { retail_price_inc_tax: 9.99 }, "PriceType=02 PriceAmount=9.99 CurrencyCode=GBP"],
  ["with tax, and its rate", { retail_price_inc_tax: 12, tax_rate: 20 },
    "PriceType=02 PriceAmount=12 Tax(TaxRatePercent=20) CurrencyCode=GBP"],
  ["with a rate of zero", { retail_price_inc_tax: 12, tax_rate: 0 },
    "PriceType=02 PriceAmount=12 Tax(TaxRatePercent=0) CurrencyCode=GBP"],
  ["without tax, which no rate belongs to", { retail_price: 8.33, tax_rate: 20 }, "PriceType=01 PriceAmount=8.33 CurrencyCode=GBP"],
  ["of the list", { list_price: 10.5 }, "PriceType=01 PriceAmount=10.5 CurrencyCode=GBP"],
  ["for readers before that of the list", { retail_price: 8, list_price: 10.5 }, "PriceType=01 PriceAmount=8 CurrencyCode=GBP"],
  ["with and without tax, and with days",
    { retail_price: 8, retail_price_inc_tax: 9.6, valid_from: "2026-01-01", valid_to: "2026-12-31" },
    `PriceType=02 PriceAmount=9.6 CurrencyCode=GBP ${FROM} ${TO}`, `PriceType=01 PriceAmount=8 CurrencyCode=GBP ${FROM} ${TO}`],
  ["until a day", { retail_price: 8, valid_to: "2026-12-31" }, `PriceType=01 PriceAmount=8 CurrencyCode=GBP ${TO}`],
  ["of nothing", { retail_price: 0 }, "PriceType=01 UnpricedItemType=01 CurrencyCode=GBP"],
  ["without an amount", { tax_rate: 20, valid_from: "2026-01-01" }],
];

/** A product with these prices and no supply details. */
function priced(prices: Price[], more: Record<string, unknown> = {}): Book {
  return {
    product: {
      id: crypto.randomUUID(),
      product_code: "P-1",
      title: "Emma",
      product_prices: prices,
      ...more,
    },
    contributors: {},
    identifiers: { publisher: [], imprint: [] },
    organization: "Harbour Press",
    reference: null,
  };
}

/** The message with the product, and the elements of its prices. */
async function sent(book: Book, release: typeof RELEASES[number]) {
  const { record, notSent } = writeRecord(book, null, release);
  assertEquals(notSent.paths, []);
  const text = await written([record], release);
  return { text, prices: pricesIn(text) };
}

function pricesIn(xml: string): string[] {
  return Array.from(
    xml.replace(/>\s+</g, "><").matchAll(/<Price>(.*?)<\/Price>/g),
    ([, elements]) => elements!,
  );
}

Deno.test("A price of a product in ONIX", async (t) => {
  for (const release of RELEASES) {
    for (const [what, price, ...elements] of CASES) {
      await t.step(`${release}: ${what}`, async () => {
        const { prices } = await sent(
          priced([{ currency_code: "GBP", ...price }]),
          release,
        );

        assertEquals(prices, elements.map(xml));
      });
    }

    await t.step({
      name: `${release}: all of them are valid`,
      ignore: !HAS_SCHEMAS,
      async fn() {
        const records = CASES.map(([, price]) => {
          const book = priced([{ currency_code: "GBP", ...price }]);
          return writeRecord(book, null, release).record;
        });
        const text = await written(records, release);

        assertEquals(await faultsOf(text, release, "reference"), "");
      },
    });
  }

  await t.step("stands with those of other currencies, in order", async () => {
    const { text, prices } = await sent(
      priced([
        { currency_code: "GBP", retail_price: 8 },
        { currency_code: "EUR", retail_price: 9, is_default: true },
      ], { product_availability_code: "20" }),
      "3.1",
    );

    assertEquals(
      prices.map((price) => /<CurrencyCode>(\w+)/.exec(price)?.[1]),
      ["GBP", "EUR"],
    );
    assertEquals(text.match(/<SupplyDetail>/g)?.length, 1);
    assertEquals(
      /<ProductAvailability>(\d+)/.exec(text)?.[1],
      "20",
    );
  });

  await t.step("is not said beside supply details", async () => {
    const supply = { prices: [{ currency_code: "GBP", price_amount: 7 }] };
    const { prices } = await sent(
      priced([{ currency_code: "GBP", retail_price: 8 }], {
        product_territories: [{
          market_reference: "1",
          regions_included: ["WORLD"],
          supply_details: [supply],
        }],
      }),
      "3.1",
    );

    assertEquals(
      prices.map((price) => /<PriceAmount>([\d.]+)/.exec(price)?.[1]),
      ["7"],
    );
  });

  await t.step("is not said beside supply details that are withheld", async () => {
    const { header, records: [record] } = await recordsOf(message(leastWith(
      "ProductSupply(SupplyDetail(Supplier(SupplierRole=01 SupplierName=S) ProductAvailability=20 OrderQuantityMinimum=few Price(PriceType=02 PriceAmount=7 CurrencyCode=GBP)))",
    )));
    const { book, received } = imported(record!, header);
    book.product.product_prices = [{ currency_code: "GBP", retail_price: 8 }];
    const text = await written([writeRecord(book, received, "3.1").record], "3.1");

    assertEquals(pricesIn(text), []);
    assertEquals(text.includes("<ProductSupply>"), false);
  });

  await t.step("comes from the product that a client stores", async () => {
    await using app = await openApp();
    const org = await app.organization();
    const { id } = await org.create({
      product_prices: [
        {
          currency_code: "GBP",
          retail_price_inc_tax: 9.99,
          list_price: 8.5,
          tax_rate: 17.5,
          valid_from: "2026-01-01",
          valid_to: "2026-12-31",
        },
      ],
    });

    const text = await onixClient(app, org).xml(`/${id}`);

    const elements = [
      `PriceType=02 PriceAmount=9.99 Tax(TaxRatePercent=17.5) CurrencyCode=GBP ${FROM} ${TO}`,
      `PriceType=01 PriceAmount=8.5 CurrencyCode=GBP ${FROM} ${TO}`,
    ];
    assertEquals(pricesIn(text), elements.map(xml));
  });
});
