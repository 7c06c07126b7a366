import { assertEquals } from "@std/assert";
import type { Element } from "../../schema/onix/xml/element.ts";
import { least } from "./records.ts";
import {
  imported,
  leavesOf,
  message,
  notSentOf,
  recordsOf,
  writeRecord,
} from "./support.ts";

/*
 * Never more than the sender said: what loses a part that limits it is kept in the record
 * alone. Each case names the part that cannot be read, and what must not be said without it.
 */

interface Case {
  name: string;
  rest?: string;
  /** What stands in the first block. */
  detail?: string;
  /** The code and the path of the one warning. */
  says: string;
  /** What neither JSON nor a message may have. */
  gone: RegExp;
  /** What both have beside it. */
  stays?: RegExp;
}

const territory = (codes: string) => `<Territory>${codes}</Territory>`;
const WORLD = "<RegionsIncluded>WORLD</RegionsIncluded>";

const price = (parts: string, amount = "12.34") =>
  `<Price>${
    parts.includes("<PriceType>") ? "" : "<PriceType>02</PriceType>"
  }${parts}<PriceAmount>${amount}</PriceAmount></Price>`;

const supply = (prices: string, market = "") =>
  `<ProductSupply>${market}<SupplyDetail><Supplier><SupplierRole>01</SupplierRole><SupplierName>S</SupplierName></Supplier><ProductAvailability>20</ProductAvailability>${prices}</SupplyDetail></ProductSupply>`;

const rights = (...parts: string[]) =>
  `<PublishingDetail>${parts.join("")}</PublishingDetail>`;

const right = (type: string, codes: string, parts = "") =>
  `<SalesRights><SalesRightsType>${type}</SalesRightsType>${
    territory(codes)
  }${parts}</SalesRights>`;

const PRICE = "/Product/ProductSupply/SupplyDetail/Price";

/** A price that lacks a part goes alone; the other one stays. */
function ofPrice(name: string, parts: string, says: string): Case {
  return {
    name: `a price with ${name}`,
    rest: supply(price(parts) + price("", "77.7")),
    says: says.replace("/Price", `${PRICE}[1]`),
    gone: /12\.34/,
    stays: /77\.7/,
  };
}

const RIGHTS = "/Product/PublishingDetail/SalesRights";
const RESTRICTION = `${RIGHTS}/SalesRestriction`;

/** Rights go together. Those of one territory, with what else is in them. */
function ofRights(name: string, parts: string, says: string): Case {
  return {
    name,
    rest: rights(
      right("01", "<CountriesIncluded>AT</CountriesIncluded>", parts),
    ),
    says: says.replace("/Rights", RIGHTS),
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  };
}

const restriction = (parts: string) =>
  `<SalesRestriction>${parts}</SalesRestriction>`;

const ONLY_TO = "<SalesRestrictionType>04</SalesRestrictionType>";

/** An entry of the first block goes alone. */
function ofDetail(name: string, detail: string, says: string): Case {
  const gone = new RegExp(`${says.split("/")[1]}|audience_range_`);
  return { name, detail, says: says.replace("/", `${DETAIL}/`), gone };
}

const DETAIL = "/Product/DescriptiveDetail";

/** An entry of the second block goes alone. */
function ofCollateral(name: string, block: string, says: string): Case {
  return {
    name,
    rest: `<CollateralDetail>${block}</CollateralDetail>`,
    says: says.replace("/", "/Product/CollateralDetail/"),
    gone: /secret/i,
  };
}

const text = (parts: string, { type = "03", limits = "" } = {}) =>
  `<TextContent><TextType>${type}</TextType><ContentAudience>00</ContentAudience>${limits}<Text>Secret</Text>${parts}</TextContent>`;

const contentDate = (role: string, date: string) =>
  `<ContentDate><ContentDateRole>${role}</ContentDateRole><Date>${date}</Date></ContentDate>`;

const CASES: Case[] = [
  ofPrice(
    "a condition of an unknown unit",
    "<PriceCondition><PriceConditionType>06</PriceConditionType><PriceConditionQuantity><PriceConditionQuantityType>01</PriceConditionQuantityType><Quantity>10</Quantity><QuantityUnit>98</QuantityUnit></PriceConditionQuantity></PriceCondition>",
    "invalid_code /Price/PriceCondition/PriceConditionQuantity/QuantityUnit",
  ),
  ofPrice(
    "a condition without its number",
    "<PriceCondition><PriceConditionType>06</PriceConditionType><PriceConditionQuantity><PriceConditionQuantityType>01</PriceConditionQuantityType><QuantityUnit>00</QuantityUnit></PriceConditionQuantity></PriceCondition>",
    "required /Price/PriceCondition/PriceConditionQuantity/Quantity",
  ),
  ofPrice(
    "a condition without its type",
    "<PriceCondition><ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780306406157</IDValue></ProductIdentifier></PriceCondition>",
    "required /Price/PriceCondition/PriceConditionType",
  ),
  ofPrice(
    "a condition to buy what cannot be told",
    "<PriceCondition><PriceConditionType>06</PriceConditionType><ProductIdentifier><ProductIDType>98</ProductIDType><IDValue>9780306406157</IDValue></ProductIdentifier></PriceCondition>",
    "invalid_code /Price/PriceCondition/ProductIdentifier/ProductIDType",
  ),
  ofPrice(
    "a constraint of an unknown unit",
    "<PriceConstraint><PriceConstraintType>00</PriceConstraintType><PriceConstraintStatus>02</PriceConstraintStatus><PriceConstraintLimit><Quantity>10</Quantity><PriceConstraintUnit>77</PriceConstraintUnit></PriceConstraintLimit></PriceConstraint>",
    "invalid_code /Price/PriceConstraint/PriceConstraintLimit/PriceConstraintUnit",
  ),
  ofPrice(
    "a constraint without its status",
    "<PriceConstraint><PriceConstraintType>00</PriceConstraintType></PriceConstraint>",
    "required /Price/PriceConstraint/PriceConstraintStatus",
  ),
  ofPrice(
    "a constraint of another composite",
    "<EpubUsageConstraint><EpubUsageType>02</EpubUsageType><EpubUsageStatus>03</EpubUsageStatus></EpubUsageConstraint>",
    "unknown_element /Price/EpubUsageConstraint",
  ),
  ofPrice(
    "a license without a name",
    "<EpubLicense><EpubLicenseExpression><EpubLicenseExpressionType>02</EpubLicenseExpressionType><EpubLicenseExpressionLink>https://terms.example</EpubLicenseExpressionLink></EpubLicenseExpression></EpubLicense>",
    "required /Price/EpubLicense/EpubLicenseName",
  ),
  ofPrice(
    "an unknown protection",
    "<EpubTechnicalProtection>98</EpubTechnicalProtection>",
    "invalid_code /Price/EpubTechnicalProtection",
  ),
  ofPrice(
    "an unknown unit of pricing",
    "<PricePer>98</PricePer>",
    "invalid_code /Price/PricePer",
  ),
  ofPrice(
    "an unknown status",
    "<PriceStatus>98</PriceStatus>",
    "invalid_code /Price/PriceStatus",
  ),
  ofPrice(
    "an unknown zone of its currency",
    "<CurrencyZone>XZX</CurrencyZone>",
    "invalid_code /Price/CurrencyZone",
  ),
  ofPrice(
    "a bonus for fewer than none",
    "<BatchBonus><BatchQuantity>-10</BatchQuantity><FreeQuantity>1</FreeQuantity></BatchBonus>",
    "invalid_number /Price/BatchBonus/BatchQuantity",
  ),
  ofPrice(
    "a misspelled qualifier",
    "<PriceQualifer>05</PriceQualifer>",
    "unknown_element /Price/PriceQualifer",
  ),
  ofPrice(
    "a currency under another name",
    "<Currency>EUR</Currency>",
    "unknown_element /Price/Currency",
  ),
  ofPrice(
    "two territories",
    territory("<CountriesIncluded>GB</CountriesIncluded>") +
      territory("<CountriesIncluded>IE</CountriesIncluded>"),
    "duplicate /Price/Territory[2]",
  ),
  ofPrice(
    "two first days",
    "20260101 20270101".replace(
      /\d+/g,
      "<PriceDate><PriceDateRole>14</PriceDateRole><Date>$&</Date></PriceDate>",
    ),
    "duplicate /Price/PriceDate[2]",
  ),
  ofPrice(
    "a time without a date",
    "<PriceDate><PriceDateRole>15</PriceDateRole></PriceDate>",
    "required /Price/PriceDate/Date",
  ),
  ofPrice(
    "the last day of ONIX 2.1",
    "<PriceEffectiveUntil>20261231</PriceEffectiveUntil>",
    "onix21_element /Price/PriceEffectiveUntil",
  ),
  ofPrice(
    "the country of ONIX 2.1",
    "<CountryCode>GB</CountryCode>",
    "unknown_element /Price/CountryCode",
  ),
  ofPrice(
    "a territory that says nothing",
    "<Territory><CountriesIncluded/></Territory>",
    "required /Price/Territory/CountriesIncluded",
  ),
  ofPrice(
    "a territory that is a text",
    "<Territory>GB</Territory>",
    "required /Price/Territory/CountriesIncluded",
  ),
  ofRights(
    "a restriction that says nothing",
    restriction(""),
    "required /Rights/SalesRestriction/SalesRestrictionType",
  ),
  ofRights(
    "rights beside some that say nothing",
    "</SalesRights><SalesRights>",
    "required /Rights[2]/SalesRightsType",
  ),
  ofRights(
    "a restriction from no day on",
    restriction(`${ONLY_TO}<StartDate>2026-13-45</StartDate>`),
    "invalid_date /Rights/SalesRestriction/StartDate",
  ),
  ofRights(
    "a restriction until no day",
    restriction(`${ONLY_TO}<EndDate>soon</EndDate>`),
    "invalid_date /Rights/SalesRestriction/EndDate",
  ),
  ofRights(
    "a restriction to an outlet that cannot be told",
    restriction(
      `${ONLY_TO}<SalesOutlet><SalesOutletIdentifier><SalesOutletIDType>98</SalesOutletIDType><IDValue>Q</IDValue></SalesOutletIdentifier></SalesOutlet>`,
    ),
    "invalid_code /Rights/SalesRestriction/SalesOutlet/SalesOutletIdentifier/SalesOutletIDType",
  ),
  ofRights(
    "a restriction without its type",
    restriction(
      "<SalesOutlet><SalesOutletName>Quay</SalesOutletName></SalesOutlet>",
    ),
    "required /Rights/SalesRestriction/SalesRestrictionType",
  ),
  ofRights(
    "rights in two territories",
    territory("<CountriesIncluded>CA</CountriesIncluded>"),
    "duplicate /Rights/Territory[2]",
  ),
  ofRights(
    "rights of two types",
    "<SalesRightsType>03</SalesRightsType>",
    "duplicate /Rights/SalesRightsType[2]",
  ),
  {
    name: "rights of which one has no territory",
    rest: rights(
      right("01", "<CountriesIncluded>AT</CountriesIncluded>"),
      "<SalesRights><SalesRightsType>03</SalesRightsType></SalesRights>",
    ),
    says: `required ${RIGHTS}[2]/Territory`,
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  },
  {
    name: "rights of which one has no type",
    rest: rights(
      right("03", "<CountriesIncluded>AT</CountriesIncluded>"),
      `<SalesRights>${territory(WORLD)}</SalesRights>`,
    ),
    says: `required ${RIGHTS}[2]/SalesRightsType`,
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  },
  {
    name: "rights with two for the rest of the world",
    rest: rights(
      right("01", "<CountriesIncluded>AT</CountriesIncluded>"),
      "<ROWSalesRightsType>01</ROWSalesRightsType><ROWSalesRightsType>03</ROWSalesRightsType>",
    ),
    says: "duplicate /Product/PublishingDetail/ROWSalesRightsType[2]",
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  },
  {
    name: "rights with a misspelled rest of the world",
    rest: rights(
      right("01", "<CountriesIncluded>AT</CountriesIncluded>"),
      "<RowSalesRightsType>03</RowSalesRightsType>",
    ),
    says: "unknown_element /Product/PublishingDetail/RowSalesRightsType",
    gone: /\bSalesRightsType|sales_rights_type|\bAT\b/,
  },
  {
    name: "rights in two blocks",
    rest: rights(right("01", WORLD)) +
      rights(right("03", "<CountriesIncluded>AT</CountriesIncluded>")),
    says: "duplicate /Product/PublishingDetail[2]",
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  },
  {
    name: "rights with what ONIX 2.1 does not sell",
    rest: rights(
      right("01", WORLD),
      "<NotForSale><Where>AT</Where></NotForSale>",
    ),
    says: "onix21_element /Product/PublishingDetail/NotForSale",
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  },
  ...[
    [
      "included and excluded countries",
      "<CountriesIncluded>AT</CountriesIncluded><CountriesExcluded>CH</CountriesExcluded>",
      "unexpected_element /CountriesExcluded",
    ],
    [
      "one country beside the world",
      `${WORLD}<CountryCode>AT</CountryCode>`,
      "unknown_element /CountryCode",
    ],
    [
      "an exclusion alone",
      "<CountriesExcluded>AT</CountriesExcluded>",
      "required /CountriesIncluded",
    ],
    [
      "the rest of the world, which is no region since ONIX 3.0",
      "<RegionsIncluded>ROW</RegionsIncluded>",
      "invalid_code /RegionsIncluded",
    ],
    [
      "a region on both sides",
      `${WORLD}<RegionsExcluded>WORLD</RegionsExcluded>`,
      "contradictory /RegionsExcluded",
    ],
    [
      "countries in two elements",
      "<CountriesIncluded>AT</CountriesIncluded><CountriesIncluded>CH</CountriesIncluded>",
      "duplicate /CountriesIncluded[2]",
    ],
  ].map(([name, codes, says]): Case => ({
    name: `rights with ${name}`,
    rest: rights(right("01", codes!)),
    says: says!.replace("/", `${RIGHTS}/Territory/`),
    gone: /SalesRightsType|sales_rights_type|\b(?:AT|CH|ROW|WORLD)\b/,
  })),
  {
    name: "a market restricted until no day",
    rest: supply(
      price(""),
      `<Market>${territory(WORLD)}${
        restriction(`${ONLY_TO}<EndDate>never</EndDate>`)
      }</Market>`,
    ),
    says: "invalid_date /Product/ProductSupply/Market/SalesRestriction/EndDate",
    gone: /12\.34|WORLD/,
  },
  {
    name: "a market without a territory",
    rest: supply(price(""), `<Market>${restriction(ONLY_TO)}</Market>`),
    says: "required /Product/ProductSupply/Market/Territory",
    gone: /12\.34/,
  },
  ...[["", ""], ["<Territory/>", "/CountriesIncluded"]].map((
    [parts, missing],
  ): Case => ({
    name: `a market that says nothing, with "${parts}"`,
    rest: supply(price(""), `<Market>${parts}</Market>`),
    says: `required /Product/ProductSupply/Market/Territory${missing}`,
    gone: /12\.34/,
  })),
  ...[
    ["type", "<TaxType>98</TaxType>", "invalid_code TaxType"],
    [
      "amount",
      "<TaxableAmount>some</TaxableAmount>",
      "invalid_number TaxableAmount",
    ],
  ].map(([what, part, says]): Case => ({
    name: `a tax with an unknown ${what}`,
    rest: supply(
      price("").replace(
        "</Price>",
        `<Tax>${part}<TaxRatePercent>7.7</TaxRatePercent></Tax></Price>`,
      ),
    ),
    says: says!.replace(" ", ` ${PRICE}/Tax/`),
    gone: /7\.7/,
    stays: /12\.34/,
  })),
  {
    name: "a supply of at least no number",
    rest: supply(
      `<OrderQuantityMinimum>ten</OrderQuantityMinimum>${price("")}`,
    ),
    says:
      "invalid_number /Product/ProductSupply/SupplyDetail/OrderQuantityMinimum",
    gone: /12\.34/,
  },
  {
    name: "a misspelled market",
    rest: supply(price(""), `<Markets>${territory(WORLD)}</Markets>`),
    says: "unknown_element /Product/ProductSupply/Markets",
    gone: /12\.34|WORLD/,
  },
  {
    name: "a supply to the country of ONIX 2.1",
    rest: supply(`<SupplyToCountry>AT</SupplyToCountry>${price("")}`),
    says: "onix21_element /Product/ProductSupply/SupplyDetail/SupplyToCountry",
    gone: /12\.34|SupplierName|supplier_name/,
  },
  {
    name: "a stock of unknown proximity",
    rest: supply(
      `<Stock><OnHand>987</OnHand><Proximity>98</Proximity></Stock>${
        price("")
      }`,
    ),
    says: "invalid_code /Product/ProductSupply/SupplyDetail/Stock/Proximity",
    gone: /987/,
    stays: /12\.34/,
  },
  {
    name: "a discount from fewer than none on",
    rest: supply(
      price(
        "<Discount><Quantity>-100</Quantity><DiscountPercent>43</DiscountPercent></Discount>",
      ),
    ),
    says: `invalid_number ${PRICE}/Discount/Quantity`,
    gone: /\b43\b/,
    stays: /12\.34/,
  },
  ofDetail(
    "a range with an unknown end",
    "<AudienceRange><AudienceRangeQualifier>17</AudienceRangeQualifier><AudienceRangePrecision>03</AudienceRangePrecision><AudienceRangeValue>9</AudienceRangeValue><AudienceRangePrecision>98</AudienceRangePrecision><AudienceRangeValue>12</AudienceRangeValue></AudienceRange>",
    "invalid_code /AudienceRange/AudienceRangePrecision[2]",
  ),
  ofDetail(
    "a range with an unknown beginning",
    "<AudienceRange><AudienceRangeQualifier>17</AudienceRangeQualifier><AudienceRangePrecision>98</AudienceRangePrecision><AudienceRangeValue>9</AudienceRangeValue><AudienceRangePrecision>04</AudienceRangePrecision><AudienceRangeValue>12</AudienceRangeValue></AudienceRange>",
    "invalid_code /AudienceRange/AudienceRangePrecision[1]",
  ),
  ofDetail(
    "a range without its second value",
    "<AudienceRange><AudienceRangeQualifier>17</AudienceRangeQualifier><AudienceRangePrecision>03</AudienceRangePrecision><AudienceRangeValue>9</AudienceRangeValue><AudienceRangePrecision>04</AudienceRangePrecision></AudienceRange>",
    "unexpected_element /AudienceRange/AudienceRangePrecision[2]",
  ),
  ofDetail(
    "a use that is limited to no number",
    "<EpubUsageConstraint><EpubUsageType>02</EpubUsageType><EpubUsageStatus>02</EpubUsageStatus><EpubUsageLimit><Quantity>ten</Quantity><EpubUsageUnit>02</EpubUsageUnit></EpubUsageLimit></EpubUsageConstraint>",
    "invalid_number /EpubUsageConstraint/EpubUsageLimit/Quantity",
  ),
  ofDetail(
    "a use of unknown status",
    "<EpubUsageConstraint><EpubUsageType>02</EpubUsageType><EpubUsageStatus>98</EpubUsageStatus></EpubUsageConstraint>",
    "invalid_code /EpubUsageConstraint/EpubUsageStatus",
  ),
  ofDetail(
    "a license until no day",
    "<EpubLicense><EpubLicenseName>Open</EpubLicenseName><EpubLicenseDate><EpubLicenseDateRole>15</EpubLicenseDateRole><Date>20261399</Date></EpubLicenseDate></EpubLicense>",
    "invalid_date /EpubLicense/EpubLicenseDate/Date",
  ),
  ofDetail(
    "a share of more than all",
    "<ProductClassification><ProductClassificationType>01</ProductClassificationType><ProductClassificationCode>4901</ProductClassificationCode><Percent>150</Percent></ProductClassification>",
    "invalid_number /ProductClassification/Percent",
  ),
  ofCollateral(
    "a text for two territories",
    text("", {
      limits: territory("<CountriesIncluded>GB</CountriesIncluded>") +
        territory("<CountriesIncluded>IE</CountriesIncluded>"),
    }),
    "duplicate /TextContent/Territory[2]",
  ),
  ofCollateral(
    "a text for an audience under another name",
    text("<ContentAudiences>03</ContentAudiences>"),
    "unknown_element /TextContent/ContentAudiences",
  ),
  ofCollateral(
    "a text for an unknown country",
    text("", {
      limits: territory("<CountriesIncluded>XZ</CountriesIncluded>"),
    }),
    "invalid_code /TextContent/Territory/CountriesIncluded",
  ),
  ofCollateral(
    "a text from no day on",
    text(contentDate("14", "20261345")),
    "invalid_date /TextContent/ContentDate/Date",
  ),
  ofCollateral(
    "a text with a date of an unknown role",
    text(contentDate("98", "20261231")),
    "invalid_code /TextContent/ContentDate/ContentDateRole",
  ),
  ofCollateral(
    "a text of an unknown type",
    text("", { type: "98" }),
    "invalid_code /TextContent/TextType",
  ),
  ofCollateral(
    "a use of a text that is limited to no number",
    text(
      "<EpubUsageConstraint><EpubUsageType>02</EpubUsageType><EpubUsageStatus>02</EpubUsageStatus><EpubUsageLimit><Quantity>ten</Quantity><EpubUsageUnit>02</EpubUsageUnit></EpubUsageLimit></EpubUsageConstraint>",
    ),
    "invalid_number /TextContent/EpubUsageConstraint/EpubUsageLimit/Quantity",
  ),
  ofCollateral(
    "a citation until no day",
    `<CitedContent><CitedContentType>01</CitedContentType><ContentAudience>00</ContentAudience><SourceTitle>Secret</SourceTitle>${
      contentDate("15", "31.12.2026")
    }</CitedContent>`,
    "invalid_date /CitedContent/ContentDate/Date",
  ),
  ofCollateral(
    "a citation of an unknown type",
    "<CitedContent><CitedContentType>98</CitedContentType><ContentAudience>00</ContentAudience><SourceTitle>Secret</SourceTitle></CitedContent>",
    "invalid_code /CitedContent/CitedContentType",
  ),
  ofCollateral(
    "a file from no day on",
    `<SupportingResource><ResourceContentType>02</ResourceContentType><ContentAudience>00</ContentAudience><ResourceMode>03</ResourceMode><ResourceVersion><ResourceForm>01</ResourceForm><ResourceLink>https://secret.example/x.jpg</ResourceLink>${
      contentDate("27", "tomorrow")
    }</ResourceVersion></SupportingResource>`,
    "invalid_date /SupportingResource/ResourceVersion/ContentDate/Date",
  ),
  ofCollateral(
    "a prize of unknown rank",
    "<Prize><PrizeName>Secret</PrizeName><PrizeCode>98</PrizeCode></Prize>",
    "invalid_code /Prize/PrizeCode",
  ),
  {
    name: "a rating of an unknown most",
    rest: `<CollateralDetail>${
      text(
        "<ReviewRating><Rating>4</Rating><RatingLimit>x</RatingLimit></ReviewRating>",
      )
    }</CollateralDetail>`,
    says:
      "invalid_number /Product/CollateralDetail/TextContent/ReviewRating/RatingLimit",
    gone: /ReviewRating/,
    stays: /Secret/,
  },
  {
    name: "a copyright of an unknown type",
    rest: rights(
      "<CopyrightStatement><CopyrightType>98</CopyrightType><CopyrightYear>2026</CopyrightYear></CopyrightStatement>",
    ),
    says:
      "invalid_code /Product/PublishingDetail/CopyrightStatement/CopyrightType",
    gone: /CopyrightYear/,
  },
  {
    name: "an event for an unknown audience",
    rest:
      "<PromotionDetail><PromotionalEvent><EventType>01</EventType><ContentAudience>98</ContentAudience><EventName>Launch</EventName><EventOccurrence><OccurrenceDate><OccurrenceDateRole>01</OccurrenceDateRole><Date>20260101</Date></OccurrenceDate><EventStatus>A</EventStatus></EventOccurrence></PromotionalEvent></PromotionDetail>",
    says:
      "invalid_code /Product/PromotionDetail/PromotionalEvent/ContentAudience",
    gone: /Launch/,
  },
  ofPrice(
    "an unknown country that is excluded",
    territory(`${WORLD}<CountriesExcluded>US XZ</CountriesExcluded>`),
    "invalid_code /Price/Territory/CountriesExcluded",
  ),
  ofPrice(
    "an unknown region",
    territory("<RegionsIncluded>XX-9</RegionsIncluded>"),
    "invalid_code /Price/Territory/RegionsIncluded",
  ),
  ofPrice(
    "an element in its territory that ONIX lacks",
    territory(`${WORLD}<CountryNotIncluded>GB</CountryNotIncluded>`),
    "unknown_element /Price/Territory/CountryNotIncluded",
  ),
  ofPrice(
    "an unknown currency",
    "<CurrencyCode>EURO</CurrencyCode>",
    "invalid_code /Price/CurrencyCode",
  ),
  ofPrice(
    "an unknown type",
    "<PriceType>98</PriceType>",
    "invalid_code /Price/PriceType",
  ),
  ofPrice(
    "an unknown qualifier",
    "<PriceQualifier>98</PriceQualifier>",
    "invalid_code /Price/PriceQualifier",
  ),
  ofPrice(
    "an unknown condition",
    "<PriceCondition><PriceConditionType>98</PriceConditionType></PriceCondition>",
    "invalid_code /Price/PriceCondition/PriceConditionType",
  ),
  ofPrice(
    "a minimum order that is no number",
    "<MinimumOrderQuantity>ten</MinimumOrderQuantity>",
    "invalid_number /Price/MinimumOrderQuantity",
  ),
  ofPrice(
    "a last day that is a month",
    '<PriceDate><PriceDateRole>15</PriceDateRole><Date dateformat="01">202612</Date></PriceDate>',
    "imprecise_date /Price/PriceDate/Date",
  ),
  ofPrice(
    "a first day that is a span",
    '<PriceDate><PriceDateRole>14</PriceDateRole><Date dateformat="06">2026010120260331</Date></PriceDate>',
    "invalid_date /Price/PriceDate/Date",
  ),
  ofPrice(
    "a day that no month has",
    "<PriceDate><PriceDateRole>15</PriceDateRole><Date>20260231</Date></PriceDate>",
    "invalid_date /Price/PriceDate/Date",
  ),
  ofPrice(
    "a date of another calendar",
    '<PriceDate><PriceDateRole>15</PriceDateRole><Date dateformat="20">14470920</Date></PriceDate>',
    "other_calendar /Price/PriceDate/Date",
  ),
  ofPrice(
    "a date of an unknown role",
    "<PriceDate><PriceDateRole>98</PriceDateRole><Date>20260301</Date></PriceDate>",
    "invalid_code /Price/PriceDate/PriceDateRole",
  ),
  {
    name: "the only market of a supply",
    rest: supply(
      price(""),
      `<Market>${
        territory("<CountriesIncluded>XZ</CountriesIncluded>")
      }</Market>`,
    ),
    says:
      "invalid_code /Product/ProductSupply/Market/Territory/CountriesIncluded",
    gone: /12\.34/,
  },
  {
    name: "one of two markets",
    rest: supply(
      price(""),
      `<Market>${
        territory("<CountriesIncluded>XZ AT</CountriesIncluded>")
      }</Market><Market>${
        territory("<CountriesIncluded>CH</CountriesIncluded>")
      }</Market>`,
    ),
    says:
      "invalid_code /Product/ProductSupply/Market[1]/Territory/CountriesIncluded",
    gone: /\bAT\b/,
    stays: /\bCH\b[^]*12\.34/,
  },
  {
    name: "a market with an unknown restriction",
    rest: supply(
      price(""),
      `<Market>${
        territory(WORLD)
      }<SalesRestriction><SalesRestrictionType>98</SalesRestrictionType></SalesRestriction></Market>`,
    ),
    says:
      "invalid_code /Product/ProductSupply/Market/SalesRestriction/SalesRestrictionType",
    gone: /12\.34|WORLD/,
  },
  {
    name: "rights of which one has an unknown country",
    rest: rights(
      right("01", "<CountriesIncluded>AT</CountriesIncluded>"),
      right("02", "<CountriesIncluded>XZ</CountriesIncluded>"),
      "<ROWSalesRightsType>03</ROWSalesRightsType>",
    ),
    says:
      "invalid_code /Product/PublishingDetail/SalesRights[2]/Territory/CountriesIncluded",
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  },
  {
    name: "rights whose rest of the world is unknown",
    rest: rights(
      right("01", "<CountriesIncluded>AT</CountriesIncluded>"),
      "<ROWSalesRightsType>98</ROWSalesRightsType>",
    ),
    says: "invalid_code /Product/PublishingDetail/ROWSalesRightsType",
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  },
  {
    name: "rights with an unknown restriction beside them",
    rest: rights(
      right("01", WORLD),
      "<SalesRestriction><SalesRestrictionType>98</SalesRestrictionType></SalesRestriction>",
    ),
    says:
      "invalid_code /Product/PublishingDetail/SalesRestriction/SalesRestrictionType",
    gone: /SalesRightsType|sales_rights_type|WORLD/,
  },
  {
    name: "a text for an unknown audience",
    rest:
      "<CollateralDetail><TextContent><TextType>03</TextType><ContentAudience>03</ContentAudience><ContentAudience>98</ContentAudience><Text>For librarians</Text></TextContent><TextContent><TextType>02</TextType><ContentAudience>00</ContentAudience><Text>For all</Text></TextContent></CollateralDetail>",
    says:
      "invalid_code /Product/CollateralDetail/TextContent[1]/ContentAudience[2]",
    gone: /For librarians/,
    stays: /For all/,
  },
  {
    name: "a resource for an unknown audience",
    rest:
      "<CollateralDetail><SupportingResource><ResourceContentType>02</ResourceContentType><ContentAudience>98</ContentAudience><ResourceMode>03</ResourceMode><ResourceVersion><ResourceForm>01</ResourceForm><ResourceLink>https://secret.example/x.jpg</ResourceLink></ResourceVersion></SupportingResource></CollateralDetail>",
    says:
      "invalid_code /Product/CollateralDetail/SupportingResource/ContentAudience",
    gone: /secret\.example/,
  },
];

async function readOf(parts: Pick<Case, "rest" | "detail">) {
  const { header, records: [record] } = await recordsOf(
    message(least("1", parts)),
  );
  const { incoming, book, received } = imported(record!, header);
  const sent = writeRecord(book, received, "3.1").record;
  return { incoming, sent, record: incoming.record };
}

function textsOf(record: Element): string {
  return JSON.stringify(leavesOf(record));
}

Deno.test("Never more than the sender said", async (t) => {
  for (const { name, says, gone, stays, ...parts } of CASES) {
    await t.step(name, async () => {
      const { incoming, sent, record } = await readOf(parts);

      assertEquals(
        incoming.messages.map(({ code, path }) => `${code} ${path}`),
        [says],
      );
      const json = JSON.stringify([
        incoming.body,
        incoming.product_territories,
        incoming.product_sales_rights,
      ]);
      for (const shown of [json, textsOf(sent)]) {
        assertEquals(gone.exec(shown), null, shown);
        if (stays) assertEquals(stays.test(shown), true, shown);
      }
      assertEquals(gone.test(textsOf(record)), true, "The record keeps it");
      assertEquals(notSentOf(record, "3.1").length > 0, true);
    });
  }

  await t.step("what only adds may be missing", async () => {
    const { incoming, sent } = await readOf({
      rest: rights(
        right(
          "01",
          WORLD,
          `${
            restriction(
              `${ONLY_TO}<SalesOutlet><SalesOutletIdentifier><SalesOutletIDType>98</SalesOutletIDType><IDValue>Q</IDValue></SalesOutletIdentifier><SalesOutletName>Quay</SalesOutletName></SalesOutlet>`,
            )
          }<ProductIdentifier><ProductIDType>98</ProductIDType><IDValue>1</IDValue></ProductIdentifier><PublisherName>Other</PublisherName>`,
        ),
      ) +
        "<CollateralDetail>" + text(contentDate("17", "someday")) +
        "</CollateralDetail>",
    });
    assertEquals(incoming.messages, []);
    assertEquals(incoming.product_sales_rights?.length, 1);
    const texts = textsOf(sent);
    for (const said of [/WORLD/, /Quay/, /Other/, /Secret/]) {
      assertEquals(said.test(texts), true, texts);
    }
  });

  await t.step(
    "rights of which the service takes one not are none",
    async () => {
      const { incoming } = await readOf({
        rest: rights(
          right("01", WORLD),
          right(
            "03",
            "<CountriesIncluded>AT</CountriesIncluded>",
            `<PublisherName>${"p".repeat(100_001)}</PublisherName>`,
          ),
        ),
      });
      assertEquals(incoming.messages.map(({ code, path }) => [code, path]), [
        ["too_long", `${RIGHTS}[2]/PublisherName`],
      ]);
      assertEquals(incoming.product_sales_rights, []);
    },
  );

  await t.step("a restriction from a day in another form", async () => {
    const { incoming, sent } = await readOf({
      rest: rights(
        right(
          "01",
          WORLD,
          restriction(`${ONLY_TO}<StartDate>2026-03-01</StartDate>`),
        ),
      ),
    });
    assertEquals(incoming.messages.map(({ code, path }) => [code, path]), [
      ["reformatted", `${RESTRICTION}/StartDate`],
    ]);
    assertEquals(/StartDate = 20260301/.test(textsOf(sent)), true);
  });

  await t.step(
    "a supply that has lost all its prices is unpriced",
    async () => {
      const { sent } = await readOf({
        rest: supply(price("<CurrencyCode>EURO</CurrencyCode>")),
      });
      assertEquals(/UnpricedItemType[^]*04/.test(textsOf(sent)), true);
    },
  );
});
