import * as v from "valibot";
import { Day, Uuid } from "./values.ts";

/*
 * Rights and supply in responses (ONIX blocks 3, 4 and 6). Labels come from the
 * ONIX code lists.
 */

const text = v.nullable(v.string());

const whole = v.nullable(v.pipe(v.number(), v.integer()));

const amount = v.nullable(v.number());

const day = v.nullable(Day);

/** The territory of a right or a market: countries of ONIX List 91, regions of List 49. */
export const Territory = v.object({
  countries_included: v.array(v.string()),
  countries_excluded: v.array(v.string()),
  regions_included: v.array(v.string()),
  regions_excluded: v.array(v.string()),
});

/** A market of a territory. */
export const Market = v.object({
  id: Uuid,
  name: text,
  territory: Territory,
});

/** A territory of a product in a list. */
export const ShallowTerritory = v.object({
  id: Uuid,
  market_reference: text,
  exclusivity: v.picklist([
    "exclusive",
    "non_exclusive",
    "not_for_sale",
    "unknown",
  ]),
  markets: v.array(Market),
});

/** Publishing details of a market (ONIX block 4). */
export const MarketPublishingDetail = v.object({
  market_publishing_status: text,
  market_publishing_status_label: text,
  market_dates: v.array(v.object({
    market_date_role: v.string(),
    market_date_role_label: text,
    date: Day,
  })),
});

/** A price of a supplier (ONIX block 6). */
export const SupplyPrice = v.object({
  id: Uuid,
  price_type: text,
  price_type_label: text,
  price_amount: amount,
  currency_code: text,
  price_status: text,
  minimum_order_quantity: whole,
  valid_from: day,
  valid_to: day,
  taxes: v.array(v.object({
    tax_type: text,
    tax_rate_code: text,
    tax_rate_percent: amount,
    taxable_amount: amount,
    tax_amount: amount,
  })),
});

/** A supplier of a territory, with dates and prices (ONIX block 6). */
export const SupplyDetail = v.object({
  id: Uuid,
  supplier: v.object({
    supplier_role: text,
    supplier_role_label: text,
    supplier_name: text,
  }),
  product_availability: text,
  product_availability_label: text,
  supply_dates: v.array(v.object({
    supply_date_role: v.string(),
    supply_date_role_label: text,
    date: Day,
  })),
  order_time: whole,
  pack_quantity: whole,
  unpriced_item_type: text,
  prices: v.array(SupplyPrice),
});

/** A territory with all its details. */
export const ProductTerritory = v.object({
  ...ShallowTerritory.entries,
  market_publishing_detail: MarketPublishingDetail,
  supply_details: v.array(SupplyDetail),
});

/** A sales right (ONIX List 46). The territory is null for the rest of the world. */
export const SalesRights = v.object({
  id: Uuid,
  sales_rights_type: v.string(),
  sales_rights_type_label: text,
  for_sale: v.boolean(),
  exclusive: v.nullable(v.boolean()),
  is_rest_of_world: v.boolean(),
  territory: v.nullable(Territory),
  publisher_name: text,
});
