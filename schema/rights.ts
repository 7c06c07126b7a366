import * as v from "valibot";
import { CurrencyCode } from "./entries.ts";
import { amount, day, entry, field, percent, same } from "./entry.ts";
import { PositiveInteger } from "./numbers.ts";
import { at, dated, isObject, list } from "./objects.ts";
import { code, type OnixList } from "./onix_codes.ts";
import { Day, described, oneOf, optional, text, Uuid } from "./values.ts";

/*
 * The entries of rights and supply (ONIX blocks 4 and 6), in request bodies and
 * in responses. The OpenAPI document uses the names of these exports.
 */

const DAYS = "The number of days from the receipt of an order to its dispatch.";

const nullableText = v.nullable(v.string());

const id = field(v.optional(Uuid), Uuid);
const words = field(optional(text()), nullableText);
const count = field(
  optional(PositiveInteger),
  v.nullable(v.pipe(v.number(), v.integer())),
);
const days = field(
  described(DAYS, count.body),
  described(DAYS, count.answer),
);

/** The label of a code, from its ONIX list. */
const label = { answer: nullableText };

function coded(list: OnixList) {
  return field(optional(code(list)), nullableText);
}

function role(list: OnixList) {
  return field(code(list), v.string());
}

function many<const B extends v.GenericSchema, const A extends v.GenericSchema>(
  { body, answer }: { body: B; answer: A },
) {
  return field(v.optional(list(body), []), v.array(answer));
}

export const CountryCode = code(91);
export const RegionCode = code(49);

const countries = many(field(CountryCode, v.string()));
const regions = many(field(RegionCode, v.string()));

export const { body: TerritoryBody, answer: Territory } = entry({
  countries_included: countries,
  countries_excluded: countries,
  regions_included: regions,
  regions_excluded: regions,
});

export const { body: MarketBody, answer: Market } = entry({
  id,
  name: words,
  territory: field(v.optional(TerritoryBody, {}), Territory),
});

export const { body: PublishingDetailBody, answer: MarketPublishingDetail } =
  entry({
    market_publishing_status: coded(68),
    market_publishing_status_label: label,
    market_dates: many(entry({
      market_date_role: role(163),
      market_date_role_label: label,
      date: same(Day),
    })),
  });

const tax = entry({
  tax_type: coded(171),
  tax_rate_code: coded(62),
  tax_rate_percent: percent,
  taxable_amount: amount,
  tax_amount: amount,
});

export const TaxBody = tax.body;

const price = entry({
  id,
  price_type: coded(58),
  price_type_label: label,
  price_amount: amount,
  currency_code: field(optional(CurrencyCode), nullableText),
  price_status: coded(61),
  minimum_order_quantity: count,
  valid_from: day,
  valid_to: day,
  taxes: many(tax),
});

export const SupplyPriceBody = dated(price.body);
export const SupplyPrice = price.answer;

const supplier = entry({
  supplier_role: coded(93),
  supplier_role_label: label,
  supplier_name: words,
});

export const { body: SupplyDetailBody, answer: SupplyDetail } = entry({
  id,
  supplier: field(v.optional(supplier.body, {}), supplier.answer),
  product_availability: coded(65),
  product_availability_label: label,
  supply_dates: many(entry({
    supply_date_role: role(166),
    supply_date_role_label: label,
    date: same(Day),
  })),
  order_time: days,
  pack_quantity: count,
  unpriced_item_type: coded(57),
  prices: many(field(SupplyPriceBody, SupplyPrice)),
});

const Exclusivity = oneOf(
  "exclusive",
  "non_exclusive",
  "not_for_sale",
  "unknown",
);

const SHALLOW = {
  id,
  market_reference: words,
  exclusivity: field(v.optional(Exclusivity, "unknown"), Exclusivity),
  markets: many(field(MarketBody, Market)),
};

/** A territory of a listed product. */
export const ShallowTerritory = entry(SHALLOW).answer;

export const { body: ProductTerritoryBody, answer: ProductTerritory } = entry({
  ...SHALLOW,
  market_publishing_detail: field(
    v.optional(PublishingDetailBody, {}),
    MarketPublishingDetail,
  ),
  supply_details: many(field(SupplyDetailBody, SupplyDetail)),
});

const right = entry({
  id,
  sales_rights_type: role(46),
  sales_rights_type_label: label,
  for_sale: { answer: v.boolean() },
  exclusive: { answer: v.nullable(v.boolean()) },
  is_rest_of_world: field(
    v.optional(v.boolean("invalid_type: Expected true or false"), false),
    v.boolean(),
  ),
  territory: field(optional(TerritoryBody), v.nullable(Territory)),
  publisher_name: words,
});

export const SalesRights = right.answer;

/** A sales right. It either has a territory or covers the rest of the world. */
export const SalesRightBody = v.pipe(
  right.body,
  v.rawCheck(({ dataset, addIssue }) => {
    const right: unknown = dataset.value;
    if (!isObject(right)) return;
    const { is_rest_of_world = false, territory = null } = right;
    if (is_rest_of_world === (territory === null)) return;
    if (typeof is_rest_of_world !== "boolean") return;
    addIssue({
      message: is_rest_of_world
        ? "unexpected_territory: The rest of the world has no territory: send null"
        : "required: A territory is required, except for the rest of the world",
      path: at("territory"),
    });
  }),
);
