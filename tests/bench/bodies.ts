import { FIRST_NUMBER, idOf } from "./products.ts";
import type { Samples } from "./samples.ts";

/** A product to create, with rows of most kinds. `{n}` is the number of a contributor and a collection. */
export function newProduct({ author, illustrator, commonStatus }: Samples) {
  const contributor_id = idOf("19", "{n}");
  return {
    title: "The book of {n}",
    subtitle: "And what came of it",
    page_count: 320,
    publication_date: "2026-09-01",
    format_id: idOf("16", FIRST_NUMBER),
    publishing_status_id: commonStatus,
    license_id: idOf("11", FIRST_NUMBER),
    season_id: idOf("12", FIRST_NUMBER),
    publisher_id: idOf("13", FIRST_NUMBER),
    imprint_id: idOf("15", FIRST_NUMBER),
    product_prices: ["USD", "GBP", "EUR"].map((currency_code, i) => ({
      currency_code,
      retail_price: "12.99",
      list_price: "14.99",
      tax_rate: 7,
      is_default: i === 0,
      valid_from: "2026-09-01",
    })),
    contributors: [
      { contributor_id, contributor_role_id: author },
      { contributor_id, contributor_role_id: illustrator },
    ],
    product_collections: [
      { collection_id: idOf("18", "{n}") },
      { collection_id: idOf("18", FIRST_NUMBER) },
    ],
    collateral: [{
      collateral_type: "text_content",
      text: "What happens when two people find the same letter. ".repeat(8),
      text_type: "03",
    }],
    custom_fields: [0, 1].map((i) => ({
      field_id: idOf("17", FIRST_NUMBER + i),
      field_value: "Shelf {n}",
    })),
  };
}

/** An update of product `{n}` that merges its three prices and replaces its two collections. */
export function changes() {
  return {
    title: "The book of {n}, revised",
    license_id: idOf("11", FIRST_NUMBER + 1),
    product_prices: ["20", "21", "22"].map((kind) => ({
      id: idOf(kind, "{n}"),
      retail_price: "13.99",
    })),
    product_collections: [
      { collection_id: idOf("18", "{n}") },
      { collection_id: idOf("18", FIRST_NUMBER) },
    ],
  };
}
