/* Messages in ONIX for Books, for tests. */

/** What a record of a test says. */
export interface Book {
  reference?: string;
  notification?: string;
  isbn?: string | null;
  title?: string;
  publisher?: string;
  imprint?: string;
  form?: string;
  contributors?: string[];
  collection?: string;
  pages?: number;
  price?: string;
  availability?: string;
  /** XML after the elements of `DescriptiveDetail` that this file writes. */
  more?: string;
}

/** A record with reference names. */
export function record({
  reference = "press.example.1",
  notification = "03",
  isbn = "9780141439587",
  title = "Emma",
  publisher = "Harbour Press",
  imprint = "Lantern",
  form = "BC",
  contributors = ["Jane Austen"],
  collection,
  pages = 474,
  price = "7.99",
  availability = "20",
  more = "",
}: Book = {}): string {
  return `<Product>
  <RecordReference>${reference}</RecordReference>
  <NotificationType>${notification}</NotificationType>
  ${
    isbn === null
      ? "<ProductIdentifier><ProductIDType>01</ProductIDType><IDTypeName>ours</IDTypeName><IDValue>1</IDValue></ProductIdentifier>"
      : `<ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>${isbn}</IDValue></ProductIdentifier>`
  }
  <DescriptiveDetail>
    <ProductComposition>00</ProductComposition>
    <ProductForm>${form}</ProductForm>
    ${
    collection
      ? `<Collection><CollectionType>10</CollectionType><TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>02</TitleElementLevel><TitleText>${collection}</TitleText></TitleElement></TitleDetail></Collection>`
      : ""
  }
    <TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>01</TitleElementLevel><TitleText>${title}</TitleText></TitleElement></TitleDetail>
    ${
    contributors.map((name) =>
      `<Contributor><ContributorRole>A01</ContributorRole><PersonName>${name}</PersonName></Contributor>`
    ).join("")
  }
    <Language><LanguageRole>01</LanguageRole><LanguageCode>eng</LanguageCode></Language>
    <Extent><ExtentType>00</ExtentType><ExtentValue>${pages}</ExtentValue><ExtentUnit>03</ExtentUnit></Extent>
    ${more}
  </DescriptiveDetail>
  <PublishingDetail>
    <Imprint><ImprintName>${imprint}</ImprintName></Imprint>
    <Publisher><PublishingRole>01</PublishingRole><PublisherName>${publisher}</PublisherName></Publisher>
    <PublishingStatus>04</PublishingStatus>
    <PublishingDate><PublishingDateRole>01</PublishingDateRole><Date>20270131</Date></PublishingDate>
  </PublishingDetail>
  <ProductSupply>
    <SupplyDetail>
      <Supplier><SupplierRole>01</SupplierRole><SupplierName>Harbour Press</SupplierName></Supplier>
      <ProductAvailability>${availability}</ProductAvailability>
      <Price><PriceType>02</PriceType><PriceAmount>${price}</PriceAmount><CurrencyCode>GBP</CurrencyCode></Price>
    </SupplyDetail>
  </ProductSupply>
</Product>`;
}

/** The record of a deletion. */
export function deletionOf(reference: string): string {
  return `<Product><RecordReference>${reference}</RecordReference><NotificationType>05</NotificationType><ProductIdentifier><ProductIDType>01</ProductIDType><IDTypeName>ours</IDTypeName><IDValue>1</IDValue></ProductIdentifier></Product>`;
}

/** A message of these records. */
export function message(...records: string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<ONIXMessage release="3.0" xmlns="http://ns.editeur.org/onix/3.0/reference">
<Header><Sender><SenderName>Harbour Press</SenderName></Sender><SentDateTime>20261124T120000Z</SentDateTime></Header>
${records.join("\n")}
</ONIXMessage>`;
}

/** A message that was sent at a time by a sender. */
export function sent(at: string, sender: string, ...records: string[]): string {
  return message(...records)
    .replace(/<SentDateTime>[^<]*/, `<SentDateTime>${at}`)
    .replace(
      /<SenderName>Harbour Press(?=<\/SenderName><\/Sender>)/,
      `<SenderName>${sender}`,
    );
}

/** The ISBN-13 with this number. */
export function isbnOf(number: number): string {
  const digits = `978${String(number).padStart(9, "0")}`;
  const sum = [...digits].reduce(
    (sum, digit, i) => sum + Number(digit) * (i % 2 === 0 ? 1 : 3),
    0,
  );
  return `${digits}${(10 - sum % 10) % 10}`;
}

/** The `Product` elements of a message, as text. */
export function productsIn(xml: string): string[] {
  return Array.from(
    xml.matchAll(/<Product>[\s\S]*?<\/Product>/g),
    ([product]) => product,
  );
}
