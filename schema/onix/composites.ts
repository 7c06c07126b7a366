/*
 * The composites of ONIX for Books 3.0 and 3.1: what each contains, in which order and how
 * often. Our own table of facts; EDItEUR's schemas are not part of the service.
 *
 *     Name: A B? C* D+ (E | F) ! C[x] D[@language]
 *
 * `?`, `*`, `+` and `{2}` say how often: up to once, any number, at least once, once or
 * twice. `|` separates alternatives. After `!` stand the constraints: no two `C` have the
 * same child `x` (`.`: the same value; `@language`: the same attribute). `@3.0` or `@3.1`
 * after a name limits it to that release. `Price/EpubLicense` is a license in a price.
 * Where the schemas of the two kinds of tags differ, it is the narrower one.
 */

/** What several composites contain. */
export const GROUPS: Readonly<Record<string, string>> = {
  Parts:
    "TitlesBeforeNames? NamesBeforeKey? PrefixToKey? KeyNames NamesAfterKey? SuffixToKey? LettersAfterNames? TitlesAfterNames?",
  Person: "(PersonName PersonNameInverted? | PersonNameInverted) ({Parts})?",
  Corporate: "CorporateName+ CorporateNameInverted* | CorporateNameInverted+",
  Form:
    "ProductForm ProductFormDetail* ProductFormFeature* ProductPackaging? ProductFormDescription*",
  Contributors: "(Contributor+ ContributorStatement* | NoContributor?)",
  Specification:
    "SpecificationBundleName* SpecificationDetail* SpecificationFeature* SpecificationDescription*",
  File:
    "ResourceIdentifier* ResourceRole? ResourceFileDetail* ResourceFileFeature* ResourceFileDescription* ResourceFileContentDescription* ResourceFileLink+ ResourceFileDate*",
};

export const COMPOSITES = `
AVItem: AVItemType AVItemIdentifier* TimeRun* AVDuration?
AVItemIdentifier: AVItemIDType IDTypeName? IDValue
Addressee: (AddresseeIdentifier+ AddresseeName? | AddresseeName) ContactName? TelephoneNumber? EmailAddress?
AddresseeIdentifier: AddresseeIDType IDTypeName? IDValue
AffiliationIdentifier@3.1: AffiliationIDType IDTypeName? IDValue
AgentIdentifier: AgentIDType IDTypeName? IDValue
AlternativeName@3.0: NameType (NameIdentifier+ ({Person} Gender? | {Parts} Gender? | CorporateName CorporateNameInverted? | CorporateNameInverted)? | {Person} Gender? | {Parts} Gender? | CorporateName CorporateNameInverted? | CorporateNameInverted)
AlternativeName@3.1: NameType (NameIdentifier+ ({Person} | {Parts} | {Corporate})? | {Person} | {Parts} | {Corporate})
AncillaryContent: AncillaryContentType AncillaryContentDescription* Number? ! AncillaryContentDescription[@language]
Audience: MainAudience?@3.1 AudienceCodeType AudienceCodeTypeName? (AudienceCodeValue AudienceHeadingText* | AudienceHeadingText+)
AudienceRange: AudienceRangeQualifier AudienceRangePrecision AudienceRangeValue (AudienceRangePrecision AudienceRangeValue)?
Barcode: BarcodeType PositionOnProduct?
BatchBonus: BatchQuantity FreeQuantity
Bible: BibleContents+ BibleVersion+ StudyBibleType? BiblePurpose* BibleTextOrganization? BibleReferenceLocation? BibleTextFeature*
BodyManifest: {Specification} BodyResource+ ! SpecificationDetail[.] SpecificationDescription[@language]
BodyResource: SequenceNumber? {File} ! ResourceFileDetail[.] ResourceFileLink[.] ResourceFileDate[ResourceFileDateRole]
CitedContent: SequenceNumber?@3.1 CitedContentType ContentAudience* Territory? SourceType? (ReviewRating SourceTitle+ | SourceTitle+ (ListName+ PositionOnList?)? | ListName+ PositionOnList?) CitationNote* ResourceLink* ContentDate* ! SourceTitle[@language] ListName[@language] CitationNote[@language] ContentDate[ContentDateRole]@3.1
CollateralDetail: TextContent* CitedContent* SupportingResource* Prize* ! TextContent[SequenceNumber]@3.1 CitedContent[SequenceNumber]@3.1 SupportingResource[SequenceNumber]@3.1 Prize[SequenceNumber]@3.1
Collection: CollectionType CollectionFrequency?@3.1 SourceName? CollectionIdentifier* CollectionSequence* TitleDetail* {Contributors} ! Contributor[SequenceNumber] ContributorStatement[@language]
CollectionIdentifier: CollectionElementLevel?@3.1 CollectionIDType IDTypeName? IDValue
CollectionSequence: CollectionSequenceType CollectionSequenceTypeName? CollectionSequenceNumber
ComparisonProductPrice: ProductIdentifier+ PriceType? PriceAmount CurrencyCode?
Complexity: ComplexitySchemeIdentifier ComplexityCode
Conference@3.0: ConferenceRole? ConferenceName ConferenceAcronym? ConferenceNumber? ConferenceTheme? ConferenceDate? ConferencePlace? ConferenceSponsor* Website*
ConferenceSponsor@3.0: (ConferenceSponsorIdentifier+ (PersonName | CorporateName)? | PersonName | CorporateName)
ConferenceSponsorIdentifier@3.0: ConferenceSponsorIDType IDTypeName? IDValue
ContentDate: ContentDateRole DateFormat?@3.0 Date
ContentDetail: ContentItem* ! ContentItem[LevelSequenceNumber]
ContentItem@3.0: LevelSequenceNumber? (TextItem | AVItem) (ComponentTypeName ComponentNumber? TitleDetail* | ComponentNumber? TitleDetail+) {Contributors} Language* Subject* NameAsSubject* TextContent* CitedContent* SupportingResource* RelatedWork* RelatedProduct* ! ContributorStatement[@language]
ContentItem@3.1: LevelSequenceNumber? (TextItem | AVItem) EpubUsageConstraint* EpubLicense* (ComponentTypeName ComponentNumber? TitleDetail* | ComponentNumber? TitleDetail+) {Contributors} Language* Subject* NameAsSubject* TextContent* CitedContent* SupportingResource* Publisher* (CopyrightStatement+ CopyrightStatementText*)? RelatedWork* RelatedProduct* ! CopyrightStatementText[@language] ContributorStatement[@language] Contributor[SequenceNumber] EpubLicense/EpubLicenseName[@language] EpubLicense/EpubLicenseDate[EpubLicenseDateRole] TextContent[SequenceNumber] CitedContent[SequenceNumber] SupportingResource[SequenceNumber]
Contributor@3.0: SequenceNumber? ContributorRole+ FromLanguage* ToLanguage* NameType? ((NameIdentifier+ ({Person} Gender? | {Parts} Gender? | CorporateName CorporateNameInverted? | CorporateNameInverted | UnnamedPersons)? | {Person} Gender? | {Parts} Gender? | CorporateName CorporateNameInverted? | CorporateNameInverted | UnnamedPersons) AlternativeName* ContributorDate* ProfessionalAffiliation* Prize* BiographicalNote* Website* ContributorDescription* ContributorPlace* | (ContributorDate+ ProfessionalAffiliation* Prize* BiographicalNote* Website* ContributorDescription* ContributorPlace* | ProfessionalAffiliation+ Prize* BiographicalNote* Website* ContributorDescription* ContributorPlace* | Prize+ BiographicalNote* Website* ContributorDescription* ContributorPlace* | BiographicalNote+ Website* ContributorDescription* ContributorPlace* | Website+ ContributorDescription* ContributorPlace* | ContributorDescription+ ContributorPlace* | ContributorPlace+) UnnamedPersons ContributorPlace*) ! BiographicalNote[@language] ContributorDescription[@language]
Contributor@3.1: SequenceNumber? ContributorRole+ FromLanguage* ToLanguage* NameType? (NameIdentifier+ ({Person} | {Parts} | {Corporate} | UnnamedPersons)? | {Person} | {Parts} | {Corporate} | UnnamedPersons) AlternativeName* ContributorDate* ProfessionalAffiliation* Prize* BiographicalNote* Website* ContributorDescription* ContributorPlace* ! CorporateName[@language] CorporateNameInverted[@language] BiographicalNote[@language] ContributorDescription[@language] ContributorRole[.] ContributorDate[ContributorDateRole] Prize[SequenceNumber]
ContributorDate: ContributorDateRole DateFormat?@3.0 Date
ContributorPlace: ContributorPlaceRelator (CountryCode RegionCode? | RegionCode) LocationName* ! LocationName[@language]
ContributorReference: SequenceNumber? ContributorRole+ NameIdentifier+ ! ContributorRole[.]@3.1
CopyrightOwner: (CopyrightOwnerIdentifier+ (PersonName | CorporateName)? | PersonName | CorporateName)
CopyrightOwnerIdentifier: CopyrightOwnerIDType IDTypeName? IDValue
CopyrightStatement: CopyrightType? (CopyrightYear+ CopyrightOwner* | CopyrightOwner+)
CoverManifest: {Specification} CoverResource+ ! SpecificationDetail[.] SpecificationDescription[@language]
CoverResource: SequenceNumber? SalesOutlet?@3.0 SalesOutlet*@3.1 ({File} | NoResource) ! ResourceFileDetail[.] ResourceFileLink[.] ResourceFileDate[ResourceFileDateRole]
DescriptiveDetail@3.0: ProductComposition {Form} TradeCategory? PrimaryContentType? ProductContentType* Measure* CountryOfManufacture? EpubTechnicalProtection* EpubUsageConstraint* EpubLicense? MapScale* ProductClassification* ProductPart* (Collection+ | NoCollection)? TitleDetail+ (ThesisType ThesisPresentedTo? ThesisYear?)? {Contributors} (Event* | Conference*) (EditionType* (EditionNumber EditionVersionNumber?)? EditionStatement* | NoEdition?) ReligiousText? Language* Extent* Illustrated? NumberOfIllustrations? IllustrationsNote* AncillaryContent* Subject* NameAsSubject* AudienceCode* Audience* AudienceRange* AudienceDescription* Complexity* ! ProductFormDetail[.] ProductFormDescription[@language] PrimaryContentType|ProductContentType[.] Measure[MeasureType,MeasureUnitCode] Contributor[SequenceNumber] ContributorStatement[@language] IllustrationsNote[@language] EditionType[.] EditionStatement[@language] AudienceDescription[@language]
DescriptiveDetail@3.1: ProductComposition {Form} TradeCategory? PrimaryContentType? ProductContentType* Measure* CountryOfManufacture? EpubTechnicalProtection* EpubUsageConstraint* EpubLicense* MapScale* ProductClassification* ProductPart* (Collection+ | NoCollection)? TitleDetail+ (ThesisType ThesisPresentedTo? ThesisYear?)? {Contributors} Event* (EditionType* (EditionNumber EditionVersionNumber?)? EditionStatement* | NoEdition?) ReligiousText? Language* Extent* Illustrated? NumberOfIllustrations? IllustrationsNote* AncillaryContent* Subject* NameAsSubject* Audience* AudienceRange* AudienceDescription* Complexity* ! ProductFormDetail[.] PrimaryContentType|ProductContentType[.] Measure[MeasureType,MeasureUnitCode] Contributor[SequenceNumber] EpubLicense/EpubLicenseDate[EpubLicenseDateRole] EditionType[.] ProductFormDescription[@language] ContributorStatement[@language] IllustrationsNote[@language] EditionStatement[@language] AudienceDescription[@language] EpubLicense/EpubLicenseName[@language]
Discount: DiscountType? (Quantity ToQuantity?)? (DiscountPercent DiscountAmount? | DiscountAmount)
DiscountCoded: DiscountCodeType DiscountCodeTypeName? DiscountCode
EpubLicense: EpubLicenseName+ EpubLicenseExpression* EpubLicenseDate*@3.1 ! EpubLicenseName[@language]@3.0
EpubLicenseDate@3.1: EpubLicenseDateRole Date
EpubLicenseExpression: EpubLicenseExpressionType EpubLicenseExpressionTypeName? EpubLicenseExpressionLink
EpubUsageConstraint: EpubUsageType EpubUsageStatus EpubUsageLimit*
EpubUsageLimit: Quantity EpubUsageUnit
Event: EventRole EventName+ EventAcronym* EventNumber? EventTheme* EventDate? EventPlace* EventSponsor* Website* ! EventName[@language] EventAcronym[@language] EventTheme[@language] EventPlace[@language]
EventIdentifier: EventIDType IDTypeName? IDValue
EventOccurrence@3.0: EventIdentifier* OccurrenceDate+ EventStatus ((CountryCode RegionCode? | RegionCode) LocationName+ VenueName StreetAddress? VenueNote*)? EventDescription* SupportingResource* EventSponsor* Website* ! LocationName[@language] EventDescription[@language] VenueNote[@language]
EventOccurrence@3.1: EventIdentifier* OccurrenceDate+ EventStatus ((CountryCode RegionCode? | RegionCode) LocationName+ VenueName (StreetAddress PostalCode?)? VenueNote*)? EventDescription* SupportingResource* EventSponsor* Website* ! LocationName[@language] EventDescription[@language] VenueNote[@language] OccurrenceDate[OccurrenceDateRole]
EventSponsor: (EventSponsorIdentifier+ (PersonName | CorporateName)? | PersonName | CorporateName)
EventSponsorIdentifier: EventSponsorIDType IDTypeName? IDValue
Extent: ExtentType (ExtentValue ExtentValueRoman? | ExtentValueRoman) ExtentUnit
Funding: FundingIdentifier+
FundingIdentifier: FundingIDType IDTypeName? IDValue
Header: Sender Addressee* MessageNumber? MessageRepeat? SentDateTime MessageNote* DefaultLanguageOfText? DefaultPriceType? DefaultCurrencyCode? ! MessageNote[@language]
Imprint: (ImprintIdentifier+ ImprintName? | ImprintName)
ImprintIdentifier: ImprintIDType IDTypeName? IDValue
InsertManifest: {Specification} InsertPoint InsertResource+ ! SpecificationDetail[.] SpecificationDescription[@language]
InsertPoint: InsertPointType InsertPointValue
InsertResource: SequenceNumber? SalesOutlet?@3.0 SalesOutlet*@3.1 ({File} | NoResource) ! ResourceFileDetail[.] ResourceFileLink[.] ResourceFileDate[ResourceFileDateRole]
Language: LanguageRole LanguageCode CountryCode? RegionCode? ScriptCode?
LocationIdentifier: LocationIDType IDTypeName? IDValue
Market: Territory SalesRestriction*
MarketDate: MarketDateRole DateFormat?@3.0 Date
MarketPublishingDetail: PublisherRepresentative* ProductContact* MarketPublishingStatus MarketPublishingStatusNote* MarketDate* PromotionCampaign* PromotionContact?@3.0 InitialPrintRun* ReprintDetail* CopiesSold* BookClubAdoption* ! MarketPublishingStatusNote[@language] PromotionCampaign[@language] InitialPrintRun[@language] ReprintDetail[@language] CopiesSold[@language] BookClubAdoption[@language] MarketDate[MarketDateRole]@3.1
Measure: MeasureType Measurement MeasureUnitCode
NameAsSubject@3.0: NameType? (NameIdentifier+ ({Person} Gender? | {Parts} Gender? | CorporateName CorporateNameInverted? | CorporateNameInverted)? | {Person} Gender? | {Parts} Gender? | CorporateName CorporateNameInverted? | CorporateNameInverted) AlternativeName* SubjectDate* ProfessionalAffiliation*
NameAsSubject@3.1: NameType? (NameIdentifier+ ({Person} | {Parts} | {Corporate})? | {Person} | {Parts} | {Corporate}) AlternativeName* SubjectDate* ProfessionalAffiliation* ! CorporateName[@language] CorporateNameInverted[@language] SubjectDate[SubjectDateRole]
NameIdentifier: NameIDType IDTypeName? IDValue
NewSupplier: (SupplierIdentifier+ SupplierName? | SupplierName) TelephoneNumber* FaxNumber* EmailAddress* Website*@3.1
ONIXMessage: Header (NoProduct | Product+) ! Product[RecordReference]
OccurrenceDate: OccurrenceDateRole DateFormat?@3.0 Date
OnOrderDetail: OnOrder Proximity? ExpectedDate
PageRun: FirstPageNumber LastPageNumber?
Price: PriceIdentifier* PriceType? PriceQualifier? EpubTechnicalProtection* PriceConstraint* EpubLicense? PriceTypeDescription* PricePer? PriceCondition* MinimumOrderQuantity? BatchBonus* DiscountCoded* Discount* PriceStatus? ((PriceAmount | PriceCoded) (Tax+ | TaxExempt)? | UnpricedItemType) CurrencyCode? Territory? CurrencyZone?@3.0 ComparisonProductPrice* PriceDate* (PrintedOnProduct PositionOnProduct?)? ! PriceTypeDescription[@language] EpubLicense/EpubLicenseName[@language]@3.1 PriceDate[PriceDateRole]@3.1
Price/EpubLicense: EpubLicenseName+ EpubLicenseExpression*
PriceCoded: PriceCodeType PriceCodeTypeName? PriceCode
PriceCondition: PriceConditionType PriceConditionQuantity* ProductIdentifier*
PriceConditionQuantity: PriceConditionQuantityType Quantity QuantityUnit
PriceConstraint: PriceConstraintType PriceConstraintStatus PriceConstraintLimit*
PriceConstraintLimit: Quantity PriceConstraintUnit
PriceDate: PriceDateRole DateFormat?@3.0 Date
PriceIdentifier: PriceIDType IDTypeName? IDValue
Prize: SequenceNumber?@3.1 PrizeIdentifier*@3.1 PrizeName+ PrizeYear? AwardingBody*@3.1 PrizeCountry? PrizeRegion? PrizeCode? PrizeStatement* PrizeJury* ! PrizeName[@language] PrizeStatement[@language] PrizeJury[@language]
PrizeIdentifier@3.1: PrizeIDType IDTypeName? IDValue
Product: RecordReference NotificationType DeletionText* RecordSourceType? RecordSourceIdentifier* RecordSourceName? ProductIdentifier+ Barcode* DescriptiveDetail? CollateralDetail? PromotionDetail? ContentDetail? PublishingDetail? RelatedMaterial? ProductionDetail? ProductSupply* ! DeletionText[@language] ProductSupply[MarketReference]@3.1
ProductClassification: ProductClassificationType ProductClassificationTypeName? ProductClassificationCode Percent?
ProductContact@3.0: ProductContactRole (ProductContactIdentifier+ ProductContactName? | ProductContactName) ContactName? TelephoneNumber* EmailAddress?
ProductContact@3.1: ProductContactRole (ProductContactIdentifier+ ProductContactName? | ProductContactName) ContactName? TelephoneNumber* FaxNumber* EmailAddress* (StreetAddress LocationName PostalCode? RegionCode? CountryCode)?
ProductContactIdentifier: ProductContactIDType IDTypeName? IDValue
ProductFormFeature: ProductFormFeatureType ProductFormFeatureValue? ProductFormFeatureDescription* ! ProductFormFeatureDescription[@language]
ProductIdentifier: ProductIDType IDTypeName? IDValue
ProductPart: PrimaryPart? ProductIdentifier* {Form} ProductContentType* Measure* (NumberOfItemsOfThisForm NumberOfCopies? | NumberOfCopies) CountryOfManufacture? ! ProductFormDetail[.] ProductContentType[.] Measure[MeasureType,MeasureUnitCode] ProductFormDescription[@language]
ProductSupply: MarketReference?@3.1 Market* MarketPublishingDetail? SupplyDetail+
ProductionDetail: ProductionManifest*
ProductionManifest: ProductIdentifier* CoverManifest? BodyManifest InsertManifest* SupplementManifest*
ProfessionalAffiliation@3.0: (ProfessionalPosition+ Affiliation? | Affiliation) ! ProfessionalPosition[@language]
ProfessionalAffiliation@3.1: (ProfessionalPosition+ AffiliationIdentifier* Affiliation? | AffiliationIdentifier+ Affiliation? | Affiliation) ! ProfessionalPosition[@language]
PromotionDetail: PromotionalEvent*
PromotionalEvent: EventIdentifier* EventType+ EventStatus? ContentAudience+ EventName+ ((ContributorReference+ Contributor* | Contributor+) ContributorStatement* | NoContributor)? EventDescription* EventOccurrence+ SupportingResource* EventSponsor* Website* ! EventName[@language] EventDescription[@language] ContributorStatement[@language]
Publisher: PublishingRole (PublisherIdentifier+ PublisherName?@3.0 PublisherName*@3.1 | PublisherName@3.0 PublisherName+@3.1) Funding* Website*
PublisherIdentifier: PublisherIDType IDTypeName? IDValue
PublisherRepresentative: AgentRole (AgentIdentifier+ AgentName? | AgentName) TelephoneNumber* FaxNumber* EmailAddress* Website*
PublishingDate: PublishingDateRole DateFormat?@3.0 Date
PublishingDetail@3.0: (Imprint+ Publisher* | Publisher+) CityOfPublication* CountryOfPublication? ProductContact* (PublishingStatus PublishingStatusNote*)? PublishingDate* LatestReprintNumber? CopyrightStatement* (SalesRights+ ROWSalesRightsType?)? SalesRestriction* ! PublishingStatusNote[@language]
PublishingDetail@3.1: (Imprint+ Publisher* | Publisher+) CityOfPublication* CountryOfPublication? ProductContact* (PublishingStatus PublishingStatusNote*)? PublishingDate* LatestReprintNumber? (CopyrightStatement+ CopyrightStatementText*)? (SalesRights+ ROWSalesRightsType?)? ! CopyrightStatementText[@language] PublishingStatusNote[@language] CityOfPublication[@language] PublishingDate[PublishingDateRole]
RecordSourceIdentifier: RecordSourceIDType IDTypeName? IDValue
Reissue@3.0: ReissueDate ReissueDescription? Price* SupportingResource*
RelatedMaterial: RelatedWork* RelatedProduct*
RelatedProduct: ProductRelationCode+ ProductIdentifier+ (ProductForm ProductFormDetail*)? ! ProductRelationCode[.]@3.1 ProductFormDetail[.]
RelatedWork: WorkRelationCode WorkIdentifier+
ReligiousText: (Bible | ReligiousTextIdentifier ReligiousTextFeature+)
ReligiousTextFeature: ReligiousTextFeatureType ReligiousTextFeatureCode ReligiousTextFeatureDescription* ! ReligiousTextFeatureDescription[@language]
ResourceFeature: ResourceFeatureType FeatureValue? FeatureNote* ! FeatureNote[@language]
ResourceFileDate: ResourceFileDateRole DateFormat?@3.0 Date
ResourceFileFeature: ResourceFileFeatureType ResourceFileFeatureValue? ResourceFileFeatureDescription* ! ResourceFileFeatureDescription[@language]
ResourceIdentifier: ResourceIDType IDTypeName? IDValue
ResourceVersion: ResourceForm ResourceVersionFeature* ResourceLink+ EpubUsageConstraint*@3.1 EpubLicense*@3.1 ContentDate* ! EpubLicense/EpubLicenseDate[EpubLicenseDateRole]@3.1 ContentDate[ContentDateRole]@3.1 ResourceVersionFeature[ResourceVersionFeatureType]@3.1
ResourceVersionFeature: ResourceVersionFeatureType FeatureValue? FeatureNote* ! FeatureNote[@language]
ReturnsConditions: ReturnsCodeType ReturnsCodeTypeName? ReturnsCode ReturnsNote* ! ReturnsNote[@language]
ReviewRating: Rating RatingLimit? RatingUnits* ! RatingUnits[@language]
SalesOutlet: (SalesOutletIdentifier+ SalesOutletName? | SalesOutletName)
SalesOutletIdentifier: SalesOutletIDType IDTypeName? IDValue
SalesRestriction: SalesRestrictionType SalesOutlet* SalesRestrictionNote* StartDate? EndDate? ! SalesRestrictionNote[@language]
SalesRights: SalesRightsType Territory SalesRestriction* ProductIdentifier* PublisherName?@3.0 PublisherName*@3.1 ! PublisherName[@language]@3.1
Sender: (SenderIdentifier+ SenderName? | SenderName) ContactName? TelephoneNumber? EmailAddress?
SenderIdentifier: SenderIDType IDTypeName? IDValue
SpecificationBundleName: SpecificationBundleNameTypeName SpecificationBundleNameValue
SpecificationFeature: SpecificationFeatureType SpecificationFeatureValue? SpecificationFeatureDescription* ! SpecificationFeatureDescription[@language]
Stock: LocationIdentifier* LocationName* (StockQuantityCoded+ | OnHand Proximity? (Reserved Proximity?)? (OnOrder Proximity?)? (CBO Proximity?)?) OnOrderDetail* Velocity* ! LocationName[@language]
StockQuantityCoded: StockQuantityCodeType StockQuantityCodeTypeName? StockQuantityCode
Subject: MainSubject? SubjectSchemeIdentifier SubjectSchemeName? SubjectSchemeVersion? (SubjectCode SubjectHeadingText* | SubjectHeadingText+) ! SubjectHeadingText[@language]
SubjectDate: SubjectDateRole DateFormat?@3.0 Date
SupplementManifest: SequenceNumber? SalesOutlet* (ProductIdentifier* ProductForm ProductFormDetail* ProductFormDescription* Measure* CoverManifest? BodyManifest InsertManifest* | NoSupplement)
Supplier: SupplierRole (SupplierIdentifier+ SupplierName? | SupplierName) TelephoneNumber* FaxNumber* EmailAddress* Website*
SupplierIdentifier: SupplierIDType IDTypeName? IDValue
SupplierOwnCoding: SupplierCodeType SupplierCodeTypeName? SupplierCodeValue
SupplyContact@3.0: SupplyContactRole (SupplyContactIdentifier+ SupplyContactName? | SupplyContactName) ContactName? TelephoneNumber* EmailAddress?
SupplyContact@3.1: SupplyContactRole (SupplyContactIdentifier+ SupplyContactName? | SupplyContactName) ContactName? TelephoneNumber* FaxNumber* EmailAddress* (StreetAddress LocationName PostalCode? RegionCode? CountryCode)?
SupplyContactIdentifier: SupplyContactIDType IDTypeName? IDValue
SupplyDate: SupplyDateRole DateFormat?@3.0 Date
SupplyDetail: Supplier SupplyContact* SupplierOwnCoding* ReturnsConditions* ProductAvailability SupplyDate* OrderTime? NewSupplier? Stock* PackQuantity? PalletQuantity? (OrderQuantityMinimum{2} OrderQuantityMultiple?)? (UnpricedItemType | Price+) Reissue?@3.0 ! SupplyDate[SupplyDateRole]@3.1
SupportingResource: SequenceNumber?@3.1 ResourceContentType ContentAudience+ Territory? ResourceMode ResourceFeature* ResourceVersion+ ! ContentAudience[.]@3.1
Tax: ProductIdentifier* PricePartDescription* TaxType? TaxRateCode? (TaxRatePercent TaxableAmount? TaxAmount? | TaxableAmount? TaxAmount) ! PricePartDescription[@language]
Territory: (CountriesIncluded RegionsIncluded? RegionsExcluded? | RegionsIncluded CountriesExcluded? RegionsExcluded?)
TextContent: SequenceNumber?@3.1 TextType ContentAudience+ Territory? Text+ ReviewRating? TextAuthor* TextSourceCorporate? TextSourceDescription* SourceTitle* TextSourceLink*@3.1 EpubUsageConstraint*@3.1 EpubLicense*@3.1 ContentDate* ! EpubLicense/EpubLicenseDate[EpubLicenseDateRole]@3.1 Text[@language] TextSourceDescription[@language] SourceTitle[@language] ContentAudience[.]@3.1 ContentDate[ContentDateRole]@3.1
TextItem: TextItemType TextItemIdentifier* PageRun* NumberOfPages?
TextItemIdentifier: TextItemIDType IDTypeName? IDValue
TimeRun: StartTime EndTime?
TitleDetail: TitleType TitleElement+ TitleStatement? ! TitleElement[SequenceNumber]
TitleElement: SequenceNumber? TitleElementLevel (PartNumber YearOfAnnual? ((TitlePrefix | NoPrefix) TitleWithoutPrefix | TitleText)? | YearOfAnnual ((TitlePrefix | NoPrefix) TitleWithoutPrefix | TitleText)? | (TitlePrefix | NoPrefix) TitleWithoutPrefix | TitleText) Subtitle?
Velocity: VelocityMetric Rate Proximity?
Website: WebsiteRole? WebsiteDescription* WebsiteLink+ ! WebsiteDescription[@language] WebsiteLink[@language]
WorkIdentifier: WorkIDType IDTypeName? IDValue
`;
