/*
 * The largest bodies of products: in each, one limit of the contract is reached. A body has up to
 * 1 MiB or 100,000 values, and a product up to 4 MiB. Another seed makes other values.
 */

type Body = Record<string, unknown>;

function many<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** Products of almost 4 MiB, or bodies of almost 1 MiB, by what they have most of. */
export const LARGEST: Record<string, (seed: string) => Body> = {
  // `GET` shows the absent fields of a price, too: 400 bytes for the two of `{}`.
  "prices of supplies": (seed) => ({
    product_territories: many(22, (i) => ({
      market_reference: `${seed} ${i}`,
      supply_details: [{
        supplier: { supplier_name: seed },
        prices: many(430, (j) =>
          j % 4 > 0 ? {} : {
            price_amount: `${i + 1}${j}.1234`,
            currency_code: "GBP",
            territory: { countries_included: ["GB", "IE"] },
            taxes: [{ tax_rate_percent: 20 }],
          }),
      }],
    })),
  }),
  "20,000 rows": (seed) => ({
    product_territories: many(45, (i) => ({
      market_reference: `${seed} ${i}`,
      market_publishing_detail: {
        market_dates: many(440, (j) => ({ market_date_role: "01", date: dayOf(j) })),
      },
    })),
  }),
  "files of resources": (seed) => ({
    supporting_resources: many(500, (i) => ({
      resource_content_type: "04",
      content_audience: ["00"],
      resource_mode: "03",
      resource_features: many(20, () => ({ resource_feature_type: "01", feature_note: seed })),
      resource_versions: many(5, (j) => ({
        resource_form: "02",
        resource_version_features: [{ resource_version_feature_type: "07", feature_value: seed }],
        resource_links: [`https://a.example/${seed}/${i}/${j}`],
      })),
    })),
  }),
  "identifiers of works": (seed) => ({
    related_works: many(500, (i) => ({
      work_relation_code: "01",
      work_identifiers: many(30, (j) => ({
        work_id_type: "01",
        id_type_name: `${j}`,
        id_value: `${seed} ${i}`,
      })),
    })),
  }),
  "descriptions of features": (seed) => ({
    product_form_features: many(500, (i) => ({
      product_form_feature_type: "07",
      product_form_feature_value: `${seed} ${i}`,
      product_form_feature_descriptions: many(95, (j) => `${seed} ${j}`),
    })),
  }),
  "long numbers": (seed) => ({
    product_territories: [{
      supply_details: [{
        prices: many(10, (i) => ({
          taxes: many(490, (j) => ({
            taxable_amount: JSON.rawJSON(`${seed.length}23456789012.${1001 + i}`),
            tax_amount: JSON.rawJSON(`${100_000_000_000 + j}.1234`),
          })),
        })),
      }],
    }],
  }),
  "long texts": (seed) => ({
    collateral: many(120, (i) => ({
      collateral_type: "text_content",
      text: `${seed} ${i} ${'t"é'.repeat(1_500)}`,
    })),
  }),
  "entries of all arrays": (seed) => ({
    subjects: many(500, (i) => ({
      subject_scheme_identifier: "20",
      subject_heading_text: `${seed} ${i}`,
    })),
    product_identifiers: many(500, (i) => ({
      product_id_type: "01",
      id_type_name: `${seed} ${i}`,
      id_value: "1",
    })),
    extents: many(500, (i) => ({
      extent_type: "09",
      extent_value: i + seed.length,
      extent_unit: "05",
    })),
    audiences: many(500, (i) => ({
      audience_code_type: "02",
      audience_code_type_name: `${seed} ${i}`,
      audience_code_value: "A",
    })),
    audience_ranges: many(500, (i) => ({
      audience_range_qualifier: "11",
      audience_range_from: `${seed} ${i}`,
    })),
    collateral: many(500, (i) => ({
      collateral_type: "text_content",
      text: `${seed} ${i} ${"x".repeat(500)}`,
    })),
    related_products: many(500, (i) => ({
      product_relation_codes: ["06"],
      product_identifiers: [{ product_id_type: "01", id_type_name: seed, id_value: `${i}` }],
    })),
    related_works: many(500, (i) => ({
      work_relation_code: "01",
      work_identifiers: [{ work_id_type: "01", id_type_name: seed, id_value: `${i}` }],
    })),
    supporting_resources: many(500, (i) => ({
      resource_content_type: "04",
      content_audience: ["00"],
      resource_mode: "03",
      resource_versions: [{
        resource_form: "02",
        resource_links: [`https://a.example/${seed}/${i}`],
      }],
    })),
  }),
};

function dayOf(i: number): string {
  return new Date(Date.UTC(2000, 0, i + 1)).toISOString().slice(0, 10);
}
