import { salesRightOf, territoryOf } from "./rights.js";

/*
 * Builds the service's JSON for a product in the application from rows, as is
 * usual with a relational database.
 */

const HIDDEN = new Set(["change_version", "search_text"]);

const NAMES = new Set([
  "season_name",
  "publisher_name",
  "division_name",
  "imprint_name",
  "series_name",
  "format_name",
  "title_name",
  "publishing_status_name",
  "publishing_status_code",
  "product_availability_name",
  "product_availability_code",
  "lifecycle_status_name",
]);

/** A listed product: its row, with the names of its relations, and its collections. */
export function listed(row, collections) {
  return {
    ...Object.fromEntries(
      Object.entries(row).filter(([name, value]) =>
        !HIDDEN.has(name) && !(value === null && NAMES.has(name))
      ),
    ),
    ...collections.length > 0 && {
      collections: collections.map(({ id, name, collection_type }) => ({
        id,
        name,
        collection_type,
      })),
    },
  };
}

/** The full product with its nested rows. `label` returns the label of a code in a list. */
export function full(row, rows, label) {
  return {
    ...listed(row, rows.collections),
    product_prices: rows.prices.map((price) =>
      pick(price, [
        "id",
        "currency_code",
        "retail_price",
        "retail_price_inc_tax",
        "list_price",
        "tax_rate",
        "is_default",
        "valid_from",
        "valid_to",
      ])
    ),
    packing_configurations: rows.packings.map((packing) =>
      pick(packing, ["id", "unit_of_measure"])
    ),
    contributors: rows.contributors.map((contributor) =>
      pick(contributor, [
        "contributor_id",
        "contributor_role_id",
        "contributor_name",
        "contributor_role_name",
        "contributor_role_code",
      ])
    ),
    product_collections: rows.collections.map(({ id }) => ({
      collection_id: id,
    })),
    custom_fields: rows.customFields.map((field) =>
      pick(field, ["field_id", "field_value", "field_name"])
    ),
    collateral: rows.collateral.map((piece) =>
      pick(piece, [
        "id",
        "collateral_type",
        ...COLLATERAL[piece.collateral_type],
      ])
    ),
    product_territories: rows.territories.map((territory) =>
      territoryOf(territory, label)
    ),
    product_sales_rights: rows.salesRights.map((right) =>
      salesRightOf(right, label)
    ),
  };
}

const COLLATERAL = {
  text_content: [
    "text",
    "text_type",
    "content_audience",
    "text_format",
    "text_author",
    "source_title",
    "language",
  ],
  cited_content: [
    "source_title",
    "cited_content_type",
    "citation_note",
    "resource_link",
    "publication_date",
    "content_audience",
  ],
  award: [
    "prize_name",
    "prize_year",
    "prize_country",
    "prize_code",
    "prize_statement",
    "prize_jury",
  ],
};

function pick(row, names) {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}
