/*
 * The data elements of ONIX for Books 3.0 and 3.1: reference name, short tag, kind of
 * value, and attributes beyond those that every element has. `@3.0` or `@3.1` after the
 * name limits it to that release. The kinds:
 *
 *     27       a code of List 27; `91*`: several, separated by spaces
 *     text     not blank
 *     flow     text that may contain XHTML
 *     flag     no value: the element says it
 *     n n+     whole number from 0, from 1; `int` also negative
 *     d d+     decimal number from 0, above 0; `dec` also negative; `percent` up to 100
 *     others   as in `values.ts`
 *
 * The attributes: c textcase, d dateformat, f textformat, k collationkey, l language,
 * s textscript.
 */

export const DATA_ELEMENTS = `
AVDuration x544 time
AVItemIDType x541 241
AVItemType x540 240
AddresseeIDType m380 44
AddresseeName x300 text
Affiliation b046 text l
AffiliationIDType@3.1 x580 44
AgentIDType j400 92
AgentName j401 text kl
AgentRole j402 69
AncillaryContentDescription x424 flow fl
AncillaryContentType x423 25
AudienceCode@3.0 b073 28
AudienceCodeType b204 29
AudienceCodeTypeName b205 text l
AudienceCodeValue b206 text
AudienceDescription b207 flow fl
AudienceHeadingText x578 text l
AudienceRangePrecision b075 31
AudienceRangeQualifier b074 30
AudienceRangeValue b076 text
AwardingBody@3.1 x584 text kl
BarcodeType x312 141
BatchQuantity j264 n+
BibleContents b352 82
BiblePurpose b354 85
BibleReferenceLocation b356 87
BibleTextFeature b357 97
BibleTextOrganization b355 86
BibleVersion b353 83
BiographicalNote b044 flow fl
BookClubAdoption k169 flow fl
CBO j375 n
CitationNote x434 flow fl
CitedContentType x430 156
CityOfPublication b209 text l
CollectionElementLevel@3.1 x586 149
CollectionFrequency@3.1 x582 259
CollectionIDType x344 13
CollectionSequenceNumber x481 levels-
CollectionSequenceType x479 197
CollectionSequenceTypeName x480 text l
CollectionType x329 148
ComplexityCode b078 text
ComplexitySchemeIdentifier b077 32
ComponentNumber b289 text
ComponentTypeName b288 text l
ConferenceAcronym@3.0 b341 text l
ConferenceDate@3.0 b054 text d
ConferenceName@3.0 b052 text l
ConferenceNumber@3.0 b053 n+
ConferencePlace@3.0 b055 text l
ConferenceRole@3.0 b051 20
ConferenceSponsorIDType@3.0 b391 44
ConferenceTheme@3.0 b342 flow fl
ContactName x299 text
ContentAudience x427 154
ContentDateRole x429 155
ContributorDateRole x417 177
ContributorDescription b048 flow fl
ContributorPlaceRelator x418 151
ContributorRole b035 17
ContributorStatement b049 flow fl
CopiesSold k168 flow fl
CopyrightOwnerIDType b392 44
CopyrightStatementText@3.1 x588 flow fl
CopyrightType x512 219
CopyrightYear b087 text d
CorporateName b047 text kls
CorporateNameInverted x443 text kls
CountriesExcluded x451 91*
CountriesIncluded x449 91*
CountryCode b251 91
CountryOfManufacture x316 91
CountryOfPublication b083 91
CurrencyCode j152 96
CurrencyZone@3.0 x475 172
Date b306 text d
DateFormat@3.0 j260 55
DefaultCurrencyCode m186 96
DefaultLanguageOfText m184 74
DefaultPriceType x310 58
DeletionText a199 text l
DiscountAmount x469 d
DiscountCode j364 text
DiscountCodeType j363 100
DiscountCodeTypeName j378 text l
DiscountPercent j267 percent
DiscountType x467 170
EditionNumber b057 n+
EditionStatement b058 flow fl
EditionType x419 21
EditionVersionNumber b217 text
EmailAddress j272 email
EndDate b325 text d
EndTime x543 time
EpubLicenseDateRole@3.1 x585 260
EpubLicenseExpressionLink x510 uri
EpubLicenseExpressionType x508 218
EpubLicenseExpressionTypeName x509 text l
EpubLicenseName x511 text l
EpubTechnicalProtection x317 144
EpubUsageStatus x319 146
EpubUsageType x318 145
EpubUsageUnit x321 147
EventAcronym x517 text l
EventDate x520 text d
EventDescription x550 flow fl
EventIDType x547 244
EventName x516 text l
EventNumber x518 n+
EventPlace x521 text l
EventRole x515 20
EventSponsorIDType x522 44
EventStatus x549 246
EventTheme x519 text l
EventType x548 245
ExpectedDate j302 text d
ExtentType b218 23
ExtentUnit b220 24
ExtentValue b219 d+
ExtentValueRoman x421 roman
FaxNumber j271 text
FeatureNote x440 flow fl
FeatureValue x439 text
FirstPageNumber b286 text
FreeQuantity j265 n+
FromLanguage x412 74
FundingIDType x523 228
Gender@3.0 x524 229
IDTypeName b233 text l
IDValue b244 text
Illustrated x422 152
IllustrationsNote b062 flow fl
ImprintIDType x445 44
ImprintName b079 text kl
InitialPrintRun k167 flow fl
InsertPointType x574 255
InsertPointValue x575 text
KeyNames b040 text kls
LanguageCode b252 74
LanguageRole b253 22
LastPageNumber b287 text
LatestReprintNumber x446 n+
LettersAfterNames b042 text kls
LevelSequenceNumber b284 levels
ListName x432 text l
LocationIDType j377 92
LocationName j349 text l
MainAudience@3.1 x583 flag
MainSubject x425 flag
MapScale b063 n+
MarketDateRole j408 163
MarketPublishingStatus j407 68
MarketPublishingStatusNote x406 flow fl
MarketReference@3.1 x587 text
MeasureType x315 48
MeasureUnitCode c095 50
Measurement c094 d+
MessageNote m183 text l
MessageNumber m180 n+
MessageRepeat m181 n+
MinimumOrderQuantity j263 n+
NameIDType x415 44
NameType x414 18
NamesAfterKey b041 text kls
NamesBeforeKey b039 text kls
NoCollection x411 flag
NoContributor n339 flag
NoEdition n386 flag
NoPrefix x501 flag
NoProduct x507 flag
NoResource x577 flag
NoSupplement x579 flag
NotificationType a002 1
Number b257 n
NumberOfCopies x323 n+
NumberOfIllustrations b125 n
NumberOfItemsOfThisForm x322 n+
NumberOfPages b061 n+
OccurrenceDateRole x554 247
OnHand j350 int
OnOrder j351 n
OrderQuantityMinimum x532 n+
OrderQuantityMultiple x533 n+
OrderTime j144 n
PackQuantity j145 n+
PalletQuantity x545 n+
PartNumber x410 text ls
Percent b337 percent
PersonName b036 text kls
PersonNameInverted b037 text kls
PositionOnList x433 n+
PositionOnProduct x313 142
PostalCode@3.1 x590 text
PrefixToKey b247 text kls
PriceAmount j151 d+
PriceCode x468 text
PriceCodeType x465 179
PriceCodeTypeName x477 text l
PriceConditionQuantityType x464 168
PriceConditionType x463 167
PriceConstraintStatus x530 146
PriceConstraintType x529 230
PriceConstraintUnit x531 147
PriceDateRole x476 173
PriceIDType x506 217
PricePartDescription x535 text l
PricePer j239 60
PriceQualifier j261 59
PriceStatus j266 61
PriceType x462 58
PriceTypeDescription j262 text l
PrimaryContentType x416 81
PrimaryPart x457 flag
PrintedOnProduct x301 174
PrizeCode g129 41
PrizeCountry g128 91
PrizeIDType@3.1 x589 263
PrizeJury g343 flow fl
PrizeName g126 text l
PrizeRegion x556 49
PrizeStatement x503 flow fl
PrizeYear g127 year
ProductAvailability j396 65
ProductClassificationCode b275 text
ProductClassificationType b274 9
ProductClassificationTypeName x555 text l
ProductComposition x314 2
ProductContactIDType x483 44
ProductContactName x484 text
ProductContactRole x482 198
ProductContentType b385 81
ProductForm b012 150
ProductFormDescription b014 text l
ProductFormDetail b333 175
ProductFormFeatureDescription b336 text l
ProductFormFeatureType b334 79
ProductFormFeatureValue b335 text
ProductIDType b221 5
ProductPackaging b225 80
ProductRelationCode x455 51
ProfessionalPosition b045 text l
PromotionCampaign k165 flow fl
PromotionContact@3.0 k166 flow fl
Proximity x502 215
PublisherIDType x447 44
PublisherName b081 text kls
PublishingDateRole x448 163
PublishingRole b291 45
PublishingStatus b394 64
PublishingStatusNote b395 flow fl
Quantity x320 d
QuantityUnit x466 169
ROWSalesRightsType x456 46
Rate x505 int
Rating x525 d
RatingLimit x526 n
RatingUnits x527 text l
RecordReference a001 text
RecordSourceIDType x311 44
RecordSourceName a197 text
RecordSourceType a194 3
RegionCode b398 49
RegionsExcluded x452 49*
RegionsIncluded x450 49*
ReissueDate@3.0 j365 text d
ReissueDescription@3.0 j366 flow fl
ReligiousTextFeatureCode b359 90
ReligiousTextFeatureDescription b360 flow fl
ReligiousTextFeatureType b358 89
ReligiousTextIdentifier b376 text
ReprintDetail k309 flow fl
Reserved x536 n
ResourceContentType x436 158
ResourceFeatureType x438 160
ResourceFileContentDescription x576 text l
ResourceFileDateRole x573 254
ResourceFileDescription x571 text l
ResourceFileDetail x567 252
ResourceFileFeatureDescription x570 text l
ResourceFileFeatureType x568 253
ResourceFileFeatureValue x569 text
ResourceFileLink x572 uri
ResourceForm x441 161
ResourceIDType x565 250
ResourceLink x435 uri l
ResourceMode x437 159
ResourceRole x566 text
ResourceVersionFeatureType x442 162
ReturnsCode j269 text
ReturnsCodeType j268 53
ReturnsCodeTypeName x460 text l
ReturnsNote x528 text l
SalesOutletIDType b393 102
SalesOutletName b382 text l
SalesRestrictionNote x453 flow fl
SalesRestrictionType b381 71
SalesRightsType b089 46
ScriptCode x420 121
SenderIDType m379 44
SenderName x298 text
SentDateTime x307 timestamp
SequenceNumber b034 n+
SourceName x330 text
SourceTitle x428 text l
SourceType x431 157
SpecificationBundleNameTypeName x558 text l
SpecificationBundleNameValue x559 text
SpecificationDescription x564 text l
SpecificationDetail x560 248
SpecificationFeatureDescription x563 text l
SpecificationFeatureType x561 249
SpecificationFeatureValue x562 text
StartDate b324 text d
StartTime x542 time
StockQuantityCode j297 text
StockQuantityCodeType j293 70
StockQuantityCodeTypeName j296 text l
StreetAddress x552 text l
StudyBibleType b389 84
SubjectCode b069 text
SubjectDateRole x534 177
SubjectHeadingText b070 text l
SubjectSchemeIdentifier b067 27
SubjectSchemeName b171 text l
SubjectSchemeVersion b068 text
Subtitle b029 text ckls
SuffixToKey b248 text kls
SupplierCodeType x458 165
SupplierCodeTypeName x513 text l
SupplierCodeValue x459 text
SupplierIDType j345 92
SupplierName j137 text kl
SupplierRole j292 93
SupplyContactIDType x538 44
SupplyContactName x539 text
SupplyContactRole x537 239
SupplyDateRole x461 166
TaxAmount x474 d
TaxExempt x546 flag
TaxRateCode x471 62
TaxRatePercent x472 percent
TaxType x470 171
TaxableAmount x473 d+
TelephoneNumber j270 text
Text d104 flow fl
TextAuthor d107 text l
TextItemIDType b285 43
TextItemType b290 42
TextSourceCorporate b374 text l
TextSourceDescription x557 flow fl
TextSourceLink@3.1 x581 uri l
TextType x426 153
ThesisPresentedTo b369 text l
ThesisType b368 72
ThesisYear b370 text d
TitleElementLevel x409 149
TitlePrefix b030 text ckls
TitleStatement x478 flow fl
TitleText b203 text ckls
TitleType b202 15
TitleWithoutPrefix b031 text ckls
TitlesAfterNames b043 text kls
TitlesBeforeNames b038 text kls
ToLanguage x413 74
ToQuantity x514 d
TradeCategory b384 12
UnnamedPersons b249 19
UnpricedItemType j192 57
VelocityMetric x504 216
VenueName x551 text l
VenueNote x553 flow fl
WebsiteDescription b294 flow fl
WebsiteLink b295 uri l
WebsiteRole b367 73
WorkIDType b201 16
WorkRelationCode x454 164
YearOfAnnual b020 years
`;
