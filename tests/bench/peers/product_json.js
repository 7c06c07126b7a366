/*
 * Builds the service's JSON for a product in the application, as is usual with a
 * relational database. A row holds the rows below it under the names of their tables.
 */

/** Reads fields: `name`, or `name@list` if the response also has the label of the code. */
const fields = (text) =>
  text.trim().split(/\s+/).map((field) => field.split("@"));

const PRICE = fields(
  "id currency_code retail_price retail_price_inc_tax list_price tax_rate is_default valid_from valid_to",
);
const PACKING = fields("id unit_of_measure");
const CONTRIBUTOR = fields(
  "contributor_id contributor_role_id contributor_name contributor_role_name contributor_role_code",
);
const CUSTOM_FIELD = fields("field_id field_value field_name");
const COLLATERAL = {
  text_content: fields(
    "id collateral_type text text_type content_audience text_format text_author text_source_corporate text_source_description source_title language",
  ),
  cited_content: fields(
    "id collateral_type source_title cited_content_type citation_note resource_link publication_date content_audience",
  ),
  award: fields(
    "id collateral_type prize_name prize_year prize_country prize_code prize_statement prize_jury",
  ),
};
const TERRITORY = fields("id market_reference exclusivity");
const MARKET = fields("id name");
const PUBLISHING = fields("market_publishing_status@68");
const MARKET_DATE = fields("market_date_role@163 date");
const SUPPLY = fields(
  "id product_availability@65 order_time pack_quantity unpriced_item_type",
);
const SUPPLIER = fields("supplier_role@93 supplier_name supplier_identifiers");
const SUPPLY_DATE = fields("supply_date_role@166 date");
const SUPPLY_PRICE = fields(
  "id price_type@58 price_amount currency_code price_status minimum_order_quantity valid_from valid_to price_qualifier@59",
);
const TAX = fields(
  "tax_type tax_rate_code tax_rate_percent taxable_amount tax_amount",
);
const SALES_RIGHT = fields(
  "id sales_rights_type@46 is_rest_of_world publisher_name",
);
const AREA =
  "countries_included countries_excluded regions_included regions_excluded"
    .split(" ");

/** The arrays that a product's row holds. Lists omit them. */
const VALUES =
  "languages product_form_details product_form_features edition_types epub_technical_protections product_identifiers subjects extents measures audiences audience_ranges publishing_dates related_products related_works supporting_resources"
    .split(" ");

/** The fields of a listed product that are absent instead of null. */
const NAMES = new Set(
  "season_name publisher_name division_name imprint_name series_name format_name title_name publishing_status_name publishing_status_code product_availability_name product_availability_code lifecycle_status_name lifecycle_status_code product_form_code"
    .split(" "),
);

/** A listed product. Its row consists of its columns, the names of its relations and its collections. */
export function listed({ collections, ...row }) {
  const product = Object.fromEntries(
    Object.entries(row)
      .filter(([name, value]) =>
        !VALUES.includes(name) && (value !== null || !NAMES.has(name))
      ),
  );
  if (collections.length > 0) {
    product.collections = collections.map(({ id, name, collection_type }) => ({
      id,
      name,
      collection_type,
    }));
  }
  return product;
}

/** Builds full products with the labels in the rows of `onix_codes`. */
export function fullProducts(codes) {
  const labels = new Map(
    codes.map(({ list, code, label }) => [`${list} ${code}`, label]),
  );

  function pick(row, names) {
    const picked = {};
    for (const [name, list] of names) {
      picked[name] = row[name];
      if (list) {
        picked[`${name}_label`] = labels.get(`${list} ${row[name]}`) ?? null;
      }
    }
    return picked;
  }
  const pickAll = (rows, names) => rows.map((row) => pick(row, names));

  const territory = (row) => ({
    ...pick(row, TERRITORY),
    markets: row.territory_markets.map((market) => ({
      ...pick(market, MARKET),
      territory: areaOf(market),
    })),
    market_publishing_detail: {
      ...pick(row, PUBLISHING),
      market_dates: pickAll(row.market_dates, MARKET_DATE),
    },
    supply_details: row.supply_details.map((supply) => ({
      ...pick(supply, SUPPLY),
      supplier: pick(supply, SUPPLIER),
      supply_dates: pickAll(supply.supply_dates, SUPPLY_DATE),
      prices: supply.supply_prices.map((price) => ({
        ...pick(price, SUPPLY_PRICE),
        territory: areaOf(price),
        taxes: pickAll(price.supply_price_taxes, TAX),
      })),
    })),
  });

  const salesRight = (row) => ({
    ...pick(row, SALES_RIGHT),
    for_sale: ["01", "02", "07", "08"].includes(row.sales_rights_type),
    exclusive: ["01", "04", "07"].includes(row.sales_rights_type) ||
      (["02", "05", "08"].includes(row.sales_rights_type) ? false : null),
    territory: row.is_rest_of_world ? null : areaOf(row),
  });

  /** The full product. `rows` are those below it, by table. */
  return (row, rows) => ({
    ...listed(row),
    ...Object.fromEntries(VALUES.map((name) => [name, row[name] ?? []])),
    product_prices: pickAll(rows.product_prices, PRICE),
    packing_configurations: pickAll(rows.packing_configurations, PACKING),
    contributors: pickAll(rows.product_contributors, CONTRIBUTOR),
    product_collections: row.collections
      .map(({ id, part_number, name }) => (
        { collection_id: id, part_number, collection_name: name }
      )),
    custom_fields: pickAll(rows.custom_field_values, CUSTOM_FIELD),
    collateral: rows.collateral
      .map((piece) => pick(piece, COLLATERAL[piece.collateral_type])),
    product_territories: rows.product_territories.map(territory),
    product_sales_rights: rows.product_sales_rights.map(salesRight),
  });
}

function areaOf(row) {
  return Object.fromEntries(AREA.map((name) => [name, row[name] ?? []]));
}
