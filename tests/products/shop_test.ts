import { assertEquals } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";
import { eventually } from "../support/app/eventually.ts";

const it = testsOf("A shop");

const TERRITORIES = [{
  market_reference: "UK",
  markets: [{ territory: { countries_included: ["GB"] } }],
  supply_details: [{
    supplier: { supplier_name: "Harbour" },
    product_availability: "21",
    prices: [{ price_type: "02", price_amount: 9.99, currency_code: "GBP" }],
  }],
}];

it("gets the whole supply in lists and in the feed", async ({ org }) => {
  const { path } = await org.create({ title: "Emma" });
  await org.put(`${path}/territories`, TERRITORIES);
  await org.create({ title: "Persuasion" });
  const { body: { data } } = await org.get(path);
  const listed = async (include: string) => {
    const { body } = await org.get(`/api/products?include=${include}`);
    return body.data.map((product: Record<string, unknown>) =>
      product.product_territories
    );
  };

  const whole = [[], data.product_territories];
  const [{ id, market_reference, exclusivity, markets }] =
    data.product_territories;
  const shallow = [[], [{ id, market_reference, exclusivity, markets }]];

  assertEquals(await listed("supply_details"), whole);
  assertEquals(await listed("supply_details,product_territories"), whole);
  assertEquals(await listed("contributors,supply_details"), whole);
  assertEquals(await listed("product_territories"), shallow);
  await eventually(whole.toReversed(), async () => {
    const { body } = await org.get(
      "/api/products/changes?include=supply_details",
    );
    return body.data.map(({ product }: { product: Record<string, unknown> }) =>
      product.product_territories
    );
  });
});
