import {
  type RowId,
  rowIds,
  type TerritoriesBody,
} from "../../schema/rights_bodies.ts";
import type { Queries } from "../database.ts";
import { uuidv7 } from "../uuid.ts";
import { type Entry, pruning, upserting } from "./nested_rows.ts";
import { replaceRows } from "./replaced_rows.ts";
import { TERRITORY_COLUMNS } from "./rights_json.ts";
import type { Precondition } from "./write.ts";

/** The tables of the tree, parents first. */
const TABLES = {
  product_territories: upserting("product_territories", ["id"], [
    "market_reference",
    "exclusivity",
    "market_publishing_status",
  ]),
  territory_markets: upserting("territory_markets", ["territory_id", "id"], [
    "name",
    ...TERRITORY_COLUMNS,
  ]),
  market_dates: upserting("market_dates", ["territory_id", "id"], [
    "market_date_role",
    "date",
  ]),
  supply_details: upserting("supply_details", ["id"], [
    "territory_id",
    "supplier_role",
    "supplier_name",
    "product_availability",
    "order_time",
    "pack_quantity",
    "unpriced_item_type",
  ]),
  supply_dates: upserting("supply_dates", ["supply_detail_id", "id"], [
    "supply_date_role",
    "date",
  ]),
  supply_prices: upserting("supply_prices", ["id"], [
    "supply_detail_id",
    "price_type",
    "price_amount",
    "currency_code",
    "price_status",
    "minimum_order_quantity",
    "valid_from",
    "valid_to",
  ]),
  supply_price_taxes: upserting(
    "supply_price_taxes",
    ["supply_price_id", "id"],
    [
      "tax_type",
      "tax_rate_code",
      "tax_rate_percent",
      "taxable_amount",
      "tax_amount",
    ],
  ),
};

type Table = keyof typeof TABLES;

/** The tables of entries with an `id`. */
const TABLE_OF: Record<RowId["kind"], Table> = {
  territories: "product_territories",
  markets: "territory_markets",
  supply_details: "supply_details",
  prices: "supply_prices",
};

const prune = pruning("product_territories", ["id"]);

/** Replaces the territories of the product. Throws as `replaceRows` does. */
export async function replaceTerritories(
  database: Queries,
  id: string,
  body: TerritoriesBody,
  precondition?: Precondition,
): Promise<string> {
  const named = [...rowIds(body)].map(({ kind, id, path }) => ({
    table: TABLE_OF[kind],
    id,
    pointer: `/${path.join("/")}`,
  }));
  const rows = rowsOf(body);
  const writes = [
    // The rest of the old tree goes with its territories.
    ...prune([id], []),
    ...Object.entries(TABLES).flatMap(([table, upsert]) =>
      upsert(
        [id],
        rows[table as Table].map((row) => ({ ...row, product_id: id })),
      )
    ),
  ];
  return await replaceRows(database, id, { named, writes }, precondition);
}

/** The rows of the tree, by table. */
function rowsOf(body: TerritoriesBody): Record<Table, Entry[]> {
  const rows: Record<Table, Entry[]> = {
    product_territories: [],
    territory_markets: [],
    market_dates: [],
    supply_details: [],
    supply_dates: [],
    supply_prices: [],
    supply_price_taxes: [],
  };
  const add = (table: Table, position: number, row: Entry) => {
    const id = row.id ?? uuidv7();
    rows[table].push({ ...row, id, position });
    return id;
  };
  for (const [position, entry] of body.entries()) {
    const { markets, market_publishing_detail, supply_details, ...columns } =
      entry;
    const { market_dates, market_publishing_status } = market_publishing_detail;
    const territory_id = add("product_territories", position, {
      ...columns,
      market_publishing_status,
    });
    markets.forEach(({ territory, ...market }, i) =>
      add("territory_markets", i, { ...market, ...territory, territory_id })
    );
    market_dates.forEach((date, i) =>
      add("market_dates", i, { ...date, territory_id })
    );
    for (const [i, detail] of supply_details.entries()) {
      const { supplier, supply_dates, prices, ...columns } = detail;
      const row = { ...columns, ...supplier, territory_id };
      const supply_detail_id = add("supply_details", i, row);
      supply_dates.forEach((date, i) =>
        add("supply_dates", i, { ...date, supply_detail_id })
      );
      for (const [i, { taxes, ...price }] of prices.entries()) {
        const row = { ...price, supply_detail_id };
        const supply_price_id = add("supply_prices", i, row);
        taxes.forEach((tax, i) =>
          add("supply_price_taxes", i, { ...tax, supply_price_id })
        );
      }
    }
  }
  return rows;
}
