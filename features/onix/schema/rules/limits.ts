import { knownTag, nameInOnix21 } from "./facts.ts";

/*
 * The elements that limit their composite, such as the territory of a price. Without one of them,
 * the rest would permit more than its sender did. So an entry that loses such an element is neither
 * read nor sent. A composite that limits is complete or lost.
 */

/** The elements that are read and sent all together or not at all: where a product may be sold. */
const RIGHTS = ["SalesRights", "ROWSalesRightsType"];

/** Whether an element decides where a product may be sold. */
export function isRight({ name }: { name: string }): boolean {
  return RIGHTS.includes(name);
}

/** The elements that limit wherever they stand. */
const LIMITS = new Set([
  ...RIGHTS,
  ...split("Territory Market SalesRestriction SalesOutlet"),
  // To whom, and for what use.
  ...split("ContentAudience AudienceRange EpubUsageConstraint EpubLicense"),
  // For which price.
  ...split("PriceType PriceQualifier PriceConstraint PricePer PriceCondition"),
  ...split("MinimumOrderQuantity BatchBonus PriceStatus"),
  ...split("CurrencyCode CurrencyZone"),
  // For how long.
  ...split("PriceDate ContentDate EpubLicenseDate"),
  // What the entry is, and how exact.
  ...split("TextType CitedContentType CopyrightType Proximity RatingLimit"),
  // In ONIX 2.1, which no later release can say.
  ...split("AudienceRestrictionFlag ClassOfTrade NotForSale PriceTypeCode"),
  ...split("MarketCountry MarketCountryExcluded MarketRestrictionDetail"),
  ...split("MarketTerritory PriceEffectiveFrom PriceEffectiveUntil"),
  ...split("SupplyRestrictionDetail SupplyToCountry SupplyToCountryExcluded"),
  ...split("SupplyToRegion SupplyToTerritory"),
]);

function split(text: string): string[] {
  return text.split(" ");
}

/** The elements that limit in these composites alone. */
const LIMITS_IN: ReadonlyMap<string, readonly string[]> = new Map([
  // Of which collection, where one is in another.
  ["CollectionIdentifier", ["CollectionElementLevel"]],
  // On what, and for how many copies.
  ["Discount", ["DiscountType", "Quantity", "ToQuantity"]],
  // Where, and of which edition.
  ["Price", ["CountryCode", "EpubTechnicalProtection"]],
  // Whether it was won, or nearly.
  ["Prize", ["PrizeCode"]],
  // Of how much of the product.
  ["ProductClassification", ["Percent"]],
  // To those who order that many.
  ["SupplyDetail", ["OrderQuantityMinimum", "OrderQuantityMultiple"]],
  // Which tax, and on how much of the price.
  ["Tax", ["TaxType", "TaxableAmount"]],
]);

/** Elements that only add information to composites that limit. */
const ADDS: Readonly<Record<string, readonly string[]>> = {
  EpubLicense: ["EpubLicenseExpression"],
  SalesOutlet: ["SalesOutletIdentifier"],
  SalesRestriction: ["SalesRestrictionNote"],
  SalesRights: ["ProductIdentifier", "PublisherName", "PublisherNameInverted"],
};

/**
 * The endings of names of elements that only add information. An unknown element may be of a later
 * revision of ONIX, or the sender's own. In a right, a market or a price it counts as a limit, unless
 * its name ends so.
 */
const ADDING =
  /(?:Name|NameInverted|Note|Description|Text|Statement|Comment|Identifier|IDType|IDValue|Link|Website)$/;

/** The tables of this file, as JSON can write them. */
export const LIMIT_TABLES = [[...LIMITS], [...LIMITS_IN], ADDS, ADDING.source];

/** Whether an element is of no release, not even of 2.1. */
function isUnknown(name: string): boolean {
  return knownTag(name) === undefined && nameInOnix21(name) === undefined;
}

/** A price and its parts. An unknown element may limit each of them. */
const PARTS_OF_PRICES = split("Price PriceCoded Tax Discount DiscountCoded ComparisonProductPrice");

/** Whether an element limits the composite that it stands in. */
export function limits(name: string, composite = ""): boolean {
  if (LIMITS.has(name)) return true;
  if (PARTS_OF_PRICES.includes(composite) && isUnknown(name)) return !adds(name, composite);
  return LIMITS.has(composite)
    ? !adds(name, composite)
    : LIMITS_IN.get(composite)?.includes(name) ?? false;
}

/** Whether a block is a supply that has no market left. It goes with the last of them. */
export function isSupplyWithoutMarkets(
  block: string,
  left: readonly { name: string }[],
): boolean {
  return block === "ProductSupply" && !left.some(({ name }) => name === "Market");
}

/** Whether an element only adds to a composite that limits. */
export function adds(name: string, composite: string): boolean {
  return ADDS[composite]?.includes(name) || ADDING.test(name) && isUnknown(name);
}

/** A date with a period of validity. */
export interface Period {
  /** The element with its role. */
  role: string;
  /** The roles that limit. Absent: all do. */
  limiting?: readonly string[];
}

/** The composites that are such dates. */
export const PERIODS: Readonly<Record<string, Period>> = {
  PriceDate: { role: "PriceDateRole" },
  EpubLicenseDate: { role: "EpubLicenseDateRole" },
  // List 155: from, until, both, available from and until.
  ContentDate: {
    role: "ContentDateRole",
    limiting: ["14", "15", "24", "27", "28"],
  },
};
