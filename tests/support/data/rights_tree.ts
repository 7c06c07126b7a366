import { uuidv7 } from "../../../db/uuid.ts";
import type { App, Organization } from "../app/harness.ts";

/** For each kind of row, a complete row, then one with only the required fields. */
const [territory, emptyTerritory, market, emptyMarket] = ids();
const [supply, emptySupply, price, emptyPrice] = ids();

function ids(): string[] {
  return Array.from({ length: 4 }, uuidv7);
}

/** The tree of `insertTree`, as in responses. */
export const TREE = [
  {
    id: territory,
    market_reference: "UKCW",
    exclusivity: "exclusive",
    markets: [
      {
        id: market,
        name: "British Isles",
        territory: {
          countries_included: ["GB", "IE"],
          countries_excluded: [],
          regions_included: ["WORLD"],
          regions_excluded: ["GB-NIR"],
        },
      },
      {
        id: emptyMarket,
        name: null,
        territory: {
          countries_included: [],
          countries_excluded: [],
          regions_included: ["ROW"],
          regions_excluded: [],
        },
      },
    ],
    market_publishing_detail: {
      market_publishing_status: "04",
      market_publishing_status_label: "Active",
      market_dates: [
        {
          market_date_role: "10",
          market_date_role_label: "Trade announcement date",
          date: "2026-01-05",
        },
        {
          market_date_role: "01",
          market_date_role_label: "Publication date",
          date: "0001-02-03",
        },
      ],
    },
    supply_details: [
      {
        id: supply,
        supplier: {
          supplier_role: "02",
          supplier_role_label: "Publisher’s exclusive distributor to resellers",
          supplier_name: "Harbour Distribution",
        },
        product_availability: "21",
        product_availability_label: "In stock",
        supply_dates: [
          {
            supply_date_role: "08",
            supply_date_role_label: "Expected availability date",
            date: "2026-02-01",
          },
          {
            supply_date_role: "02",
            supply_date_role_label: "Sales embargo date",
            date: "2026-01-31",
          },
        ],
        order_time: 2,
        pack_quantity: 24,
        unpriced_item_type: null,
        prices: [
          {
            id: price,
            price_type: "02",
            price_type_label: "RRP including tax",
            price_amount: 12.99,
            currency_code: "GBP",
            price_status: "02",
            minimum_order_quantity: 1,
            valid_from: "2026-01-01",
            valid_to: "2026-12-31",
            price_qualifier: "05",
            price_qualifier_label: "Consumer price",
            territory: {
              countries_included: ["GB"],
              countries_excluded: ["JE"],
              regions_included: ["WORLD"],
              regions_excluded: ["GB-NIR"],
            },
            taxes: [
              {
                tax_type: "01",
                tax_rate_code: "S",
                tax_rate_percent: 20,
                taxable_amount: 10.825,
                tax_amount: 2.165,
              },
              {
                tax_type: null,
                tax_rate_code: null,
                tax_rate_percent: null,
                taxable_amount: null,
                tax_amount: null,
              },
            ],
          },
          {
            id: emptyPrice,
            price_type: null,
            price_type_label: null,
            price_amount: null,
            currency_code: null,
            price_status: null,
            minimum_order_quantity: null,
            valid_from: null,
            valid_to: null,
            price_qualifier: null,
            price_qualifier_label: null,
            territory: {
              countries_included: [],
              countries_excluded: [],
              regions_included: [],
              regions_excluded: [],
            },
            taxes: [],
          },
        ],
      },
      {
        id: emptySupply,
        supplier: {
          supplier_role: null,
          supplier_role_label: null,
          supplier_name: null,
        },
        product_availability: null,
        product_availability_label: null,
        supply_dates: [],
        order_time: null,
        pack_quantity: null,
        unpriced_item_type: "02",
        prices: [],
      },
    ],
  },
  {
    id: emptyTerritory,
    market_reference: null,
    exclusivity: "unknown",
    markets: [],
    market_publishing_detail: {
      market_publishing_status: null,
      market_publishing_status_label: null,
      market_dates: [],
    },
    supply_details: [],
  },
];

/** Inserts the tree by SQL, like another system, with later rows first. */
export async function insertTree(
  app: App,
  org: Organization,
  product: string,
): Promise<void> {
  const key = { organization_id: org.id, product_id: product };
  // deno-fmt-ignore
  const rows: [table: string, row: Record<string, unknown>][] = [
    ["product_territories", { id: emptyTerritory, position: 2 }],
    ["product_territories", { id: territory, position: 1, market_reference: "UKCW", exclusivity: "exclusive",
        market_publishing_status: "04" }],
    ["territory_markets", { territory_id: territory, id: emptyMarket, position: 2, regions_included: ["ROW"] }],
    ["territory_markets", { territory_id: territory, id: market, position: 1, name: "British Isles",
        countries_included: ["GB", "IE"], regions_included: ["WORLD"], regions_excluded: ["GB-NIR"] }],
    ["market_dates", { territory_id: territory, position: 2, market_date_role: "01", date: "0001-02-03" }],
    ["market_dates", { territory_id: territory, position: 1, market_date_role: "10", date: "2026-01-05" }],
    ["supply_details", { territory_id: territory, id: emptySupply, position: 2, unpriced_item_type: "02" }],
    ["supply_details", { territory_id: territory, id: supply, position: 1, supplier_role: "02",
        supplier_name: "Harbour Distribution", product_availability: "21", order_time: 2, pack_quantity: 24 }],
    ["supply_dates", { supply_detail_id: supply, position: 2, supply_date_role: "02", date: "2026-01-31" }],
    ["supply_dates", { supply_detail_id: supply, position: 1, supply_date_role: "08", date: "2026-02-01" }],
    ["supply_prices", { supply_detail_id: supply, id: emptyPrice, position: 2 }],
    ["supply_prices", { supply_detail_id: supply, id: price, position: 1, price_type: "02", price_amount: 12.99,
        currency_code: "GBP", price_status: "02", minimum_order_quantity: 1, valid_from: "2026-01-01",
        valid_to: "2026-12-31", price_qualifier: "05", countries_included: ["GB"], countries_excluded: ["JE"],
        regions_included: ["WORLD"], regions_excluded: ["GB-NIR"] }],
    ["supply_price_taxes", { supply_price_id: price, position: 2 }],
    ["supply_price_taxes", { supply_price_id: price, position: 1, tax_type: "01", tax_rate_code: "S",
        tax_rate_percent: 20, taxable_amount: 10.825, tax_amount: 2.165 }],
  ];
  for (const [table, row] of rows) {
    const whole = { ...key, ...row };
    const columns = Object.keys(whole).join();
    await app.sql`
              insert into ${app.sql(table)} (${app.sql(columns)})
              select ${app.sql(columns)}
              from jsonb_populate_record(null::${app.sql(table)}, ${
      app.sql.json(whole)
    })
    `;
  }
}

/** A copy without ids, as a body that creates the same tree. */
export function withoutIds<T>(tree: T): T {
  const text = JSON.stringify(
    tree,
    (key, value) => key === "id" ? undefined : value,
  );
  return JSON.parse(text) as T;
}
