import { ParseQueue } from "../../middleware/parse_queue.ts";
import { textOf } from "../../features/onix/db/out/books.ts";
import type { RecordSource } from "../../features/onix/db/out/record_source.ts";
import { RELEASES } from "../../features/onix/schema/rules/releases.ts";
import { readinessOf } from "../../features/readiness/db.ts";
import { profiles } from "../../features/readiness/schema/profiles.ts";
import { ARRAYS, FIELDS } from "../../schema/product.ts";
import { inTurns } from "../../schema/turns.ts";
import { assertStretches } from "../support/app/stretches.ts";

/*
 * No product makes other requests wait while its record is written or checked: the largest arrays
 * that a body can have, and a product with many of them.
 */

const CALLER = { organizationId: "an organization", name: "a key" };

const entries = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

const territory = (...countries: string[]) => ({
  countries_included: countries,
  countries_excluded: [],
  regions_included: [],
  regions_excluded: [],
});

const identifiers = (count: number, type: string) =>
  entries(count, (n) => ({ [type]: "01", id_type_name: `House ${n}`, id_value: `${n}` }));

const texts = (text: string) => ({
  collateral: entries(490, (n) => ({
    id: `${n}`,
    collateral_type: "text_content",
    text_type: "03",
    text,
    text_format: text.startsWith("<") ? "02" : null,
  })),
});

const PRODUCTS: Record<string, Record<string, unknown>> = {
  "prices": {
    product_territories: entries(40, (n) => ({
      id: `${n}`,
      market_reference: `Market ${n}`,
      exclusivity: "exclusive",
      markets: [{ id: `${n}`, name: `Market ${n}`, territory: territory("GB", "DE") }],
      supply_details: [{
        id: `${n}`,
        supplier: { supplier_role: "01", supplier_name: `Supplier ${n}` },
        product_availability: "20",
        prices: entries(40, (amount) => ({
          id: `${n}.${amount}`,
          price_type: "02",
          price_qualifier: "05",
          price_amount: amount,
          currency_code: "GBP",
          minimum_order_quantity: amount + 1,
          valid_from: "2020-01-01",
          valid_to: "2030-01-01",
          territory: territory("GB", "DE", "FR", "US", "IE"),
          taxes: [],
        })),
      }],
    })),
  },
  "related products": {
    related_products: entries(400, () => ({
      product_relation_codes: ["01", "02", "03"],
      product_identifiers: identifiers(25, "product_id_type"),
    })),
  },
  "texts with markup": texts(`<p>${"<b>a</b><i>b</i> &amp; ".repeat(74)}</p>`),
  "plain texts": texts("word & word <x> ".repeat(120)),
  "many arrays": {
    ...texts("word & word <x> ".repeat(100)),
    subjects: entries(500, (n) => ({
      subject_scheme_identifier: "24",
      subject_scheme_name: `Scheme ${n}`,
      subject_code: `Code ${n}`,
    })),
    related_works: entries(500, () => ({
      work_relation_code: "01",
      work_identifiers: identifiers(20, "work_id_type"),
    })),
    product_form_features: entries(500, (n) => ({
      product_form_feature_type: "16",
      product_form_feature_value: `Value ${n}`,
      product_form_feature_descriptions: entries(20, () => "A description of fifty characters"),
    })),
    product_identifiers: identifiers(500, "product_id_type"),
  },
};

/** The source of the record of a product with these arrays, which no record has come for. */
function sourceOf(arrays: Record<string, unknown>): RecordSource {
  const empty = Object.keys(FIELDS).map((name) => [name, name in ARRAYS ? [] : null]);
  return {
    product: JSON.stringify({
      id: crypto.randomUUID(),
      ...Object.fromEntries(empty),
      title: "Emma",
      ...arrays,
    }),
    contributors: "[]",
    identifiers: "{}",
    organization: "Harbour Press",
    reference: null,
    record: null,
    digest: null,
    differences: null,
    identities: null,
    sender_identifiers: [],
    contact_name: null,
    email_address: null,
  };
}

for (const [what, arrays] of Object.entries(PRODUCTS)) {
  const source = sourceOf(arrays);
  Deno.test(`A record is written and checked in turns: ${what}`, async () => {
    for (const release of RELEASES) {
      await assertStretches(`${what}, ${release}`, async () => {
        const pace = new ParseQueue().pacer(CALLER);
        await inTurns(textOf(source, { release, tags: "reference" }, undefined), pace);
      });
    }
    const profile = profiles().get("google-play")!;
    await assertStretches(`${what}, readiness`, async () => {
      const pace = new ParseQueue().pacer(CALLER);
      await inTurns(readinessOf(source, profile), pace);
    });
  });
}
