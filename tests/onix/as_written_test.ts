import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parseDate } from "../../features/onix/schema/rules/dates.ts";
import { nameWords } from "../../features/onix/schema/xml/person_names.ts";
import { childValue, element } from "../../features/onix/schema/xml/element.ts";
import { dataElement } from "../../features/onix/schema/rules/facts.ts";
import { expectedCodes } from "../../features/onix/schema/rules/kinds.ts";
import { least, leastWith, xml } from "./records.ts";
import { imported, leavesOf, message, readRecord, recordsOf, writeRecord } from "./support.ts";
import { objectsIn } from "../../schema/objects.ts";

/*
 * A record is read as it is written: dates in the formats of List 55, numbers, codes, and
 * the first of several where a field has one value.
 */

async function readOf(...forms: string[]) {
  const { header, records: [record] } = await recordsOf(
    message(leastWith(...forms)),
  );
  const { incoming, book, received } = imported(record!, header);
  const said = incoming.messages.map(({ code, path, value }) =>
    [code, path.split("/").slice(3).join("/"), value].join(" ")
  );
  return { incoming, book, received, said };
}

const publishing = (parts: string) => `PublishingDetail(${parts})`;

const dated = (role: string, date: string) => `PublishingDate(PublishingDateRole=${role} ${date})`;

/** What a record has, and the messages about it: their codes, paths and values. */
// deno-fmt-ignore
const SAID: Record<string, [form: string, ...said: string[]][]> = {
  "the second of what can be one": [
    [publishing(dated("01", "Date=20260320") + dated("01", "Date=20260401")), "duplicate PublishingDate[2]/Date 20260401"],
    [publishing("Publisher(PublishingRole=01 PublisherName=A) Publisher(PublishingRole=01 PublisherName=B)"),
      "duplicate Publisher[2]/PublisherName B"],
    [publishing("Imprint(ImprintName=A) Imprint(ImprintName=B)"), "duplicate Imprint[2]/ImprintName B"],
    ["Extent(ExtentType=00 ExtentValue=10 ExtentUnit=03) Extent(ExtentType=00 ExtentValue=20 ExtentUnit=03)",
      "duplicate Extent[2]/ExtentValue 20"],
    ["TitleDetail(TitleType=01 TitleElement(TitleElementLevel=01 TitleText=B))", "duplicate TitleDetail[2]/TitleElement/TitleText B"],
    ["Contributor(ContributorRole=A01 PersonName=A PersonName=B)", "duplicate Contributor/PersonName[2] B"],
    ["ProductSupply(SupplyDetail(Supplier(SupplierRole=01 SupplierName=A) Supplier(SupplierRole=01 SupplierName=B) ProductAvailability=20))",
      "duplicate SupplyDetail/Supplier[2] "],
    ["ProductSupply(SupplyDetail(Price(PriceQualifier=05 PriceQualifier=06 PriceAmount=1 CurrencyCode=GBP)))",
      "duplicate SupplyDetail/Price/PriceQualifier[2] 06"],
    ["CollateralDetail(TextContent(TextType=03 ContentAudience=00 Text=A Text=B))", "duplicate TextContent/Text[2] B"],
    [publishing("CityOfPublication=A CityOfPublication=B"), "duplicate CityOfPublication[2] B"],
  ],
  "nothing of a translation": [
    [publishing("CityOfPublication[language=eng]=Vienna CityOfPublication[language=ger]=Wien")],
  ],
  "a number that may mean another": [
    ["EditionNumber=1,234", "invalid_number EditionNumber 1,234"],
    ["Extent(ExtentType=00 ExtentValue=1,234 ExtentUnit=03)", "invalid_number Extent/ExtentValue 1,234"],
  ],
  "what is missing or empty": [
    ["Extent(ExtentType=00 ExtentUnit=03)", "required Extent/ExtentValue "],
    [publishing(dated("01", "")), "required PublishingDate/Date "],
    [publishing("Publisher(PublisherName=P)"), "required Publisher/PublishingRole "],
    ["CollateralDetail(SupportingResource(ResourceContentType=01 ContentAudience=00 ResourceVersion(ResourceForm=01 ResourceLink=https://a:b@c.example)))",
      "required SupportingResource/ResourceMode ", "credentials_removed SupportingResource/ResourceVersion/ResourceLink "],
    ["Measure(MeasureType=08 Measurement() MeasureUnitCode=gr)", "required Measure/Measurement "],
    ["Language(LanguageRole=01 LanguageCode())", "required Language/LanguageCode "],
    ["Extent(ExtentType=09 ExtentValue() ExtentUnit=16)", "required Extent/ExtentValue "],
    ["Subject(SubjectSchemeIdentifier=10 SubjectCode())", "required Subject/SubjectCode "],
    [publishing(dated("02", "Date()")), "required PublishingDate/Date "],
    ["CollateralDetail(Prize(PrizeName() PrizeYear=2026))", "required Prize/PrizeName "],
    ["CollateralDetail(SupportingResource(ResourceContentType=01 ContentAudience() ResourceMode=03 ResourceVersion(ResourceForm=01 ResourceLink=https://c.example)))",
      "required SupportingResource/ContentAudience "],
    ["CollateralDetail(CitedContent(CitedContentType=01 SourceTitle()))", "required CitedContent/SourceTitle "],
    ["Contributor(ContributorRole=A01 PersonName=A) Contributor(PersonName=B)", "required Contributor[2]/ContributorRole "],
    ["Contributor(ContributorRole=A01 KeyNames())", "required Contributor/KeyNames "],
    ["Contributor(ContributorRole=A01 NameIdentifier(NameIDType=16 IDValue=0000000121032683))", "required Contributor/PersonName "],
    ["Contributor(ContributorRole=A01 UnnamedPersons=02)"],
    ["Contributor(ContributorRole=A01 PersonName=A NameIdentifier(NameIDType() IDValue=0000000121032683))",
      "required Contributor/NameIdentifier/NameIDType "],
    ["Collection(TitleDetail(TitleType=01 TitleElement(TitleElementLevel=02 TitleText=C)))", "required Collection/CollectionType "],
    ["Collection(CollectionType=10 TitleDetail(TitleType=01 TitleElement(TitleElementLevel=02 TitleText())))",
      "required Collection/TitleDetail/TitleElement/TitleText "],
    [publishing("Imprint(ImprintName()) Publisher(PublishingRole=02 PublisherIdentifier(PublisherIDType=06 IDValue=1))"),
      "required Imprint/ImprintName ", "required Publisher/PublisherName "],
    ["Extent(ExtentType=09 ExtentValue=1) Extent(ExtentType=03 ExtentValueRoman=xvi ExtentUnit=03)", "required Extent[1]/ExtentUnit "],
    ["Subject(SubjectSchemeIdentifier=20 SubjectHeadingText())", "required Subject/SubjectHeadingText "],
    ["ProductSupply(SupplyDetail(Price(PriceType=02 CurrencyCode=EUR) Price(PriceType=02 PriceCoded(PriceCodeType=02 PriceCode=9) CurrencyCode=EUR)))",
      "required SupplyDetail/Price[1]/PriceAmount "],
    ["ProductSupply(SupplyDetail(Price(PriceAmount=1 CurrencyCode())))", "required SupplyDetail/Price/CurrencyCode "],
  ],
  "a date of another calendar, which is not missing": [
    [publishing(dated("11", "Date[dateformat=20]=14470920")), "other_calendar PublishingDate/Date 14470920"],
  ],
  "single elements": [
    ['NumberOfPieces=2 BICMainSubject=FA Subject(SubjectSchemeIdentifier=20 SubjectHeadingText="Salt \u0096 Pepper")',
      "onix21_element NumberOfPieces 2", "onix21_element BICMainSubject FA", "windows_1252 Subject/SubjectHeadingText Salt – Pepper"],
  ],
};

Deno.test("A message tells of", async (t) => {
  for (const [what, cases] of Object.entries(SAID)) {
    await t.step(what, async () => {
      for (const [form, ...expected] of cases) {
        assertEquals((await readOf(form)).said, expected, form);
      }
    });
  }

  await t.step("what is wholly alike, and is one", async () => {
    const collection =
      "Collection(CollectionType=10 TitleDetail(TitleType=01 TitleElement(TitleElementLevel=02 TitleText=C)))";
    const contributor = "Contributor(ContributorRole=A01 PersonName=N)";
    const { book, said } = await readOf(
      collection.repeat(2) + contributor.repeat(2),
    );

    assertEquals(said, [
      "duplicate Collection[2]/TitleDetail/TitleElement/TitleText C",
      "duplicate Contributor[2] ",
    ]);
    assertEquals(objectsIn(book.product.product_collections).length, 1);
    assertEquals(objectsIn(book.product.contributors).length, 1);
  });
});

/** What selects a value and cannot be read leaves these fields of the product alone. */
const UNREADABLE: [form: string, ...fields: string[]][] = [
  [
    publishing(
      "Publisher(PublishingRole=1 PublisherName=P)" +
        dated("1", "Date=20260301"),
    ),
    "publisher",
    "publication_date",
  ],
  [publishing("Publisher(PublisherName=P)"), "publisher"],
  ["EditionNumber=1,234", "edition_number"],
  ["Extent(ExtentType=00 ExtentValue=1,234 ExtentUnit=03)", "page_count"],
];

Deno.test("What cannot be read changes nothing", async () => {
  for (const [form, ...fields] of UNREADABLE) {
    const { incoming } = await readOf(form);
    for (const field of fields) assert(incoming.reader.unreadableFields.has(field), field);
  }
});

Deno.test("Dates are read in the formats of List 55", () => {
  const day = (text: string, format: string) => parseDate(text, format);
  assertEquals(day("20260320", "00"), { date: "2026-03-20" });
  assertEquals(day("202603", "01"), { date: "2026-03" });
  assertEquals(day("2026", "05"), { date: "2026" });
  assertEquals(day("20260320T1200", "13"), { date: "2026-03-20" });
  assertEquals(day("20260320T120000Z", "14"), { date: "2026-03-20" });
  // Plain, but not of the format.
  for (
    const [text, format] of [
      ["2026-03-20", "00"],
      ["20260320", "01"],
      ["20260320", "05"],
    ]
  ) {
    assertEquals(day(text!, format!), {
      date: "2026-03-20",
      reformatted: true,
    });
  }
  assertEquals(day("2026-03", "01"), { date: "2026-03", reformatted: true });
  const spans: Record<string, [string, string, string]> = {
    "06": ["2026010120260331", "2026-01-01", "2026-03-31"],
    "07": ["202601202602", "2026-01-01", "2026-02-28"],
    "08": ["202601202602", "2025-12-29", "2026-01-11"],
    "09": ["2026120262", "2026-01-01", "2026-06-30"],
    "11": ["20252026", "2025-01-01", "2026-12-31"],
  };
  for (const [format, [text, from, to]] of Object.entries(spans)) {
    assertEquals(day(text, format), { from, to });
    const half = text.length / 2;
    const signed = `${text.slice(0, half)}-${text.slice(half)}`;
    assertEquals(day(signed, format), { from, to, reformatted: true });
  }
  for (const format of ["20", "21", "25", "32"]) {
    const read = day("14470920", format);
    assertEquals("fault" in read && read.fault, "other_calendar");
  }
  // Weeks, quarters, seasons and words are dates, but of no day. A week is no month.
  for (
    const [text, format] of [
      ["202612", "02"],
      ["20261", "03"],
      ["20264", "04"],
      ["2026120264", "10"],
      ["Spring 2026", "12"],
    ]
  ) {
    const read = day(text!, format!);
    assertEquals("fault" in read && read.fault, "imprecise_date", text);
  }
  for (
    const [text, format] of [
      ["20260231", "00"],
      ["202613", "01"],
      ["20/03/2026", "00"],
      ["202654", "02"],
      ["20265", "03"],
      ["20260", "04"],
      ["2026040120260331", "06"],
    ]
  ) {
    const read = day(text!, format!);
    assertEquals("fault" in read && read.fault, "invalid_date", text);
  }
});

Deno.test("Messages speak of the form of ONIX", async () => {
  const { incoming } = await readOf(publishing(dated("11", "Date=20/03/2026")));
  const [{ code, message, path, value }] = incoming.messages as [
    typeof incoming.messages[0],
  ];
  assertEquals([code, message, value], [
    "invalid_date",
    "Expected a date as YYYYMMDD",
    "20/03/2026",
  ]);
  assertEquals(path, "/Product/PublishingDetail/PublishingDate/Date");
  assertEquals(incoming.values.publishing_dates, []);
});

Deno.test("A date that is read otherwise than it is marked goes out right", async () => {
  const { incoming, book, received, said } = await readOf(publishing(
    dated("01", "Date=2026-03-20") +
      dated("11", "Date[dateformat=01]=20270401"),
  ));
  assertEquals(incoming.values.publication_date, "2026-03-20");
  assertEquals(said, [
    "reformatted PublishingDate[1]/Date 2026-03-20",
    "reformatted PublishingDate[2]/Date 20270401",
  ]);
  const sent = JSON.stringify(
    leavesOf(writeRecord(book, received, "3.1").record),
  );
  assertEquals(/20260320/.test(sent) && /20270401/.test(sent), true);
  assertEquals(/dateformat/.test(sent), false);
});

Deno.test("A span of a price fills both ends, and a changed end leaves the other", async () => {
  const { incoming, book, received } = await readOf(
    "ProductSupply(SupplyDetail(Price(PriceType=02 PriceAmount=9.5 CurrencyCode=EUR PriceDate(PriceDateRole=24 Date[dateformat=07]=202601202603))))",
  );
  const pricesIn = (product: unknown) =>
    // deno-lint-ignore no-explicit-any
    (product as any).product_territories[0].supply_details[0].prices;
  const [price] = pricesIn(incoming.values);
  assertEquals([price.valid_from, price.valid_to], [
    "2026-01-01",
    "2026-03-31",
  ]);
  const product = structuredClone(
    JSON.parse(JSON.stringify(book.product)),
  );
  pricesIn(product)[0].valid_to = "2026-06-30";
  const sent = JSON.stringify(
    leavesOf(writeRecord({ ...book, product }, received, "3.1").record),
  );
  assertEquals(/PriceDateRole = 14[^]*PriceDateRole = 15/.test(sent), true);
  assertEquals(/20260101/.test(sent) && /20260630/.test(sent), true, sent);
  assertEquals(/202601202603/.test(sent), false);
});

Deno.test("A number is read where it can mean one thing only", async (t) => {
  const measure = (value: string) =>
    `Measure(MeasureType=01 Measurement="${value}" MeasureUnitCode=mm)`;
  for (
    const [value, read, code] of [
      ["1.234", 1.234, undefined],
      ["30,80", 30.8, "reformatted"],
      ["1,2345", 1.2345, "reformatted"],
      ["1,234", undefined, "invalid_number"],
      ["1.234,50", undefined, "invalid_number"],
      ["about 5", undefined, "invalid_number"],
    ] as const
  ) {
    await t.step(value, async () => {
      const { incoming, said } = await readOf(measure(value));
      const [found] = incoming.values.measures;
      assertEquals(
        found && Number(JSON.stringify(found.measurement)),
        read,
      );
      assertEquals(
        said,
        code ? [`${code} Measure/Measurement ${value}`] : [],
      );
    });
  }
});

Deno.test("A duration goes out with its leading zeros", async () => {
  const { book, received } = await readOf(
    "Extent(ExtentType=09 ExtentValue=0010000 ExtentUnit=16)",
  );
  const product = {
    ...book.product,
    extents: [{ extent_type: "09", extent_value: 73005, extent_unit: "16" }],
  };
  const sent = JSON.stringify(
    leavesOf(writeRecord({ ...book, product }, received, "3.1").record),
  );
  assertEquals(/ExtentValue = 0073005/.test(sent), true, sent);
  // Without a record, too.
  const made = JSON.stringify(
    leavesOf(
      writeRecord({ ...book, product }, null, "3.1")
        .record,
    ),
  );
  assertEquals(/ExtentValue = 0073005/.test(made), true, made);
});

Deno.test("The number in a collection is the place in the order of titles (List 197)", async () => {
  const sequences = [["01", "7"], ["02", "3"], ["03", "9"]].map((
    [type, number],
  ) => `CollectionSequence(CollectionSequenceType=${type} CollectionSequenceNumber=${number})`);
  const { incoming } = await readOf(
    `Collection(CollectionType=10 ${
      sequences.join("")
    } TitleDetail(TitleType=01 TitleElement(TitleElementLevel=02 TitleText=C)))`,
  );

  assertEquals(incoming.values.collections[0].part_number, "3");
});

Deno.test("An unknown code is said where it stands", async (t) => {
  const contributor = (parts: string) => `Contributor(${parts} PersonName=N)`;
  const cases: Record<string, string> = {
    "Contributor/ContributorRole[2] Q99": contributor(
      "ContributorRole=A01 ContributorRole=Q99",
    ),
    "EditionType[2] ZZZ": "EditionType=ABR EditionType=ZZZ",
    "ProductFormDetail[1] Q999": "ProductFormDetail=Q999 ProductFormDetail=B105",
    "PrimaryContentType 99": "PrimaryContentType=99",
    "Language/LanguageCode zzz": "Language(LanguageRole=01 LanguageCode=zzz)",
    "TitleDetail[2]/TitleType 77":
      "TitleDetail(TitleType=77 TitleElement(TitleElementLevel=01 TitleText=B))",
    "TitleDetail[2]/TitleElement/TitleElementLevel 77":
      "TitleDetail(TitleType=10 TitleElement(TitleElementLevel=77 TitleText=B))",
    "Collection/TitleDetail/TitleElement/TitleElementLevel 77":
      "Collection(CollectionType=10 TitleDetail(TitleType=01 TitleElement(TitleElementLevel=77 TitleText=B)))",
    "Contributor/NameIdentifier/NameIDType 98": contributor(
      "ContributorRole=A01 NameIdentifier(NameIDType=98 IDValue=1)",
    ),
    "Publisher/PublishingRole 77": publishing(
      "Publisher(PublishingRole=77 PublisherName=P)",
    ),
    "CountryOfPublication XZ": publishing("CountryOfPublication=XZ"),
    "PublishingStatus 77": publishing("PublishingStatus=77"),
    "SupplyDetail/ProductAvailability 77": "ProductSupply(SupplyDetail(ProductAvailability=77))",
    "MarketPublishingDetail/MarketPublishingStatus 98":
      "ProductSupply(MarketPublishingDetail(MarketPublishingStatus=98) SupplyDetail(ProductAvailability=20))",
    "Prize/PrizeCode 98": "CollateralDetail(Prize(PrizeName=P PrizeCode=98))",
    "RelatedWork/WorkIdentifier/WorkIDType 77":
      "RelatedMaterial(RelatedWork(WorkRelationCode=01 WorkIdentifier(WorkIDType=77 IDValue=A)))",
    "SupportingResource/ResourceVersion/ResourceForm 77":
      "CollateralDetail(SupportingResource(ResourceContentType=01 ContentAudience=00 ResourceMode=03 ResourceVersion(ResourceForm=77 ResourceLink=https://a.example/1)))",
    "RelatedWork/WorkRelationCode 77":
      "RelatedMaterial(RelatedWork(WorkRelationCode=77 WorkIdentifier(WorkIDType=11 IDValue=A)))",
  };
  for (const [says, parts] of Object.entries(cases)) {
    await t.step(says, async () => {
      const { said, incoming } = await readOf(parts);
      assertEquals(said, [`invalid_code ${says}`]);
      const name = says.replace(/^.*\//, "").replace(/\W.*$/, "");
      assertEquals(
        incoming.messages[0]!.message,
        expectedCodes(dataElement(name)!.kind, [incoming.messages[0]!.value!]),
      );
    });
  }
});

Deno.test("Messages speak of the elements of ONIX", async () => {
  const { incoming } = await readOf(
    "Subject(SubjectSchemeIdentifier=24 SubjectCode=A) Measure(MeasureType=01 MeasureUnitCode=mm)",
    "ProductSupply(SupplyDetail(SupplyDate(SupplyDateRole=08 Date[dateformat=01]=202601)))",
  );
  assertEquals(
    incoming.messages.map(({ code, message }) => `${code}: ${message}`),
    [
      "required: The code 24 of SubjectSchemeIdentifier needs a name",
      "required: Measure has no Measurement",
      "invalid_date: Expected a calendar day as YYYYMMDD",
    ],
  );
});

Deno.test("Of an amount and a code of a price, the amount goes out, as it is read", async () => {
  const { book, received } = await readOf(
    "ProductSupply(SupplyDetail(UnpricedItemType=04 Price(PriceCoded(PriceCodeType=01 PriceCode=A) PriceAmount=9.5 CurrencyCode=GBP)))",
  );
  const sent = JSON.stringify(
    leavesOf(writeRecord(book, received, "3.1").record),
  );
  assertEquals(/PriceAmount = 9.5/.test(sent), true, sent);
  assertEquals(/PriceCoded|UnpricedItemType/.test(sent), false, sent);
});

Deno.test("A price of 0 is free of charge, in whatever form", async () => {
  for (const zero of ["0", "00", "0.", "0.00", ".0", "0,00", "+0", "+0.", "+.00"]) {
    const { incoming, book, received } = await readOf(
      `ProductSupply(SupplyDetail(Price(PriceType=02 PriceAmount=${zero})))`,
    );
    assertStringIncludes(
      JSON.stringify(incoming.values.product_territories),
      '"price_amount":0',
      zero,
    );
    const sent = JSON.stringify(
      leavesOf(writeRecord(book, received, "3.1").record),
    );
    assertStringIncludes(sent, "UnpricedItemType = 01", zero);
  }
});

Deno.test("A price of 0 beside a reason for no price is none", async () => {
  const { incoming, book, received } = await readOf(
    "ProductSupply(SupplyDetail(Price(PriceAmount=0.00 UnpricedItemType=02)))",
  );
  assertEquals(
    /price_amount/.test(JSON.stringify(incoming.values.product_territories)),
    false,
  );
  const sent = JSON.stringify(
    leavesOf(writeRecord(book, received, "3.1").record),
  );
  assertEquals(/UnpricedItemType = 02/.test(sent), true, sent);
  assertEquals(/PriceAmount|UnpricedItemType = 01/.test(sent), false, sent);
});

Deno.test("A code twice is one", async () => {
  const { incoming, said } = await readOf(publishing(
    'SalesRights(SalesRightsType=01 Territory(CountriesIncluded="GB GB IE"))',
  ));
  assertEquals(said, []);
  const [{ territory }] = incoming.values.product_sales_rights;
  assertEquals(territory.countries_included, ["GB", "IE"]);
});

Deno.test("A record that is rejected has all its faults", async () => {
  const { records: [record], header } = await recordsOf(
    message(
      "<Product><NotificationType>77</NotificationType><ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780306406158</IDValue></ProductIdentifier><DescriptiveDetail><TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>01</TitleElementLevel><TitleText>\u00a0</TitleText></TitleElement></TitleDetail></DescriptiveDetail></Product>",
    ),
  );
  const read = readRecord(record!, header);
  assertEquals(read.kind, "rejected");
  assertEquals(
    read.messages.map(({ severity, code, path }) => `${severity} ${code} ${path}`),
    [
      "error no_reference /Product/RecordReference",
      "error unknown_notification /Product/NotificationType",
      "error invalid_isbn13 /Product/ProductIdentifier/IDValue",
      "error blank /Product/DescriptiveDetail/TitleDetail/TitleElement/TitleText",
    ],
  );
});

Deno.test("A record that is rejected has all its faults, however many warnings come first", async () => {
  const detail = xml("Subject(SubjectSchemeIdentifier=ZZ SubjectCode=x)".repeat(120));
  const rest = xml("ProductIdentifier(ProductIDType=15 IDValue=9780306406158)");
  const { records: [record], header } = await recordsOf(
    message(least("1", { detail, rest, title: "x".repeat(501) })),
  );
  const read = readRecord(record!, header);
  assertEquals(read.messages.length, 100);
  assertEquals(
    read.messages.filter(({ severity }) => severity === "error").map(({ code }) => code),
    ["too_long", "invalid_isbn13"],
  );
  assertEquals(read.moreMessages, 22);
});

Deno.test("An element where ONIX 2.1 had it is said", async () => {
  const { incoming } = await readOf(
    "SupplyDetail(ProductAvailability=20) Language(LanguageRole=01 LanguageCode=eng) CityOfPublication=Leith Barcode(BarcodeType=10)",
  );
  assertEquals(
    incoming.messages.map(({ code, path, message }) =>
      `${code} ${path} ${message.slice(0, message.indexOf(" since"))}`
    ),
    [
      "onix21_element /Product/SupplyDetail SupplyDetail stands in ProductSupply",
      "onix21_element /Product/Language Language stands in DescriptiveDetail",
      "onix21_element /Product/CityOfPublication CityOfPublication stands in PublishingDetail",
    ],
  );
});

Deno.test("An element is said without the composite that has it since", async () => {
  const { incoming } = await readOf(
    "Contributor(ContributorRole=A01 PersonName=P Date=1970)",
    "ProductSupply(SupplyDetail(SupplierName=S ProductAvailability=20 Price(PriceAmount=1 CurrencyCode=GBP CountriesIncluded=GB Text=t)))",
  );
  assertEquals(
    incoming.messages.filter(({ code }) => code === "onix21_element").map((
      { path, message },
    ) => `${path} ${message.slice(0, message.indexOf(" since"))}`),
    [
      "/Product/DescriptiveDetail/Contributor/Date Date stands in ContributorDate",
      "/Product/ProductSupply/SupplyDetail/SupplierName SupplierName stands in Supplier",
      "/Product/ProductSupply/SupplyDetail/Price/CountriesIncluded CountriesIncluded stands in Territory",
    ],
  );
});

Deno.test("A header's default that is wrong is said once for all records", async () => {
  const supply = "ProductSupply(SupplyDetail(Price(PriceAmount=9.5)))";
  const { header, records } = await recordsOf(
    message(leastWith(supply) + leastWith(supply)),
  );
  header.children.push(element("DefaultCurrencyCode", "EURO"));
  const said = records.flatMap((record) =>
    readRecord(record, header).messages.map(({ code, path, value }) => `${code} ${path} ${value}`)
  );
  assertEquals(said, ["invalid_code /Header/DefaultCurrencyCode EURO"]);
});

Deno.test("Names of people are read in the order of speech", async () => {
  const cases: [parts: string, name: string][] = [
    ['PersonNameInverted="Twain, Mark"', "Mark Twain"],
    ['PersonNameInverted="Twain, Mark, 1835-1910"', "Mark Twain"],
    ['PersonNameInverted="Roemer, Pia (b. 1970)"', "Pia Roemer"],
    ['PersonNameInverted="Roemer, Pia, 1970-"', "Pia Roemer"],
    ...[
      ...[", 1931-2004.", " (1931–2004)", " (1931–2004).", " [1931-2004]"],
      ...[" 1931-2004", ", b. 1931", " (born 1931)", ", geb. 1931", " (*1931)"],
      ...[" (* 1931, † 2004)", ", * 1931, † 2004", ", d. 2004", ", -2004"],
      ...[
        ", ca. 1400–1468",
        ", 1400?-1468",
        ", 427 BC-347 BC",
        ", 1931 - 2004",
      ],
      ...[" (1931- )", ", 1970-present", " (1970)", ", 1970", ", fl. 1590"],
    ].map((years): [string, string] => [
      `PersonNameInverted="Roemer, Pia${years}"`,
      "Pia Roemer",
    ]),
    ['PersonNameInverted="Roemer, Pia, 1931-2004, Jr."', "Pia Roemer, Jr."],
    ['PersonNameInverted="Roemer, Pia, 3rd"', "Pia Roemer, 3rd"],
    ['PersonName="Pia Roemer, 1931-2004"', "Pia Roemer"],
    ['PersonName="Studio 1931"', "Studio 1931"],
    [
      'PersonNameInverted="King, Martin Luther, Jr."',
      "Martin Luther King, Jr.",
    ],
    ['PersonNameInverted="Davis, Sammy, jr, 1925–1990"', "Sammy Davis, jr"],
    [
      'PersonNameInverted="Gates, Henry Louis, Jr., PhD"',
      "Henry Louis Gates, Jr., PhD",
    ],
    ['PersonNameInverted="Smith, M.A."', "M.A. Smith"],
    ['PersonNameInverted="Bond, Agent 007"', "Agent 007 Bond"],
    ['PersonName="Mark Twain, 1835"', "Mark Twain, 1835"],
    [
      'NamesBeforeKey=Jean PrefixToKey="d’" KeyNames=Ormesson',
      "Jean d’Ormesson",
    ],
    ["NamesBeforeKey=Jim PrefixToKey=al- KeyNames=Khalili", "Jim al-Khalili"],
    [
      "NamesBeforeKey=Ludwig PrefixToKey=van KeyNames=Beethoven",
      "Ludwig van Beethoven",
    ],
  ];
  for (const [parts, name] of cases) {
    const { incoming, said } = await readOf(
      `Contributor(ContributorRole=A01 ${parts})`,
    );
    assertEquals([incoming.values.contributors[0].name, said], [name, []]);
  }
});

Deno.test("The words of names are folded as in q", () => {
  const cases = {
    "Søren Ølgård": "soren olgard",
    "Łukasz": "lukasz",
    "Þóra Æsir": "thora aesir",
    "Weiß Œuvre Đỗ Ðóra Işık": "weiss oeuvre do dora isik",
  };
  for (const [name, words] of Object.entries(cases)) {
    assertEquals(nameWords(name).join(" "), words);
  }
});

Deno.test("A title follows an elided prefix without a space", async () => {
  const cases: [prefix: string, rest: string, title: string][] = [
    ["L’", "Étoile", "L’Étoile"],
    ["L'", "Étoile", "L'Étoile"],
    ["Al-", "Kitab", "Al-Kitab"],
    ["The", "Odyssey", "The Odyssey"],
    ["The", "’Burbs", "The ’Burbs"],
    ["The", "Boys’ Club", "The Boys’ Club"],
  ];
  for (const [prefix, rest, title] of cases) {
    const element =
      `TitleElement(TitleElementLevel=02 TitlePrefix="${prefix}" TitleWithoutPrefix="${rest}")`;
    const { incoming: { values } } = await readOf(
      `Collection(CollectionType=10 TitleDetail(TitleType=01 ${element}))`,
    );
    assertEquals(values.collections[0].name, title);
  }
});

Deno.test("A biography stays as it was sent, also one made here", async () => {
  const note = "https://pia.example is hers.\nShe writes.";
  const { incoming, book, received } = await readOf(
    `Contributor(ContributorRole=A01 PersonName=Pia BiographicalNote="${note}")`,
  );
  assertEquals(incoming.values.contributors[0].biographical_note, note);
  for (const record of [received, null]) {
    const sent = writeRecord(book, record, "3.1").record;
    const detail = sent.children.find(({ name }) => name === "DescriptiveDetail");
    const person = detail!.children.find(({ name }) => name === "Contributor");
    assertEquals(childValue(person!, "BiographicalNote"), note);
  }
});

Deno.test("What ONIX has in another form than JSON is kept without a word", async () => {
  const cases: [form: string, leaf: string][] = [
    [
      "Extent(ExtentType=03 ExtentValueRoman=xvi ExtentUnit=03)",
      "DescriptiveDetail/Extent/ExtentValueRoman",
    ],
    [
      'Audience(AudienceCodeType=02 AudienceCodeTypeName=Own AudienceHeadingText="Sailors")',
      "DescriptiveDetail/Audience/AudienceHeadingText",
    ],
    [
      "CollateralDetail(CitedContent(CitedContentType=03 ContentAudience=00 ListName=Best PositionOnList=1))",
      "CollateralDetail/CitedContent/ListName",
    ],
  ];
  for (const [form, leaf] of cases) {
    const { incoming, received, book, said } = await readOf(form);
    assertEquals(said, []);
    assert(incoming.unmapped.paths.includes(`/Product/${leaf}`), leaf);
    const sent = leavesOf(writeRecord(book, received, "3.1").record);
    assert(sent.some((one) => one.includes(leaf)), leaf);
  }
});

Deno.test("Any number of incomplete entries rejects nothing", async () => {
  const incomplete = "Contributor(ContributorRole=A01)".repeat(250) +
    "Subject(SubjectSchemeIdentifier=10)".repeat(499) +
    "Subject(SubjectSchemeIdentifier=10 SubjectCode=FIC000000)";
  const { incoming } = await readOf(
    incomplete,
    `CollateralDetail(${"TextContent(TextType=03 ContentAudience=00)".repeat(499)})`,
  );
  assertEquals(incoming.values.title, "Title");
  assertEquals(incoming.values.subjects.length, 1);
  assertEquals(incoming.messages.length, 100);
});

Deno.test("A code of another form leads on to the one that was meant", async () => {
  const cases: Record<string, string> = {
    "Language(LanguageRole=01 LanguageCode=deu)":
      "Expected a code of ONIX List 74, see /code-lists/74: did you mean ger?",
    "ProductSupply(SupplyDetail(Price(PriceAmount=1 CurrencyCode=EURO)))":
      "Expected a currency of ISO 4217, in capitals, see /code-lists/96: did you mean EUR?",
    "ProductFormDetail=BX": "Expected a code of ONIX List 175, see /code-lists/175",
    "ProductSupply(Market(Territory(RegionsIncluded=ROW)) SupplyDetail())":
      "ROW: Expected a region of ONIX 3, which ROW is not: set is_rest_of_world of a sales right (ROWSalesRightsType), or name the countries",
  };
  for (const [form, message] of Object.entries(cases)) {
    assertEquals((await readOf(form)).incoming.messages[0]!.message, message);
  }
});

Deno.test("The levels of a title are one title, and two of one level are not", async () => {
  const at = (level: string, text: string) =>
    `TitleElement(TitleElementLevel=${level} TitleText=${text})`;
  const said = async (...elements: string[]) => {
    const detail = xml(`TitleDetail(TitleType=01 ${elements.join(" ")})`);
    const { header, records: [record] } = await recordsOf(
      message(least("1", { title: "", detail })),
    );
    const { incoming } = imported(record!, header);
    return [
      incoming.values.title,
      ...incoming.messages.map(({ path }) => path),
    ];
  };
  const path = "/Product/DescriptiveDetail/TitleDetail/TitleElement[2]/TitleText";
  assertEquals(await said(at("02", "Guide"), at("01", "North")), ["North"]);
  assertEquals(await said(at("01", "North"), at("02", "Guide")), ["North"]);
  const other = `TitleDetail(TitleType=01 ${at("02", "Guide")} ${at("01", "South")}`;
  assertEquals(await said(at("01", "North"), `) ${other}`), [
    "North",
    path.replace("TitleDetail/", "TitleDetail[2]/"),
  ]);
  assertEquals(await said(at("01", "North"), at("01", "South")), [
    "North",
    path,
  ]);
});
