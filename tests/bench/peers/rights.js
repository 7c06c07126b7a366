/** A territory with its nested rows, as in the service's responses. */
export function territoryOf(territory, label) {
  const { market_publishing_status, markets, dates, supplies } = territory;
  return {
    id: territory.id,
    market_reference: territory.market_reference,
    exclusivity: territory.exclusivity,
    markets: markets.map(({ id, name, ...market }) => ({
      id,
      name,
      territory: areaOf(market),
    })),
    market_publishing_detail: {
      market_publishing_status,
      market_publishing_status_label: label(68, market_publishing_status),
      market_dates: dates.map(({ market_date_role, date }) => ({
        market_date_role,
        market_date_role_label: label(163, market_date_role),
        date,
      })),
    },
    supply_details: supplies.map((supply) => ({
      id: supply.id,
      supplier: {
        supplier_role: supply.supplier_role,
        supplier_role_label: label(93, supply.supplier_role),
        supplier_name: supply.supplier_name,
      },
      product_availability: supply.product_availability,
      product_availability_label: label(65, supply.product_availability),
      supply_dates: supply.dates.map(({ supply_date_role, date }) => ({
        supply_date_role,
        supply_date_role_label: label(166, supply_date_role),
        date,
      })),
      order_time: supply.order_time,
      pack_quantity: supply.pack_quantity,
      unpriced_item_type: supply.unpriced_item_type,
      prices: supply.prices.map((price) => ({
        id: price.id,
        price_type: price.price_type,
        price_type_label: label(58, price.price_type),
        price_amount: price.price_amount,
        currency_code: price.currency_code,
        price_status: price.price_status,
        minimum_order_quantity: price.minimum_order_quantity,
        valid_from: price.valid_from,
        valid_to: price.valid_to,
        taxes: price.taxes.map((tax) => ({
          tax_type: tax.tax_type,
          tax_rate_code: tax.tax_rate_code,
          tax_rate_percent: tax.tax_rate_percent,
          taxable_amount: tax.taxable_amount,
          tax_amount: tax.tax_amount,
        })),
      })),
    })),
  };
}

const EXCLUSIVE = {
  "01": true,
  "04": true,
  "07": true,
  "02": false,
  "05": false,
  "08": false,
};

/** A sales right, as in the service's responses. */
export function salesRightOf(right, label) {
  const { sales_rights_type, is_rest_of_world } = right;
  return {
    id: right.id,
    sales_rights_type,
    sales_rights_type_label: label(46, sales_rights_type),
    for_sale: ["01", "02", "07", "08"].includes(sales_rights_type),
    exclusive: EXCLUSIVE[sales_rights_type] ?? null,
    is_rest_of_world,
    territory: is_rest_of_world ? null : areaOf(right),
    publisher_name: right.publisher_name,
  };
}

function areaOf(row) {
  return {
    countries_included: row.countries_included ?? [],
    countries_excluded: row.countries_excluded ?? [],
    regions_included: row.regions_included ?? [],
    regions_excluded: row.regions_excluded ?? [],
  };
}
