/*
 * Records of our own, for tests.
 */

/** A book with most of what a record says, and with what no field holds: a barcode, a discount. */
export const BOOK = `<Product>
  <RecordReference>harbour.example.1</RecordReference>
  <NotificationType>03</NotificationType>
  <ProductIdentifier><ProductIDType>03</ProductIDType><IDValue>9780306406157</IDValue></ProductIdentifier>
  <ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>978-0-306-40615-7</IDValue></ProductIdentifier>
  <ProductIdentifier><ProductIDType>06</ProductIDType><IDValue>10.1000/182</IDValue></ProductIdentifier>
  <Barcode><BarcodeType>10</BarcodeType></Barcode>
  <DescriptiveDetail>
    <ProductComposition>00</ProductComposition>
    <ProductForm>BC</ProductForm>
    <ProductFormDetail>B106</ProductFormDetail>
    <Measure><MeasureType>01</MeasureType><Measurement>198</Measurement><MeasureUnitCode>mm</MeasureUnitCode></Measure>
    <Collection>
      <CollectionType>10</CollectionType>
      <TitleDetail><TitleType>01</TitleType>
        <TitleElement><TitleElementLevel>02</TitleElementLevel><PartNumber>2</PartNumber><NoPrefix/><TitleWithoutPrefix>Harbour Classics</TitleWithoutPrefix></TitleElement>
      </TitleDetail>
    </Collection>
    <TitleDetail><TitleType>01</TitleType>
      <TitleElement><TitleElementLevel>01</TitleElementLevel><TitlePrefix>The</TitlePrefix><TitleWithoutPrefix>Lighthouse</TitleWithoutPrefix><Subtitle>A novel</Subtitle></TitleElement>
    </TitleDetail>
    <Contributor>
      <SequenceNumber>1</SequenceNumber>
      <ContributorRole>A01</ContributorRole>
      <ContributorRole>A12</ContributorRole>
      <NameIdentifier><NameIDType>16</NameIDType><IDValue>0000000121032683</IDValue></NameIdentifier>
      <PersonName>Ada Keeper</PersonName>
      <NamesBeforeKey>Ada</NamesBeforeKey>
      <KeyNames>Keeper</KeyNames>
      <BiographicalNote textformat="05"><p>Lives by the <em>sea</em>.</p></BiographicalNote>
      <Website><WebsiteLink>https://keeper.example</WebsiteLink></Website>
    </Contributor>
    <Contributor>
      <SequenceNumber>2</SequenceNumber>
      <ContributorRole>B06</ContributorRole>
      <CorporateName>Harbour Translations</CorporateName>
    </Contributor>
    <EditionType>ILL</EditionType>
    <EditionNumber>2</EditionNumber>
    <Language><LanguageRole>01</LanguageRole><LanguageCode>eng</LanguageCode></Language>
    <Extent><ExtentType>00</ExtentType><ExtentValue>320</ExtentValue><ExtentUnit>03</ExtentUnit></Extent>
    <Extent><ExtentType>09</ExtentType><ExtentValue>30,5</ExtentValue><ExtentUnit>04</ExtentUnit></Extent>
    <Subject><MainSubject/><SubjectSchemeIdentifier>93</SubjectSchemeIdentifier><SubjectCode>FBA</SubjectCode></Subject>
    <Subject><SubjectSchemeIdentifier>20</SubjectSchemeIdentifier><SubjectHeadingText language="eng">sea; light</SubjectHeadingText></Subject>
    <Audience><AudienceCodeType>01</AudienceCodeType><AudienceCodeValue>01</AudienceCodeValue></Audience>
    <AudienceRange><AudienceRangeQualifier>17</AudienceRangeQualifier><AudienceRangePrecision>03</AudienceRangePrecision><AudienceRangeValue>9</AudienceRangeValue><AudienceRangePrecision>04</AudienceRangePrecision><AudienceRangeValue>12</AudienceRangeValue></AudienceRange>
  </DescriptiveDetail>
  <CollateralDetail>
    <TextContent><TextType>03</TextType><ContentAudience>00</ContentAudience><Text language="eng" textformat="05"><p>Who keeps the light?</p></Text></TextContent>
    <CitedContent><CitedContentType>01</CitedContentType><SourceTitle>The Gazette</SourceTitle><ResourceLink>https://gazette.example/1</ResourceLink></CitedContent>
    <SupportingResource>
      <ResourceContentType>01</ResourceContentType><ContentAudience>00</ContentAudience><ResourceMode>03</ResourceMode>
      <ResourceVersion><ResourceForm>02</ResourceForm><ResourceLink>https://reader:secret@covers.example/1.jpg</ResourceLink></ResourceVersion>
    </SupportingResource>
    <Prize><PrizeName>Harbour Prize</PrizeName><PrizeYear>2026</PrizeYear></Prize>
  </CollateralDetail>
  <PublishingDetail>
    <Imprint><ImprintName>Beacon</ImprintName></Imprint>
    <Publisher><PublishingRole>01</PublishingRole><PublisherName>Harbour Press</PublisherName></Publisher>
    <CityOfPublication>Leith</CityOfPublication>
    <CountryOfPublication>GB</CountryOfPublication>
    <PublishingStatus>04</PublishingStatus>
    <PublishingDate><PublishingDateRole>01</PublishingDateRole><Date>20260301</Date></PublishingDate>
    <PublishingDate><PublishingDateRole>19</PublishingDateRole><Date dateformat="05">2020</Date></PublishingDate>
    <SalesRights><SalesRightsType>01</SalesRightsType><Territory><CountriesIncluded>GB IE</CountriesIncluded></Territory></SalesRights>
    <ROWSalesRightsType>03</ROWSalesRightsType>
  </PublishingDetail>
  <RelatedMaterial>
    <RelatedWork><WorkRelationCode>01</WorkRelationCode><WorkIdentifier><WorkIDType>11</WorkIDType><IDValue>A0220020000000127</IDValue></WorkIdentifier></RelatedWork>
    <RelatedProduct><ProductRelationCode>06</ProductRelationCode><ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9781861972712</IDValue></ProductIdentifier></RelatedProduct>
  </RelatedMaterial>
  <ProductSupply>
    <Market><Territory><CountriesIncluded>GB</CountriesIncluded></Territory></Market>
    <MarketPublishingDetail><MarketPublishingStatus>04</MarketPublishingStatus></MarketPublishingDetail>
    <SupplyDetail>
      <Supplier><SupplierRole>01</SupplierRole><SupplierName>Quay Distribution</SupplierName></Supplier>
      <ProductAvailability>21</ProductAvailability>
      <Price>
        <PriceType>02</PriceType>
        <DiscountCoded><DiscountCodeType>05</DiscountCodeType><DiscountCode>TRADE</DiscountCode></DiscountCoded>
        <PriceAmount>9.99</PriceAmount>
        <Tax><TaxRateCode>Z</TaxRateCode><TaxRatePercent>0</TaxRatePercent></Tax>
        <CurrencyCode>GBP</CurrencyCode>
        <PriceDate><PriceDateRole>14</PriceDateRole><Date>20260301</Date></PriceDate>
      </Price>
      <Price><PriceType>02</PriceType><PriceAmount>12.00</PriceAmount><CurrencyCode>EUR</CurrencyCode></Price>
    </SupplyDetail>
  </ProductSupply>
</Product>`;

/** A record with no more than it needs, and with these elements in its first block. */
export function least(
  reference: string,
  { detail = "", title = "Title", type = "03", rest = "" } = {},
): string {
  return `<Product><RecordReference>${reference}</RecordReference><NotificationType>${type}</NotificationType><DescriptiveDetail>${
    title &&
    `<TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>01</TitleElementLevel><TitleText>${title}</TitleText></TitleElement></TitleDetail>`
  }${detail}</DescriptiveDetail>${rest}</Product>`;
}

/** The same with what short forms say: blocks, or elements of the first one. */
export function leastWith(...forms: string[]): string {
  const { blocks = [], elements = [] } = Object.groupBy(
    forms,
    (form) => BLOCK.test(form) ? "blocks" : "elements",
  );
  const detail = xml(elements.join(" "));
  return least("1", { detail, rest: xml(blocks.join(" ")) });
}

const BLOCK = /^(?:(?!Title)\w+Detail|ProductSupply|RelatedMaterial)\(/;

/**
 * XML of a short form, such as `Price(PriceType=02 Territory(CountriesIncluded="GB IE"))`
 * or `Date[dateformat=05]=2026`. `Name()` is an empty element.
 */
export function xml(form: string): string {
  const open: string[] = [];
  return form.replaceAll(
    /\s*(?:(\w+)(?:\[(\w+)=(\w+)\])?(?:(\()|=(?:"([^"]*)"|([^\s()]*)))|\))\s*/g,
    (_, name, attribute, code, opening, quoted, plain) => {
      if (!name) return `</${open.pop()}>`;
      const start = attribute ? `<${name} ${attribute}="${code}">` : `<${name}>`;
      if (opening) open.push(name);
      return opening ? start : `${start}${quoted ?? plain}</${name}>`;
    },
  );
}
