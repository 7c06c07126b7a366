import type { ExampleRequest } from "./request.ts";

/** The demo product with the most complete rights. */
const ODYSSEY = "c0000000-0000-4000-8000-000000000100";

/** The requests for rights and supply. */
export const RIGHTS: Record<string, ExampleRequest> = {
  getTerritories: {
    summary: "Two territories, one of them not for sale",
    operation: "GET /products/{id}/territories",
    path: `/products/${ODYSSEY}/territories`,
  },
  replaceTerritories: {
    summary: "A territory with its supply",
    operation: "PUT /products/{id}/territories",
    path: ({ createProduct }) => `/products/${createProduct.data.id}/territories`,
    body: [{
      market_reference: "UK",
      exclusivity: "exclusive",
      markets: [{
        name: "United Kingdom",
        territory: { countries_included: ["GB"] },
      }],
      market_publishing_detail: {
        market_publishing_status: "04",
        market_dates: [{ market_date_role: "01", date: "2027-03-11" }],
      },
      supply_details: [{
        supplier: {
          supplier_role: "02",
          supplier_name: "Lighthouse Distribution",
        },
        product_availability: "21",
        supply_dates: [{ supply_date_role: "08", date: "2027-03-01" }],
        order_time: 2,
        pack_quantity: 24,
        prices: [{
          price_type: "02",
          price_amount: 7.99,
          currency_code: "GBP",
          taxes: [{
            tax_type: "01",
            tax_rate_code: "Z",
            tax_rate_percent: 0,
            taxable_amount: 7.99,
            tax_amount: 0,
          }],
        }],
      }],
    }],
  },
  getSalesRights: {
    summary: "Exclusive, not for sale, and the rest of the world",
    operation: "GET /products/{id}/sales-rights",
    path: `/products/${ODYSSEY}/sales-rights`,
  },
  replaceSalesRights: {
    summary: "Exclusive in two countries, and the rest of the world",
    operation: "PUT /products/{id}/sales-rights",
    path: ({ createProduct }) => `/products/${createProduct.data.id}/sales-rights`,
    body: [
      {
        sales_rights_type: "01",
        territory: { countries_included: ["GB", "IE"] },
      },
      { sales_rights_type: "02", is_rest_of_world: true },
    ],
  },
};
