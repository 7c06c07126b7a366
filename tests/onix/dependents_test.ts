import { assertEquals, assertMatch } from "@std/assert";
import { elementOf, type Field, type Fields } from "../../schema/fields.ts";
import { RECORDS } from "../../schema/records.ts";
import { ARRAYS, FIELDS } from "../../schema/product.ts";
import { segmentsOf } from "../../features/onix/schema/codecs/path.ts";
import { COLLATERAL_TYPES } from "../../features/onix/schema/mapping/collateral.ts";
import { MAPPED_FIELDS } from "../../features/onix/schema/mapping/mapping.ts";
import { DEPENDENTS, INDEPENDENT } from "../../features/onix/schema/rules/dependents.ts";
import { childNames, isPartOf } from "../../features/onix/schema/rules/facts.ts";
import { RELEASES } from "../../features/onix/schema/rules/releases.ts";
import { least, xml } from "./records.ts";
import { imported, message, recordsOf, writeRecord, written } from "./support.ts";

/*
 * What says a changed value again goes with it. Every element around a field is one of three: a
 * field itself, which JSON shows, a dependent of one, or independent of all. So an element that a
 * later revision adds must be judged.
 */

/** The elements that fields hold, by composite. */
function elementsOfFields(): Map<string, Set<string>> {
  const held = new Map<string, Set<string>>();
  const hold = (composite: string, ...names: string[]) =>
    names.forEach((name) => held.getOrInsertComputed(composite, () => new Set()).add(name));

  function holdPath(composite: string, path: string): string {
    let at = composite;
    for (const { name, codes } of segmentsOf(path)) {
      if (name.startsWith("@")) break;
      hold(at, name);
      if (codes.length > 0) hold(name, ...codes.map(([child]) => child));
      at = name;
    }
    return at;
  }

  function holdFields(composite: string, fields: Fields): void {
    for (const [name, field] of Object.entries(fields)) {
      const path = elementOf(name, field);
      if (path !== null && isElement(field)) holdField(composite, path, field);
    }
  }

  function holdField(composite: string, path: string, field: Field): void {
    const at = holdPath(composite, path);
    if ("fields" in field) holdFields(at, field.fields);
  }

  const isElement = ({ kind }: Field) => kind !== "shown" && kind !== "derived";

  for (const [name, { block, path }] of MAPPED_FIELDS) {
    const collateral = ARRAYS.collateral.types![name];
    const field = collateral ? { kind: "rows", fields: collateral.fields } : FIELDS[name];
    const container = block ?? "Product";
    if (block) hold("Product", block);
    const own = block === "ProductSupply" ? "Product" : container;
    if (field && path !== "Contributor") holdField(own, path, field as Field);
    else holdPath(own, path);
  }
  holdFields("Contributor", RECORDS.contributors.fields);
  // Codecs that no path describes.
  const words = (text: string) => text.split(" ");
  hold(
    "Contributor",
    ...words(
      "SequenceNumber ContributorRole FromLanguage ToLanguage PersonName PersonNameInverted",
    ),
  );
  hold(
    "Contributor",
    ...words(
      "NamesBeforeKey PrefixToKey KeyNames NamesAfterKey SuffixToKey CorporateName CorporateNameInverted",
    ),
  );
  hold(
    "Contributor",
    ...words("NameIdentifier TitlesBeforeNames LettersAfterNames TitlesAfterNames"),
  );
  hold("Collection", ...words("CollectionType TitleDetail CollectionSequence"));
  hold("CollectionSequence", ...words("CollectionSequenceType CollectionSequenceNumber"));
  hold("TitleDetail", ...words("TitleType TitleElement TitleStatement"));
  hold(
    "TitleElement",
    ...words(
      "SequenceNumber TitleElementLevel PartNumber YearOfAnnual TitlePrefix NoPrefix TitleWithoutPrefix TitleText Subtitle",
    ),
  );
  hold("AudienceRange", "AudienceRangePrecision");
  hold("DescriptiveDetail", "AudienceCode");
  hold("PublishingDetail", "ROWSalesRightsType");
  hold("TextContent", "TextSource");
  for (const type of ["Imprint", "Publisher", "Supplier"]) hold(type, `${type}Identifier`);
  for (const type of COLLATERAL_TYPES) {
    hold(ARRAYS.collateral.types![type]!.element, "SequenceNumber");
  }
  hold("SupportingResource", "SequenceNumber");
  for (const dated of ["PriceDate", "ContentDate", "MarketDate", "PublishingDate", "SupplyDate"]) {
    hold(dated, "DateFormat");
  }
  return held;
}

// deno-lint-ignore no-explicit-any
type Any = any;

const SUPPLY = (price: string, more = "") =>
  `ProductSupply(SupplyDetail(Supplier(SupplierRole=01 SupplierName=Quay) ProductAvailability=20 ${more} ${price}))`;
const WORLD = "SalesRightsType=01 Territory(RegionsIncluded=WORLD)";
const COVER = (...features: string[]) =>
  `CollateralDetail(SupportingResource(ResourceContentType=01 ContentAudience=00 ResourceMode=03 ResourceVersion(ResourceForm=02 ${
    features.join(" ")
  } ResourceLink=https://a.example/1.jpg ContentDate(ContentDateRole=17 Date=20010203) ContentDate(ContentDateRole=14 Date=20260101))))`;
const LANGUAGES = (name: string) => `${name}[language=eng]=Old ${name}[language=ger]=Oldish`;

/** Records, an edit of their product, what then is sent, and what is not. */
// deno-fmt-ignore
const CASES: [what: string, parts: { detail?: string; rest?: string }, edit: (product: Any) => void, sent: RegExp, gone: RegExp][] = [
  ["a title with other forms", { detail: "TitleDetail(TitleType=13 TitleElement(TitleElementLevel=01 TitleText=Oldest)) TitleDetail(TitleType=08 TitleElement(TitleElementLevel=01 TitleText=Before))" },
    (product) => product.title = "Persuasion", /Persuasion[^]*Before/, /Oldest/],
  ["the country of a prize", { rest: "CollateralDetail(Prize(PrizeName=Anchor PrizeCountry=GB PrizeRegion=GB-SCT))" },
    (product) => product.collateral[0].prize_country = "IE", /Anchor/, /GB-SCT/],
  ["a prize of a body", { rest: "CollateralDetail(Prize(PrizeName=Anchor AwardingBody=Oldies))" },
    (product) => product.collateral[0].prize_name = "Buoy", /Buoy/, /Oldies/],
  ["a jury in two languages", { rest: `CollateralDetail(Prize(PrizeName=Anchor ${LANGUAGES("PrizeJury")}))` },
    (product) => product.collateral[0].prize_jury = "New", /New/, /Old/],
  ["a text in two languages", { rest: `CollateralDetail(TextContent(TextType=03 ContentAudience=00 ${LANGUAGES("Text")} ContentDate(ContentDateRole=17 Date=20010203)))` },
    (product) => product.collateral[0].text = "New", /New/, /Old|20010203/],
  ["a publication with a day", { rest: "CollateralDetail(TextContent(TextType=06 ContentAudience=00 Text=T SourceTitle=Old ContentDate(ContentDateRole=01 Date=20010203) ContentDate(ContentDateRole=14 Date=20260101)))" },
    (product) => product.collateral[0].source_title = "New", /New[^]*20260101/, /Old|20010203/],
  ["the publisher of a right", { rest: `PublishingDetail(SalesRights(${WORLD} ProductIdentifier(ProductIDType=01 IDTypeName=Old IDValue=1) PublisherName=Old))` },
    (product) => product.product_sales_rights[0].publisher_name = "New", /New/, /Old/],
  ["a publisher in two languages", { rest: `PublishingDetail(Publisher(PublishingRole=01 ${LANGUAGES("PublisherName")} Website(WebsiteLink=https://harbour.example)))` },
    (product) => product.publisher_name = "New", /New/, /Old/],
  ["a city in two languages", { rest: `PublishingDetail(${LANGUAGES("CityOfPublication")})` },
    (product) => product.city_of_publication = "New", /New/, /Old/],
  ["a price that is printed", { rest: SUPPLY("Price(PriceType=02 PriceAmount=9.99 CurrencyCode=GBP Discount(DiscountPercent=40 DiscountAmount=4) PrintedOnProduct=02 PositionOnProduct=01)") },
    (product) => product.product_territories[0].supply_details[0].prices[0].price_amount = 8, /DiscountPercent>40/, /DiscountAmount|OnProduct/],
  ["a supplier that is another's", { rest: SUPPLY("Price(PriceType=02 PriceAmount=9.99 CurrencyCode=GBP)", "NewSupplier(SupplierName=Old)") },
    (product) => product.product_territories[0].supply_details[0].product_availability = "40", /ProductAvailability>40/, /Old/],
  ["the audience", { detail: 'Audience(AudienceCodeType=01 AudienceCodeValue=01) AudienceDescription="Old words"' },
    (product) => product.audiences[0].audience_code_value = "02", /AudienceCodeValue>02/, /Old/],
  ["the ages", { detail: 'AudienceRange(AudienceRangeQualifier=17 AudienceRangePrecision=03 AudienceRangeValue=9) AudienceDescription="Old words"' },
    (product) => product.audience_ranges[0].audience_range_from = "12", />12</, /Old/],
  ["a language of a region", { detail: "Language(LanguageRole=01 LanguageCode=eng CountryCode=GB RegionCode=GB-SCT)" },
    (product) => product.languages[0].country_code = "IE", /IE/, /GB-SCT/],
  ["a heading in two languages", { detail: `Subject(SubjectSchemeIdentifier=93 SubjectCode=FBA ${LANGUAGES("SubjectHeadingText")})` },
    (product) => product.subjects[0].subject_heading_text = "New", /New/, /Old/],
  ["the qualifier of a price", { rest: SUPPLY('Price(PriceType=02 PriceQualifier=05 PriceTypeDescription="For readers" PriceAmount=9.99 CurrencyCode=GBP)') },
    (product) => product.product_territories[0].supply_details[0].prices[0].price_qualifier = "06", /PriceQualifier>06/, /For readers/],
  ["the day of publication, and the same in words", { rest: "PublishingDetail(PublishingDate(PublishingDateRole=01 Date=20270301) PublishingDate(PublishingDateRole=01 Date[dateformat=12]=Oldish) PublishingDate(PublishingDateRole=02 Date=20270101))" },
    (product) => product.publication_date = "2027-09-01", /20270901[^]*20270101/, /Oldish/],
  ["a month of publication in place of the day", { rest: "PublishingDetail(PublishingDate(PublishingDateRole=01 Date=20270301))" },
    (product) => Object.assign(product, { publication_date: null, publishing_dates: [{ publishing_date_role: "01", date: "2027-04" }] }), />202704</, /20270301/],
  ["no day of publication", { rest: "PublishingDetail(PublishingDate(PublishingDateRole=01 Date=20270301) PublishingDate(PublishingDateRole=02 Date=20270101))" },
    (product) => product.publication_date = null, /20270101/, /20270301/],
  ["another date, and the same in words", { rest: "PublishingDetail(PublishingDate(PublishingDateRole=02 Date=20270301) PublishingDate(PublishingDateRole=02 Date[dateformat=12]=Oldish) PublishingDate(PublishingDateRole=01 Date=20270101))" },
    (product) => product.publishing_dates[0].date = "2027-09-01", /20270901[^]*20270101/, /Oldish/],
  ["no such date any more", { rest: "PublishingDetail(PublishingDate(PublishingDateRole=02 Date=20270301) PublishingDate(PublishingDateRole=02 Date[dateformat=12]=Oldish) PublishingDate(PublishingDateRole=01 Date=20270101))" },
    (product) => product.publishing_dates = [], /20270101/, /20270301|Oldish/],
  ["a date of a market", { rest: "ProductSupply(MarketPublishingDetail(MarketPublishingStatus=02 MarketDate(MarketDateRole=01 Date=20270301) MarketDate(MarketDateRole=01 Date[dateformat=12]=Oldish)) SupplyDetail(Supplier(SupplierRole=01 SupplierName=Quay) ProductAvailability=20 UnpricedItemType=04))" },
    (product) => product.product_territories[0].market_publishing_detail.market_dates[0].date = "2027-09-01", /20270901/, /Oldish/],
  ["no edition", { detail: "NoEdition()" }, (product) => product.edition_number = 2, /EditionNumber>2/, /NoEdition/],
  ["the form of a name, and its titles", { detail: "Contributor(ContributorRole=A01 NameType=01 PersonName=Jane TitlesBeforeNames=Old)" },
    (product) => product.contributors[0].contributor_name = "Jan", /PersonName>Jan</, /Old|NameType/],
  ["a file", { rest: COVER("ResourceVersionFeature(ResourceVersionFeatureType=01 FeatureValue=D502)") },
    (product) => product.supporting_resources[0].resource_versions[0].resource_links = ["https://a.example/2.jpg"], /D502[^]*2\.jpg[^]*20260101/, /20010203/],
  ["where and when a cover comes from", { rest: COVER().replace("ResourceLink=", "ResourceLink[datestamp=19990203]=") },
    (product) => product.cover_image_url = "https://a.example/2.jpg", /2\.jpg/, /19990203|20010203/],
  ["where and when an element comes from", { rest: "PublishingDetail(CityOfPublication[datestamp=20010203]=Kiel)" },
    (product) => product.city_of_publication = "Leith", /Leith/, /20010203/],
];

Deno.test("What says a changed value again, or only holds for it, goes with it", async () => {
  for (const [what, { detail = "", rest = "" }, edit, sent, gone] of CASES) {
    const { header, records: [record] } = await recordsOf(
      message(least("1", { detail: xml(detail), rest: xml(rest) })),
    );
    const { book, received } = imported(record!, header);
    const sentNow = async () => {
      const texts = RELEASES.map((release) =>
        written([writeRecord(book, received, release).record], release)
      );
      return (await Promise.all(texts)).join("");
    };
    assertMatch(await sentNow(), gone, what);
    edit(book.product);
    for (const contributor of Object.values(book.contributors)) {
      contributor.name = (book.product as Any).contributors[0].contributor_name;
    }
    const after = await sentNow();
    assertMatch(after, sent, what);
    assertEquals(gone.exec(after)?.[0], undefined, `${what}: ${after}`);
  }
});

/** What becomes of a collection, and the titles of the product, which repeat its title and number. */
// deno-fmt-ignore
const COLLECTIONS: [what: string, edit: (product: Any) => void, titles: string[]][] = [
  ["has another name", (product) => product.collections[0].name = "Waves", ["Emma", "3 Waves"]],
  ["has another number", (product) => product.product_collections[0].part_number = "4", ["Emma", "4 Tides"]],
  ["has no number", (product) => product.product_collections[0].part_number = null, ["Emma", "Tides"]],
  ["is gone", (product) => product.product_collections = [], ["Emma"]],
  ["is as before", (product) => product.page_count = 7, ["Emma", "3 Tides", "Emma, from Tides"]],
];

Deno.test("The title of a collection in that of the product is that of the collection", async () => {
  const title = (level: string, rest: string) => `TitleElement(TitleElementLevel=${level} ${rest})`;
  const ofCollection = title("02", "PartNumber=3 TitleText=Tides");
  const detail = `Collection(CollectionType=10 TitleDetail(TitleType=01 ${ofCollection})) ` +
    `TitleDetail(TitleType=01 ${
      title("01", "TitleText=Emma")
    } ${ofCollection} TitleStatement="Emma, from Tides")`;
  for (const [what, edit, titles] of COLLECTIONS) {
    const { header, records: [record] } = await recordsOf(
      message(least("1", { title: "", detail: xml(detail) })),
    );
    const { book, received } = imported(record!, header);
    edit(book.product);
    const { record: out } = writeRecord(book, received, "3.1");
    const [own] = out.children.find(({ name }) => name === "DescriptiveDetail")!.children
      .filter(({ name }) => name === "TitleDetail");
    const found = own!.children.filter(({ name }) => name !== "TitleType").map((each) =>
      each.text || each.children.slice(1).map(({ text }) => text).join(" ")
    );
    assertEquals(found, titles, what);
  }
});

const nameOf = (path: string) => path.split(/[[/]/)[0]!;

Deno.test("Every element around a field is a field, a dependent or independent", () => {
  const held = elementsOfFields();
  const unjudged: Record<string, string[]> = {};
  const twice: string[] = [];
  for (const [composite, fields] of held) {
    const dependents = Object.values(DEPENDENTS[composite] ?? {}).flat();
    const independent = INDEPENDENT[composite] ?? [];
    const goes = new Set(dependents.filter((path) => !/[[/]/.test(path)));
    for (const name of new Set(childNames(composite))) {
      const isJudged = fields.has(name) || goes.has(name) || independent.includes(name);
      if (!isJudged) (unjudged[composite] ??= []).push(name);
    }
    twice.push(
      ...independent.filter((name) => fields.has(name) || goes.has(name))
        .map((name) => `${composite}/${name}`),
    );
  }
  assertEquals(unjudged, {});
  assertEquals(twice, []);
});

Deno.test("The table of dependents names elements where they stand", () => {
  const held = elementsOfFields();
  const wrong = Object.entries(DEPENDENTS).flatMap(([composite, rows]) =>
    Object.entries(rows).flatMap(([name, dependents]) => [
      ...isPartOf(name, composite) && held.get(composite)?.has(name)
        ? []
        : [`${composite}/${name}`],
      ...dependents.map(nameOf).filter((each) => !isPartOf(each, composite)),
    ])
  );
  assertEquals(wrong, []);
  const unknown = Object.entries(INDEPENDENT).flatMap(([composite, names]) =>
    names.filter((name) => !held.has(composite) || !isPartOf(name, composite))
      .map((name) => `${composite}/${name}`)
  );
  assertEquals(unknown, []);
});
