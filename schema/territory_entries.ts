import * as v from "valibot";
import { CurrencyCode } from "./entries.ts";
import { Amount, Percent, PositiveInteger } from "./numbers.ts";
import { dated, fields, list } from "./objects.ts";
import { code } from "./onix_codes.ts";
import { Day, oneOf, optional, text, Uuid } from "./values.ts";

/*
 * The entries of the body of `PUT /products/{id}/territories`, as in the response.
 * Response-only fields are accepted and ignored. The OpenAPI document has each
 * export under its name.
 */

/** A country of ONIX List 91. */
export const CountryCode = code(91);

/** A region of ONIX List 49. */
export const RegionCode = code(49);

/** Countries and regions, each included or excluded. */
export const TerritoryBody = fields({
  countries_included: v.optional(list(CountryCode), []),
  countries_excluded: v.optional(list(CountryCode), []),
  regions_included: v.optional(list(RegionCode), []),
  regions_excluded: v.optional(list(RegionCode), []),
});

export const MarketBody = fields({
  id: v.optional(Uuid),
  name: optional(text()),
  territory: v.optional(TerritoryBody, {}),
});

export const PublishingDetailBody = fields({
  market_publishing_status: optional(code(68)),
  market_dates: v.optional(
    list(fields({
      market_date_role: code(163),
      date: Day,
    }, ["market_date_role_label"])),
    [],
  ),
}, ["market_publishing_status_label"]);

export const TaxBody = fields({
  tax_type: optional(code(171)),
  tax_rate_code: optional(code(62)),
  tax_rate_percent: optional(Percent),
  taxable_amount: optional(Amount),
  tax_amount: optional(Amount),
});

export const SupplyPriceBody = dated({
  id: v.optional(Uuid),
  price_type: optional(code(58)),
  price_amount: optional(Amount),
  currency_code: optional(CurrencyCode),
  price_status: optional(code(61)),
  minimum_order_quantity: optional(PositiveInteger),
  valid_from: optional(Day),
  valid_to: optional(Day),
  taxes: v.optional(list(TaxBody), []),
}, ["price_type_label"]);

export const SupplyDetailBody = fields({
  id: v.optional(Uuid),
  supplier: v.optional(
    fields({
      supplier_role: optional(code(93)),
      supplier_name: optional(text()),
    }, ["supplier_role_label"]),
    {},
  ),
  product_availability: optional(code(65)),
  supply_dates: v.optional(
    list(fields({
      supply_date_role: code(166),
      date: Day,
    }, ["supply_date_role_label"])),
    [],
  ),
  order_time: optional(PositiveInteger),
  pack_quantity: optional(PositiveInteger),
  unpriced_item_type: optional(code(57)),
  prices: v.optional(list(SupplyPriceBody), []),
}, ["product_availability_label"]);

export const ProductTerritoryBody = fields({
  id: v.optional(Uuid),
  market_reference: optional(text()),
  exclusivity: v.optional(
    oneOf("exclusive", "non_exclusive", "not_for_sale", "unknown"),
    "unknown",
  ),
  markets: v.optional(list(MarketBody), []),
  market_publishing_detail: v.optional(PublishingDetailBody, {}),
  supply_details: v.optional(list(SupplyDetailBody), []),
});
