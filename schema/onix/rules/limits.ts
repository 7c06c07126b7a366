/*
 * The parts that limit what they stand in: without one of them, the rest would say more
 * than its sender did. So whatever loses such a part is neither read nor sent.
 */

const LIMITS = new Set([
  // Where and by whom.
  "Territory",
  "CountriesIncluded",
  "CountriesExcluded",
  "RegionsIncluded",
  "RegionsExcluded",
  "Market",
  "SalesRestriction",
  "SalesRestrictionType",
  "SalesOutlet",
  // To whom.
  "ContentAudience",
  "AudienceRestrictionFlag",
  // For which price.
  "PriceType",
  "PriceQualifier",
  "PriceConstraint",
  "PriceConstraintType",
  "PriceCondition",
  "PriceConditionType",
  "PriceConditionQuantity",
  "CurrencyCode",
  "CurrencyZone",
  "MinimumOrderQuantity",
  "BatchBonus",
  // For how long.
  "PriceDate",
  "PriceDateRole",
  // Rights say all together where a product may be sold.
  "SalesRights",
  "SalesRightsType",
  "ROWSalesRightsType",
]);

/** Whether an element limits what it stands in. */
export function limits(name: string): boolean {
  return LIMITS.has(name);
}

/** The parts of a composite that are read and sent all together or not at all. */
export const TOGETHER: readonly string[] = [
  "SalesRights",
  "ROWSalesRightsType",
];
