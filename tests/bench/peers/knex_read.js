import { full, listed } from "./answer.js";
import { below, collectionsOf, db, OWN, products } from "./knex_queries.js";

const labels = new Map(
  (await db("onix_codes")).map(({ list, code, label }) => [
    `${list} ${code}`,
    label,
  ]),
);
const labelOf = (list, code) => labels.get(`${list} ${code}`) ?? null;

/** One page of the catalogue, with the total. */
export async function list({ page = 1, limit = 50 }) {
  const rows = await products()
    .orderBy([
      { column: "p.created_at", order: "desc" },
      { column: "p.id", order: "desc" },
    ])
    .limit(limit)
    .offset((page - 1) * limit);
  const links = grouped(
    await collectionsOf(rows.map(({ id }) => id)),
    "product_id",
  );
  const [{ count }] = await db("products as p").where(OWN).count();
  return {
    products: rows.map((row) => listed(row, links(row.id))),
    total: count,
  };
}

/** The full product. */
export async function get(id) {
  const [
    row,
    collections,
    prices,
    packings,
    contributors,
    customFields,
    collateral,
    territories,
    salesRights,
  ] = await Promise.all([
    products().where("p.id", id).first(),
    collectionsOf([id]),
    below("product_prices", [id]),
    below("packing_configurations", [id]),
    below("product_contributors", [id])
      .join("contributors as x", {
        "x.organization_id": "p.organization_id",
        "x.id": "p.contributor_id",
      })
      .join("contributor_roles as role", "role.id", "p.contributor_role_id")
      .select(
        "p.*",
        "x.name as contributor_name",
        "role.name as contributor_role_name",
        "role.code as contributor_role_code",
      ),
    below("custom_field_values", [id])
      .join("custom_fields as x", {
        "x.organization_id": "p.organization_id",
        "x.id": "p.field_id",
      })
      .select("p.*", "x.name as field_name"),
    below("collateral", [id]),
    below("product_territories", [id]),
    below("product_sales_rights", [id]),
  ]);
  const rows = {
    collections,
    prices,
    packings,
    contributors,
    customFields,
    collateral,
    territories: territories.length > 0 ? await trees(id, territories) : [],
    salesRights,
  };
  return full(row, rows, labelOf);
}

/** The territories with their nested rows. */
async function trees(id, territories) {
  const [markets, dates, supplies, supplyDates, prices, taxes] = await Promise
    .all([
      below("territory_markets", [id]),
      below("market_dates", [id]),
      below("supply_details", [id]),
      below("supply_dates", [id]),
      below("supply_prices", [id]),
      below("supply_price_taxes", [id]),
    ]);
  const taxesOf = grouped(taxes, "supply_price_id");
  const pricesOf = grouped(prices, "supply_detail_id");
  const supplyDatesOf = grouped(supplyDates, "supply_detail_id");
  const suppliesOf = grouped(supplies, "territory_id");
  const marketsOf = grouped(markets, "territory_id");
  const datesOf = grouped(dates, "territory_id");
  return territories.map((territory) => ({
    ...territory,
    markets: marketsOf(territory.id),
    dates: datesOf(territory.id),
    supplies: suppliesOf(territory.id).map((supply) => ({
      ...supply,
      dates: supplyDatesOf(supply.id),
      prices: pricesOf(supply.id).map((price) => ({
        ...price,
        taxes: taxesOf(price.id),
      })),
    })),
  }));
}

/** Groups rows by a column, and returns the rows for a value, or an empty array. */
function grouped(rows, column) {
  const groups = new Map();
  for (const row of rows) {
    const group = groups.get(row[column]);
    if (group) group.push(row);
    else groups.set(row[column], [row]);
  }
  return (value) => groups.get(value) ?? [];
}
