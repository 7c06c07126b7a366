/*
 * Elements that depend on a value in the same composite: they repeat it in words, numbers or
 * identifiers, or are true only for it. If a user or another sender changes the value, they are no
 * longer true, so they are not sent. In: a composite, and the element in it whose value changes. Out:
 * the paths of the elements that are removed.
 *
 * For example, `EditionNumber` 2 becomes 3, and `EditionVersionNumber`, which was that of the
 * second edition, is removed.
 *
 * `ContentDate[ContentDateRole=17]` is a composite with this code, `Discount/DiscountAmount` a part
 * of a composite. An element that depends on itself has translations: those in other languages and
 * scripts are removed. Other elements that JSON shows are not listed: they stay as they were written,
 * or JSON clears them (`describes` in `schema/product.ts`).
 */

/** What depends on an element, by the composite in which both stand. */
export const DEPENDENTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  Audience: { AudienceCodeValue: ["AudienceHeadingText"] },
  CitedContent: {
    CitationNote: ["CitationNote"],
    ResourceLink: ["ResourceLink"],
    SourceTitle: ["SourceTitle"],
  },
  Contributor: {
    BiographicalNote: ["BiographicalNote"],
    CorporateName: ["NameType", "CorporateName", "CorporateNameInverted"],
    PersonName: ["NameType"],
  },
  DescriptiveDetail: {
    Audience: ["AudienceDescription"],
    AudienceRange: ["AudienceDescription"],
    Collection: ["NoCollection"],
    Contributor: ["ContributorStatement", "NoContributor"],
    EditionNumber: ["EditionVersionNumber", "NoEdition"],
    EditionStatement: ["EditionStatement", "NoEdition"],
    EditionType: ["NoEdition"],
    ProductFormDescription: ["ProductFormDescription"],
  },
  Extent: { ExtentValue: ["ExtentValueRoman"] },
  Imprint: { ImprintName: ["ImprintNameInverted"] },
  // Regions are parts of their country.
  Language: { CountryCode: ["RegionCode"] },
  MarketPublishingDetail: { MarketPublishingStatus: ["MarketPublishingStatusNote"] },
  Price: {
    // The exemption and the reduction were those of the former price, as was what the book has printed on it.
    CurrencyCode: ["TaxExempt", "Discount/DiscountAmount", "PrintedOnProduct", "PositionOnProduct"],
    PriceAmount: [
      "TaxExempt",
      "PriceCoded",
      "Discount/DiscountAmount",
      "PrintedOnProduct",
      "PositionOnProduct",
    ],
    // It describes both.
    PriceQualifier: ["PriceTypeDescription"],
    PriceType: ["PriceTypeDescription"],
  },
  Prize: {
    PrizeCountry: ["PrizeRegion"],
    PrizeJury: ["PrizeJury"],
    PrizeName: ["PrizeName", "PrizeIdentifier", "AwardingBody"],
    PrizeStatement: ["PrizeStatement"],
  },
  Publisher: { PublisherName: ["PublisherName", "PublisherNameInverted"] },
  PublishingDetail: {
    CityOfPublication: ["CityOfPublication"],
    PublishingStatus: ["PublishingStatusNote"],
  },
  ResourceFeature: { FeatureNote: ["FeatureNote"] },
  // The file has changed since.
  ResourceVersion: { ResourceLink: ["ContentDate[ContentDateRole=17]"] },
  ResourceVersionFeature: { FeatureNote: ["FeatureNote"] },
  SalesRights: {
    // Also the number of the former publisher's product.
    PublisherName: ["PublisherName", "PublisherNameInverted", "ProductIdentifier"],
  },
  Subject: { SubjectHeadingText: ["SubjectHeadingText"] },
  SupplyDetail: { ProductAvailability: ["NewSupplier"] },
  TextContent: {
    // Where the former publication is, who owns it, who wrote for it, and when it had the text.
    SourceTitle: [
      "SourceTitle",
      "TextSourceLink",
      "ContentDate[ContentDateRole=01]",
    ],
    Text: ["Text", "ContentDate[ContentDateRole=17]"],
    // What the former author is, and where their text is.
    TextAuthor: ["TextSourceLink"],
    TextSourceCorporate: ["TextSourceLink"],
    TextSourceDescription: ["TextSourceDescription"],
  },
};

/** The types of titles (List 15) that repeat the title of the product: in another script, short, for a list, in full. */
export const FORMS_OF_TITLE: readonly string[] = ["01", "04", "05", "10", "13"];

/** The roles that `FromLanguage` and `ToLanguage` belong to: translators (List 17). */
export const TRANSLATORS: readonly string[] = ["B06", "B08", "B10", "B32"];

/**
 * The elements that stay true when a field of their composite changes, and that are no fields
 * themselves. A test requires every element of these composites to be a field, a dependent or here.
 */
export const INDEPENDENT: Readonly<Record<string, readonly string[]>> = {
  Audience: ["MainAudience"],
  // Facts of the same entry: the publication, its rating and its list.
  CitedContent: words("Territory SourceType ReviewRating ListName PositionOnList"),
  // A collection that is renamed keeps what it has. Another one has an element of its own.
  Collection: [
    ...words("SourceName CollectionIdentifier CollectionFrequency"),
    ...words("Contributor ContributorStatement NoContributor"),
  ],
  CollectionSequence: ["CollectionSequenceTypeName"],
  // The same person under another name. Another person has an element of their own.
  Contributor: [
    ...words("Gender UnnamedPersons AlternativeName ContributorDate ProfessionalAffiliation Prize"),
    ...words("Website ContributorDescription ContributorPlace"),
  ],
  DescriptiveDetail: [
    ...words("ProductComposition ProductPackaging TradeCategory ProductContentType MapScale"),
    ...words("CountryOfManufacture EpubUsageConstraint EpubLicense ProductClassification"),
    ...words("ProductPart ThesisType ThesisPresentedTo ThesisYear Event Conference ReligiousText"),
    ...words("Illustrated NumberOfIllustrations IllustrationsNote AncillaryContent NameAsSubject"),
    "Complexity",
  ],
  Market: ["SalesRestriction"],
  MarketPublishingDetail: [
    ...words("PublisherRepresentative ProductContact PromotionCampaign PromotionContact"),
    ...words("InitialPrintRun ReprintDetail CopiesSold BookClubAdoption"),
  ],
  NameIdentifier: ["IDTypeName"],
  Price: [
    ...words("PriceIdentifier EpubTechnicalProtection PriceConstraint EpubLicense PricePer"),
    ...words("PriceCondition BatchBonus DiscountCoded Discount UnpricedItemType CurrencyZone"),
    "ComparisonProductPrice",
  ],
  Product: [
    ...words("RecordReference NotificationType DeletionText Barcode"),
    ...words("RecordSourceType RecordSourceIdentifier RecordSourceName"),
    ...words("PromotionDetail ContentDetail ProductionDetail"),
  ],
  // What belongs to another publisher goes with it (`forgetParty`).
  Publisher: ["Funding", "Website"],
  PublishingDetail: [
    ...words("ProductContact LatestReprintNumber CopyrightStatement CopyrightStatementText"),
    "SalesRestriction",
  ],
  RelatedProduct: ["ProductForm", "ProductFormDetail"],
  // Dates of other roles limit the file, or say nothing of it.
  ResourceVersion: ["ContentDate", "EpubUsageConstraint", "EpubLicense"],
  SalesRights: ["SalesRestriction"],
  // A corrected name.
  Supplier: words("TelephoneNumber FaxNumber EmailAddress Website"),
  SupplyDetail: [
    ...words("SupplyContact SupplierOwnCoding ReturnsConditions Stock PalletQuantity"),
    ...words("OrderQuantityMinimum OrderQuantityMultiple Reissue"),
  ],
  SupportingResource: ["Territory"],
  Tax: ["ProductIdentifier", "PricePartDescription"],
  TextContent: words("Territory ReviewRating ContentDate EpubUsageConstraint EpubLicense"),
};

function words(text: string): string[] {
  return text.split(" ");
}
