import { assertEquals } from "@std/assert";
import type { Element } from "../../features/onix/schema/xml/element.ts";
import { least, xml } from "./records.ts";
import { imported, leavesOf, message, notSentOf, recordsOf, writeRecord } from "./support.ts";

/*
 * Never more than the sender said: what loses a part that limits it is kept in the record
 * alone. Each case names the part that cannot be read, and what must not be said without it.
 */

interface Case {
  name: string;
  /** What stands in the first block, and after it, in the short form of `xml`. */
  detail?: string;
  rest?: string;
  /** The code and the path of the one warning, from the first block or the record on. */
  says: string;
  /** What neither JSON nor a message may have. */
  gone: RegExp;
  /** What both have beside it. */
  stays?: RegExp;
}

type Row = [name: string, says: string, form: string];

const SUPPLIER = "Supplier(SupplierRole=01 SupplierName=S) ProductAvailability=20";
const PRICE = "Price(PriceType=02 PriceAmount=12.34 CurrencyCode=GBP)";
const SUPPLY = `SupplyDetail(${SUPPLIER} ${PRICE})`;

/** A price that lacks a part goes alone; the other one stays. */
// deno-fmt-ignore
const PRICES: Row[] = [
  ["a condition of an unknown unit", "invalid_code PriceCondition/PriceConditionQuantity/QuantityUnit",
    "PriceCondition(PriceConditionType=06 PriceConditionQuantity(PriceConditionQuantityType=01 Quantity=10 QuantityUnit=98))"],
  ["a condition without its number", "required PriceCondition/PriceConditionQuantity/Quantity",
    "PriceCondition(PriceConditionType=06 PriceConditionQuantity(PriceConditionQuantityType=01 QuantityUnit=00))"],
  ["a condition without its type", "required PriceCondition/PriceConditionType",
    "PriceCondition(ProductIdentifier(ProductIDType=15 IDValue=9780306406157))"],
  ["a condition to buy what cannot be told", "invalid_code PriceCondition/ProductIdentifier/ProductIDType",
    "PriceCondition(PriceConditionType=06 ProductIdentifier(ProductIDType=98 IDValue=9780306406157))"],
  ["a constraint of an unknown unit", "invalid_code PriceConstraint/PriceConstraintLimit/PriceConstraintUnit",
    "PriceConstraint(PriceConstraintType=00 PriceConstraintStatus=02 PriceConstraintLimit(Quantity=10 PriceConstraintUnit=77))"],
  ["a constraint without its status", "required PriceConstraint/PriceConstraintStatus", "PriceConstraint(PriceConstraintType=00)"],
  ["a constraint of another composite", "unknown_element EpubUsageConstraint", "EpubUsageConstraint(EpubUsageType=02 EpubUsageStatus=03)"],
  ["a license without a name", "required EpubLicense/EpubLicenseName",
    "EpubLicense(EpubLicenseExpression(EpubLicenseExpressionType=02 EpubLicenseExpressionLink=https://terms.example))"],
  ["an unknown protection", "invalid_code EpubTechnicalProtection", "EpubTechnicalProtection=98"],
  ["an unknown unit of pricing", "invalid_code PricePer", "PricePer=98"],
  ["an unknown status", "invalid_code PriceStatus", "PriceStatus=98"],
  ["an unknown zone of its currency", "invalid_code CurrencyZone", "CurrencyZone=XZX"],
  ["a bonus for fewer than none", "invalid_number BatchBonus/BatchQuantity", "BatchBonus(BatchQuantity=-10 FreeQuantity=1)"],
  ["a misspelled qualifier", "unknown_element PriceQualifer", "PriceQualifer=05"],
  ["a currency under another name", "unknown_element Currency", "Currency=EUR"],
  ["an element of a later revision", "unknown_element PriceScope", "PriceScope=02"],
  ["a flag of a later revision", "unknown_element NotToLibraries", "NotToLibraries()"],
  ["a tag that says nothing", "unknown_element x599", "x599=02"],
  ["an element of a later revision in its territory", "unknown_element Territory/PostcodesExcluded",
    "Territory(CountriesIncluded=GB PostcodesExcluded=BT)"],
  ["two territories", "duplicate Territory[2]", "Territory(CountriesIncluded=GB) Territory(CountriesIncluded=IE)"],
  ["two first days", "duplicate PriceDate[2]", "PriceDate(PriceDateRole=14 Date=20260101) PriceDate(PriceDateRole=14 Date=20270101)"],
  ["a time without a date", "required PriceDate/Date", "PriceDate(PriceDateRole=15)"],
  ["the last day of ONIX 2.1", "onix21_element PriceEffectiveUntil", "PriceEffectiveUntil=20261231"],
  ["the country of ONIX 2.1", "unknown_element CountryCode", "CountryCode=GB"],
  ["a territory that says nothing", "required Territory/CountriesIncluded", "Territory(CountriesIncluded())"],
  ["a territory that is a text", "required Territory/CountriesIncluded", "Territory=GB"],
  ["an unknown country that is excluded", "invalid_code Territory/CountriesExcluded",
    'Territory(RegionsIncluded=WORLD CountriesExcluded="US XZ")'],
  ["an unknown region", "invalid_code Territory/RegionsIncluded", "Territory(RegionsIncluded=XX-9)"],
  ["an element in its territory that ONIX lacks", "unknown_element Territory/CountryNotIncluded",
    "Territory(RegionsIncluded=WORLD CountryNotIncluded=GB)"],
  ["no currency", "required CurrencyCode", "PriceStatus=02"],
  ["an unknown currency", "invalid_code CurrencyCode", "CurrencyCode=EURO"],
  ["an unknown type", "invalid_code PriceType", "PriceType=98"],
  ["an unknown qualifier", "invalid_code PriceQualifier", "PriceQualifier=98"],
  ["an unknown condition", "invalid_code PriceCondition/PriceConditionType", "PriceCondition(PriceConditionType=98)"],
  ["a minimum order that is no number", "invalid_number MinimumOrderQuantity", "MinimumOrderQuantity=ten"],
  ["a last day that is a month", "imprecise_date PriceDate/Date", "PriceDate(PriceDateRole=15 Date[dateformat=01]=202612)"],
  ["a first day that is a span", "invalid_date PriceDate/Date", "PriceDate(PriceDateRole=14 Date[dateformat=06]=2026010120260331)"],
  ["a day that no month has", "invalid_date PriceDate/Date", "PriceDate(PriceDateRole=15 Date=20260231)"],
  ["a date of another calendar", "other_calendar PriceDate/Date", "PriceDate(PriceDateRole=15 Date[dateformat=20]=14470920)"],
  ["a date of an unknown role", "invalid_code PriceDate/PriceDateRole", "PriceDate(PriceDateRole=98 Date=20260301)"],
];

/** Rights go together: these are of one territory, with what else is in them. */
// deno-fmt-ignore
const RIGHTS: Row[] = [
  ["a restriction that says nothing", "required SalesRestriction/SalesRestrictionType", "SalesRestriction()"],
  ["a restriction from no day on", "invalid_date SalesRestriction/StartDate",
    "SalesRestriction(SalesRestrictionType=04 StartDate=2026-13-45)"],
  ["a restriction until no day", "invalid_date SalesRestriction/EndDate", "SalesRestriction(SalesRestrictionType=04 EndDate=soon)"],
  ["a restriction to an outlet that cannot be told", "invalid_code SalesRestriction/SalesOutlet/SalesOutletIdentifier/SalesOutletIDType",
    "SalesRestriction(SalesRestrictionType=04 SalesOutlet(SalesOutletIdentifier(SalesOutletIDType=98 IDValue=Q)))"],
  ["a restriction without its type", "required SalesRestriction/SalesRestrictionType",
    "SalesRestriction(SalesOutlet(SalesOutletName=Quay))"],
  ["rights in two territories", "duplicate Territory[2]", "Territory(CountriesIncluded=CA)"],
  ["rights of two types", "duplicate SalesRightsType[2]", "SalesRightsType=03"],
  ["rights with an element of a later revision", "unknown_element ChannelsExcluded", "ChannelsExcluded=02"],
];

/** Rights go together, whatever is wrong in their block. */
// deno-fmt-ignore
const BLOCKS_OF_RIGHTS: Row[] = [
  ["of which one has no territory", "required PublishingDetail/SalesRights[2]/Territory",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesIncluded=AT)) SalesRights(SalesRightsType=03))"],
  ["of which one has no type", "required PublishingDetail/SalesRights[2]/SalesRightsType",
    "PublishingDetail(SalesRights(SalesRightsType=03 Territory(CountriesIncluded=AT)) SalesRights(Territory(RegionsIncluded=WORLD)))"],
  ["with two for the rest of the world", "duplicate PublishingDetail/ROWSalesRightsType[2]",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesIncluded=AT)) ROWSalesRightsType=01 ROWSalesRightsType=03)"],
  ["with a misspelled rest of the world", "unknown_element PublishingDetail/RowSalesRightsType",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesIncluded=AT)) RowSalesRightsType=03)"],
  ["in two blocks", "duplicate PublishingDetail[2]",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(RegionsIncluded=WORLD))) PublishingDetail(SalesRights(SalesRightsType=03 Territory(CountriesIncluded=AT)))"],
  ["with what ONIX 2.1 does not sell", "onix21_element PublishingDetail/NotForSale",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(RegionsIncluded=WORLD)) NotForSale(Where=AT))"],
  ["with included and excluded countries", "unexpected_element PublishingDetail/SalesRights/Territory/CountriesExcluded",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesIncluded=AT CountriesExcluded=CH)))"],
  ["with one country beside the world", "unknown_element PublishingDetail/SalesRights/Territory/CountryCode",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(RegionsIncluded=WORLD CountryCode=AT)))"],
  ["with an exclusion alone", "required PublishingDetail/SalesRights/Territory/CountriesIncluded",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesExcluded=AT)))"],
  ["with the rest of the world, which is no region since ONIX 3.0", "invalid_code PublishingDetail/SalesRights/Territory/RegionsIncluded",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(RegionsIncluded=ROW)))"],
  ["with a region on both sides", "contradictory PublishingDetail/SalesRights/Territory/RegionsExcluded",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(RegionsIncluded=WORLD RegionsExcluded=WORLD)))"],
  ["with countries in two elements", "duplicate PublishingDetail/SalesRights/Territory/CountriesIncluded[2]",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesIncluded=AT CountriesIncluded=CH)))"],
  ["of which one has an unknown country", "invalid_code PublishingDetail/SalesRights[2]/Territory/CountriesIncluded",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesIncluded=AT)) SalesRights(SalesRightsType=02 Territory(CountriesIncluded=XZ)) ROWSalesRightsType=03)"],
  ["whose rest of the world is unknown", "invalid_code PublishingDetail/ROWSalesRightsType",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesIncluded=AT)) ROWSalesRightsType=98)"],
  ["with an unknown restriction beside them", "invalid_code PublishingDetail/SalesRestriction/SalesRestrictionType",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(RegionsIncluded=WORLD)) SalesRestriction(SalesRestrictionType=98))"],
  ["of which some say nothing", "required PublishingDetail/SalesRights[2]/SalesRightsType",
    "PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesIncluded=AT)) SalesRights())"],
];

/** An entry of the first block goes alone. */
// deno-fmt-ignore
const DETAILS: Row[] = [
  ["a range with an unknown end", "invalid_code AudienceRange/AudienceRangePrecision[2]",
    "AudienceRange(AudienceRangeQualifier=17 AudienceRangePrecision=03 AudienceRangeValue=9 AudienceRangePrecision=98 AudienceRangeValue=12)"],
  ["a range with an unknown beginning", "invalid_code AudienceRange/AudienceRangePrecision[1]",
    "AudienceRange(AudienceRangeQualifier=17 AudienceRangePrecision=98 AudienceRangeValue=9 AudienceRangePrecision=04 AudienceRangeValue=12)"],
  ["a range without its second value", "unexpected_element AudienceRange/AudienceRangePrecision[2]",
    "AudienceRange(AudienceRangeQualifier=17 AudienceRangePrecision=03 AudienceRangeValue=9 AudienceRangePrecision=04)"],
  ["a use that is limited to no number", "invalid_number EpubUsageConstraint/EpubUsageLimit/Quantity",
    "EpubUsageConstraint(EpubUsageType=02 EpubUsageStatus=02 EpubUsageLimit(Quantity=ten EpubUsageUnit=02))"],
  ["a use of unknown status", "invalid_code EpubUsageConstraint/EpubUsageStatus",
    "EpubUsageConstraint(EpubUsageType=02 EpubUsageStatus=98)"],
  ["a license until no day", "invalid_date EpubLicense/EpubLicenseDate/Date",
    "EpubLicense(EpubLicenseName=Open EpubLicenseDate(EpubLicenseDateRole=15 Date=20261399))"],
  ["a share of more than all", "invalid_number ProductClassification/Percent",
    "ProductClassification(ProductClassificationType=01 ProductClassificationCode=4901 Percent=150)"],
];

/** An entry of collateral goes alone. */
// deno-fmt-ignore
const COLLATERAL: Row[] = [
  ["a text for two territories", "duplicate TextContent/Territory[2]",
    "TextContent(TextType=03 ContentAudience=00 Territory(CountriesIncluded=GB) Territory(CountriesIncluded=IE) Text=Secret)"],
  ["a text for an audience under another name", "unknown_element TextContent/ContentAudiences",
    "TextContent(TextType=03 ContentAudience=00 Text=Secret ContentAudiences=03)"],
  ["a text for an unknown country", "invalid_code TextContent/Territory/CountriesIncluded",
    "TextContent(TextType=03 ContentAudience=00 Territory(CountriesIncluded=XZ) Text=Secret)"],
  ["a text from no day on", "invalid_date TextContent/ContentDate/Date",
    "TextContent(TextType=03 ContentAudience=00 Text=Secret ContentDate(ContentDateRole=14 Date=20261345))"],
  ["a text with a date of an unknown role", "invalid_code TextContent/ContentDate/ContentDateRole",
    "TextContent(TextType=03 ContentAudience=00 Text=Secret ContentDate(ContentDateRole=98 Date=20261231))"],
  ["a text of an unknown type", "invalid_code TextContent/TextType", "TextContent(TextType=98 ContentAudience=00 Text=Secret)"],
  ["a use of a text that is limited to no number", "invalid_number TextContent/EpubUsageConstraint/EpubUsageLimit/Quantity",
    "TextContent(TextType=03 ContentAudience=00 Text=Secret EpubUsageConstraint(EpubUsageType=02 EpubUsageStatus=02 EpubUsageLimit(Quantity=ten EpubUsageUnit=02)))"],
  ["a citation until no day", "invalid_date CitedContent/ContentDate/Date",
    "CitedContent(CitedContentType=01 ContentAudience=00 SourceTitle=Secret ContentDate(ContentDateRole=15 Date=31.12.2026))"],
  ["a citation of an unknown type", "invalid_code CitedContent/CitedContentType",
    "CitedContent(CitedContentType=98 ContentAudience=00 SourceTitle=Secret)"],
  ["a file from no day on", "invalid_date SupportingResource/ResourceVersion/ContentDate/Date",
    "SupportingResource(ResourceContentType=02 ContentAudience=00 ResourceMode=03 ResourceVersion(ResourceForm=01 ResourceLink=https://secret.example/x.jpg ContentDate(ContentDateRole=27 Date=tomorrow)))"],
  ["a prize of unknown rank", "invalid_code Prize/PrizeCode", "Prize(PrizeName=Secret PrizeCode=98)"],
];

// deno-fmt-ignore
const OTHERS: [...Row, gone: RegExp, stays?: RegExp][] = [
  ["a market restricted until no day", "invalid_date ProductSupply/Market/SalesRestriction/EndDate",
    `ProductSupply(Market(Territory(RegionsIncluded=WORLD) SalesRestriction(SalesRestrictionType=04 EndDate=never)) ${SUPPLY})`,
    /12\.34|WORLD/],
  ["a market without a territory", "required ProductSupply/Market/Territory",
    `ProductSupply(Market(SalesRestriction(SalesRestrictionType=04)) ${SUPPLY})`, /12\.34/],
  ['a market that says nothing, with ""', "required ProductSupply/Market/Territory", `ProductSupply(Market() ${SUPPLY})`, /12\.34/],
  ['a market that says nothing, with "<Territory/>"', "required ProductSupply/Market/Territory/CountriesIncluded",
    `ProductSupply(Market(Territory()) ${SUPPLY})`, /12\.34/],
  ["a tax with an unknown type", "invalid_code ProductSupply/SupplyDetail/Price/Tax/TaxType",
    `ProductSupply(SupplyDetail(${SUPPLIER} Price(PriceType=02 PriceAmount=12.34 Tax(TaxType=98 TaxRatePercent=7.7) CurrencyCode=GBP)))`,
    /7\.7/, /12\.34/],
  ["a tax with an unknown amount", "invalid_number ProductSupply/SupplyDetail/Price/Tax/TaxableAmount",
    `ProductSupply(SupplyDetail(${SUPPLIER} Price(PriceType=02 PriceAmount=12.34 Tax(TaxableAmount=some TaxRatePercent=7.7) CurrencyCode=GBP)))`,
    /7\.7/, /12\.34/],
  ["a supply of at least no number", "invalid_number ProductSupply/SupplyDetail/OrderQuantityMinimum",
    `ProductSupply(SupplyDetail(${SUPPLIER} OrderQuantityMinimum=ten ${PRICE}))`,
    /12\.34/],
  ["a misspelled market", "unknown_element ProductSupply/Markets",
    `ProductSupply(Markets(Territory(RegionsIncluded=WORLD)) ${SUPPLY})`, /12\.34|WORLD/],
  ["a supply to the country of ONIX 2.1", "onix21_element ProductSupply/SupplyDetail/SupplyToCountry",
    `ProductSupply(SupplyDetail(${SUPPLIER} SupplyToCountry=AT ${PRICE}))`,
    /12\.34|SupplierName|supplier_name/],
  ["a stock of unknown proximity", "invalid_code ProductSupply/SupplyDetail/Stock/Proximity",
    `ProductSupply(SupplyDetail(${SUPPLIER} Stock(OnHand=987 Proximity=98) ${PRICE}))`,
    /987/, /12\.34/],
  ["a discount from fewer than none on", "invalid_number ProductSupply/SupplyDetail/Price/Discount/Quantity",
    `ProductSupply(SupplyDetail(${SUPPLIER} Price(PriceType=02 Discount(Quantity=-100 DiscountPercent=43) PriceAmount=12.34 CurrencyCode=GBP)))`,
    /\b43\b/, /12\.34/],
  ["a rating of an unknown most", "invalid_number CollateralDetail/TextContent/ReviewRating/RatingLimit",
    "CollateralDetail(TextContent(TextType=03 ContentAudience=00 Text=Secret ReviewRating(Rating=4 RatingLimit=x)))", /ReviewRating/,
    /Secret/],
  ["a copyright of an unknown type", "invalid_code PublishingDetail/CopyrightStatement/CopyrightType",
    "PublishingDetail(CopyrightStatement(CopyrightType=98 CopyrightYear=2026))", /CopyrightYear/],
  ["an event for an unknown audience", "invalid_code PromotionDetail/PromotionalEvent/ContentAudience",
    "PromotionDetail(PromotionalEvent(EventType=01 ContentAudience=98 EventName=Launch EventOccurrence(OccurrenceDate(OccurrenceDateRole=01 Date=20260101) EventStatus=A)))",
    /Launch/],
  ["the only market of a supply", "invalid_code ProductSupply/Market/Territory/CountriesIncluded",
    `ProductSupply(Market(Territory(CountriesIncluded=XZ)) ${SUPPLY})`, /12\.34/],
  ["one of two markets", "invalid_code ProductSupply/Market[1]/Territory/CountriesIncluded",
    `ProductSupply(Market(Territory(CountriesIncluded="XZ AT")) Market(Territory(CountriesIncluded=CH)) ${SUPPLY})`, /\bAT\b/,
    /\bCH\b[^]*12\.34/],
  ["a market with an unknown restriction", "invalid_code ProductSupply/Market/SalesRestriction/SalesRestrictionType",
    `ProductSupply(Market(Territory(RegionsIncluded=WORLD) SalesRestriction(SalesRestrictionType=98)) ${SUPPLY})`, /12\.34|WORLD/],
  ["a text for an unknown audience", "invalid_code CollateralDetail/TextContent[1]/ContentAudience[2]",
    'CollateralDetail(TextContent(TextType=03 ContentAudience=03 ContentAudience=98 Text="For librarians") TextContent(TextType=02 ContentAudience=00 Text="For all"))',
    /For librarians/, /For all/],
  ["a resource for an unknown audience", "invalid_code CollateralDetail/SupportingResource/ContentAudience",
    "CollateralDetail(SupportingResource(ResourceContentType=02 ContentAudience=98 ResourceMode=03 ResourceVersion(ResourceForm=01 ResourceLink=https://secret.example/x.jpg)))",
    /secret\.example/],
];

/** Parts of a price with an element of a later revision, which may limit them: they go, and the price stays. */
// deno-fmt-ignore
const PARTS_OF_PRICES: [part: string, form: string][] = [
  ["Discount", "Discount(DiscountPercent=71.3 ZoneKind=7)"],
  ["DiscountCoded", "DiscountCoded(DiscountCodeType=05 DiscountCode=71.3 ZoneKind=7)"],
  ["Tax", "Tax(TaxType=01 TaxRatePercent=71.3 ZoneKind=7)"],
  ["ComparisonProductPrice", "ComparisonProductPrice(ProductIdentifier(ProductIDType=15 IDValue=9780306406157) PriceAmount=71.3 ZoneKind=7)"],
];

const ANY_RIGHTS = /SalesRightsType|sales_rights_type|\b(?:AT|CH|ROW|WORLD)\b/;

const CASES: Case[] = [
  ...PRICES.map(([name, says, form]): Case => ({
    name: `a price with ${name}`,
    rest: `ProductSupply(SupplyDetail(${SUPPLIER} Price(${
      /PriceType=/.test(form) ? "" : "PriceType=02 "
    }${form} PriceAmount=12.34) Price(PriceType=02 PriceAmount=77.7 CurrencyCode=GBP)))`,
    says: says.replace(" ", " ProductSupply/SupplyDetail/Price[1]/"),
    gone: /12\.34/,
    stays: /77\.7/,
  })),
  ...PARTS_OF_PRICES.map(([part, form]): Case => ({
    name: `a part of a price with an element of a later revision: ${part}`,
    rest:
      `ProductSupply(SupplyDetail(${SUPPLIER} Price(PriceType=02 PriceAmount=77.7 CurrencyCode=GBP ${form})))`,
    says: `unknown_element ProductSupply/SupplyDetail/Price/${part}/ZoneKind`,
    gone: /71\.3/,
    stays: /77\.7/,
  })),
  ...RIGHTS.map(([name, says, form]): Case => ({
    name,
    rest:
      `PublishingDetail(SalesRights(SalesRightsType=01 Territory(CountriesIncluded=AT) ${form}))`,
    says: says.replace(" ", " PublishingDetail/SalesRights/"),
    gone: ANY_RIGHTS,
  })),
  ...BLOCKS_OF_RIGHTS.map(([name, says, form]): Case => ({
    name: `rights ${name}`,
    rest: form,
    says,
    gone: ANY_RIGHTS,
  })),
  ...DETAILS.map(([name, says, detail]): Case => ({
    name,
    detail,
    says: says.replace(" ", " DescriptiveDetail/"),
    gone: new RegExp(`${detail.split("(")[0]}|audience_range_`),
  })),
  ...COLLATERAL.map(([name, says, form]): Case => ({
    name,
    rest: `CollateralDetail(${form})`,
    says: says.replace(" ", " CollateralDetail/"),
    gone: /secret/i,
  })),
  ...OTHERS.map(([name, says, rest, gone, stays]): Case => ({
    name,
    rest,
    says,
    gone,
    ...stays && { stays },
  })),
];

async function readOf(parts: Pick<Case, "rest" | "detail">) {
  const { detail = "", rest = "" } = parts;
  const { header, records: [record] } = await recordsOf(
    message(least("1", { detail: xml(detail), rest: xml(rest) })),
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
        [says.replace(" ", " /Product/")],
      );
      const json = JSON.stringify(incoming.values);
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
      rest: `PublishingDetail(SalesRights(SalesRightsType=01
        Territory(RegionsIncluded=WORLD) SalesRestriction(SalesRestrictionType=04
          SalesOutlet(SalesOutletIdentifier(SalesOutletIDType=98 IDValue=Q) SalesOutletName=Quay))
        ProductIdentifier(ProductIDType=98 IDValue=1) PublisherName=Other RightsHolderNameInverted="Roe, J."))
        CollateralDetail(TextContent(TextType=03 ContentAudience=00 Text=Secret
          ContentDate(ContentDateRole=17 Date=someday)))`,
    });
    assertEquals(incoming.messages, []);
    assertEquals(incoming.values.product_sales_rights.length, 1);
    const texts = textsOf(sent);
    for (const said of [/WORLD/, /Quay/, /Other/, /Secret/]) {
      assertEquals(said.test(texts), true, texts);
    }
  });

  await t.step("parts in another order are whole", async () => {
    const { incoming, sent } = await readOf({
      rest:
        "PublishingDetail(SalesRights(SalesRightsType=01 Territory(RegionsExcluded=GB-SCT CountriesIncluded=GB)))",
    });
    assertEquals(incoming.messages, []);
    assertEquals(incoming.values.product_sales_rights.length, 1);
    assertEquals(/RegionsExcluded = GB-SCT/.test(textsOf(sent)), true);
  });

  await t.step("rights of which one is refused are none", async () => {
    const { incoming } = await readOf({
      rest: `PublishingDetail(
        SalesRights(SalesRightsType=01 Territory(RegionsIncluded=WORLD))
        SalesRights(SalesRightsType=03 Territory(CountriesIncluded=AT)
          PublisherName=${"p".repeat(100_001)}))`,
    });
    assertEquals(incoming.messages.map(({ code, path }) => [code, path]), [
      ["too_long", "/Product/PublishingDetail/SalesRights[2]/PublisherName"],
    ]);
    assertEquals(incoming.values.product_sales_rights, undefined);
  });

  await t.step("a restriction from a day in another form", async () => {
    const { incoming, sent } = await readOf({
      rest:
        "PublishingDetail(SalesRights(SalesRightsType=01 Territory(RegionsIncluded=WORLD) SalesRestriction(SalesRestrictionType=04 StartDate=2026-03-01)))",
    });
    assertEquals(incoming.messages.map(({ code, path }) => [code, path]), [
      [
        "reformatted",
        "/Product/PublishingDetail/SalesRights/SalesRestriction/StartDate",
      ],
    ]);
    assertEquals(/StartDate = 20260301/.test(textsOf(sent)), true);
  });

  await t.step(
    "a supply that has lost all its prices is unpriced",
    async () => {
      const { sent } = await readOf({
        rest: `ProductSupply(SupplyDetail(${SUPPLIER} Price(CurrencyCode=EURO PriceAmount=1)))`,
      });
      assertEquals(/UnpricedItemType[^]*04/.test(textsOf(sent)), true);
    },
  );
});
