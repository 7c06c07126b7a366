import { assertEquals } from "@std/assert";
import { parseDate } from "../../schema/onix/rules/dates.ts";
import { element } from "../../schema/onix/xml/element.ts";
import { dataElement } from "../../schema/onix/rules/facts.ts";
import { least } from "./records.ts";
import {
  imported,
  leavesOf,
  message,
  readRecord,
  recordsOf,
  writeRecord,
} from "./support.ts";

/*
 * A record is read as it is written: dates in the formats of List 55, numbers, codes, and
 * the first of several where a field has one value.
 */

async function readOf(parts: { detail?: string; rest?: string }) {
  const { header, records: [record] } = await recordsOf(
    message(least("1", parts)),
  );
  const { incoming, book, received } = imported(record!, header);
  const said = incoming.messages.map(({ code, path, value }) =>
    [code, path.split("/").slice(3).join("/"), value].join(" ")
  );
  return { incoming, book, received, said };
}

const publishing = (parts: string) =>
  `<PublishingDetail>${parts}</PublishingDetail>`;

const dated = (role: string, date: string) =>
  `<PublishingDate><PublishingDateRole>${role}</PublishingDateRole>${date}</PublishingDate>`;

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
  const { incoming } = await readOf({
    rest: publishing(dated("11", "<Date>20/03/2026</Date>")),
  });
  const [{ code, message, path, value }] = incoming.messages as [
    typeof incoming.messages[0],
  ];
  assertEquals([code, message, value], [
    "invalid_date",
    "Expected a date as YYYYMMDD",
    "20/03/2026",
  ]);
  assertEquals(path, "/Product/PublishingDetail/PublishingDate/Date");
  assertEquals(incoming.body.publishing_dates, []);
});

Deno.test("A date that is read otherwise than it is marked goes out right", async () => {
  const { incoming, book, received, said } = await readOf({
    rest: publishing(
      dated("01", "<Date>2026-03-20</Date>") +
        dated("11", '<Date dateformat="01">20270401</Date>'),
    ),
  });
  assertEquals(incoming.body.publication_date, "2026-03-20");
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
  const { incoming, book, received } = await readOf({
    rest:
      '<ProductSupply><SupplyDetail><Price><PriceType>02</PriceType><PriceAmount>9.5</PriceAmount><CurrencyCode>EUR</CurrencyCode><PriceDate><PriceDateRole>24</PriceDateRole><Date dateformat="07">202601202603</Date></PriceDate></Price></SupplyDetail></ProductSupply>',
  });
  const pricesIn = (product: unknown) =>
    // deno-lint-ignore no-explicit-any
    (product as any).product_territories[0].supply_details[0].prices;
  const [price] = pricesIn(incoming);
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
    `<Measure><MeasureType>01</MeasureType><Measurement>${value}</Measurement><MeasureUnitCode>mm</MeasureUnitCode></Measure>`;
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
      const { incoming, said } = await readOf({ detail: measure(value) });
      const [found] = incoming.body.measures as { measurement: unknown }[];
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

  await t.step("also one by itself", async () => {
    const { incoming, said } = await readOf({
      detail:
        "<EditionNumber>1,234</EditionNumber><Extent><ExtentType>00</ExtentType><ExtentValue>1,234</ExtentValue><ExtentUnit>03</ExtentUnit></Extent>",
    });
    assertEquals(said, [
      "invalid_number EditionNumber 1,234",
      "invalid_number Extent/ExtentValue 1,234",
    ]);
    assertEquals("edition_number" in incoming.body, false);
    assertEquals("page_count" in incoming.body, false);
  });
});

Deno.test("A duration goes out with its leading zeros", async () => {
  const { book, received } = await readOf({
    detail:
      "<Extent><ExtentType>09</ExtentType><ExtentValue>0010000</ExtentValue><ExtentUnit>16</ExtentUnit></Extent>",
  });
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

Deno.test("The second of what can be one is said", async (t) => {
  const cases: Record<string, { detail?: string; rest?: string }> = {
    "PublishingDate[2]/Date 20260401": {
      rest: publishing(
        dated("01", "<Date>20260320</Date>") +
          dated("01", "<Date>20260401</Date>"),
      ),
    },
    "Publisher[2]/PublisherName B": {
      rest: publishing(
        ["A", "B"].map((name) =>
          `<Publisher><PublishingRole>01</PublishingRole><PublisherName>${name}</PublisherName></Publisher>`
        ).join(""),
      ),
    },
    "Imprint[2]/ImprintName B": {
      rest: publishing(
        "<Imprint><ImprintName>A</ImprintName></Imprint><Imprint><ImprintName>B</ImprintName></Imprint>",
      ),
    },
    "Extent[2]/ExtentValue 20": {
      detail: ["10", "20"].map((pages) =>
        `<Extent><ExtentType>00</ExtentType><ExtentValue>${pages}</ExtentValue><ExtentUnit>03</ExtentUnit></Extent>`
      ).join(""),
    },
    "TitleDetail[2]/TitleElement/TitleText B": {
      detail:
        "<TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>01</TitleElementLevel><TitleText>B</TitleText></TitleElement></TitleDetail>",
    },
    "Contributor/PersonName[2] B": {
      detail:
        "<Contributor><ContributorRole>A01</ContributorRole><PersonName>A</PersonName><PersonName>B</PersonName></Contributor>",
    },
    "SupplyDetail/Supplier[2] ": {
      rest: `<ProductSupply><SupplyDetail>${
        ["A", "B"].map((name) =>
          `<Supplier><SupplierRole>01</SupplierRole><SupplierName>${name}</SupplierName></Supplier>`
        ).join("")
      }<ProductAvailability>20</ProductAvailability></SupplyDetail></ProductSupply>`,
    },
    "SupplyDetail/Price/PriceQualifier[2] 06": {
      rest:
        "<ProductSupply><SupplyDetail><Price><PriceQualifier>05</PriceQualifier><PriceQualifier>06</PriceQualifier><PriceAmount>1</PriceAmount></Price></SupplyDetail></ProductSupply>",
    },
    "TextContent/Text[2] B": {
      rest:
        "<CollateralDetail><TextContent><TextType>03</TextType><ContentAudience>00</ContentAudience><Text>A</Text><Text>B</Text></TextContent></CollateralDetail>",
    },
    "CityOfPublication[2] B": {
      rest: publishing(
        "<CityOfPublication>A</CityOfPublication><CityOfPublication>B</CityOfPublication>",
      ),
    },
  };
  for (const [says, parts] of Object.entries(cases)) {
    await t.step(says, async () => {
      const { said } = await readOf(parts);
      assertEquals(said, [`duplicate ${says}`]);
    });
  }

  await t.step("and what is wholly alike is one", async () => {
    const collection =
      "<Collection><CollectionType>10</CollectionType><TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>02</TitleElementLevel><TitleText>C</TitleText></TitleElement></TitleDetail></Collection>";
    const contributor =
      "<Contributor><ContributorRole>A01</ContributorRole><PersonName>N</PersonName></Contributor>";
    const { incoming, said } = await readOf({
      detail: collection.repeat(2) + contributor.repeat(2),
    });

    assertEquals(said, [
      "duplicate Collection[2]/TitleDetail/TitleElement/TitleText C",
      "duplicate Contributor[2] ",
    ]);
    assertEquals(incoming.linked.collections?.length, 1);
    assertEquals(incoming.linked.contributors?.length, 1);
  });

  await t.step("but no translation", async () => {
    const { said } = await readOf({
      rest: publishing(
        '<CityOfPublication language="eng">Vienna</CityOfPublication><CityOfPublication language="ger">Wien</CityOfPublication>',
      ),
    });
    assertEquals(said, []);
  });
});

Deno.test("The number in a collection is the place in the order of titles (List 197)", async () => {
  const sequences = [["01", "7"], ["02", "3"], ["03", "9"]].map((
    [type, number],
  ) =>
    `<CollectionSequence><CollectionSequenceType>${type}</CollectionSequenceType><CollectionSequenceNumber>${number}</CollectionSequenceNumber></CollectionSequence>`
  );
  const { incoming } = await readOf({
    detail: `<Collection><CollectionType>10</CollectionType>${
      sequences.join("")
    }<TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>02</TitleElementLevel><TitleText>C</TitleText></TitleElement></TitleDetail></Collection>`,
  });

  assertEquals(incoming.linked.collections?.[0]?.part_number, "3");
});

Deno.test("An unknown code is said where it stands", async (t) => {
  const contributor = (parts: string) =>
    `<Contributor>${parts}<PersonName>N</PersonName></Contributor>`;
  const cases: Record<string, { detail?: string; rest?: string }> = {
    "Contributor/ContributorRole[2] Q99": {
      detail: contributor(
        "<ContributorRole>A01</ContributorRole><ContributorRole>Q99</ContributorRole>",
      ),
    },
    "EditionType[2] ZZZ": {
      detail: "<EditionType>ABR</EditionType><EditionType>ZZZ</EditionType>",
    },
    "ProductFormDetail[1] Q999": {
      detail:
        "<ProductFormDetail>Q999</ProductFormDetail><ProductFormDetail>B105</ProductFormDetail>",
    },
    "PrimaryContentType 99": {
      detail: "<PrimaryContentType>99</PrimaryContentType>",
    },
    "Language/LanguageCode zzz": {
      detail:
        "<Language><LanguageRole>01</LanguageRole><LanguageCode>zzz</LanguageCode></Language>",
    },
    "TitleDetail[2]/TitleType 77": {
      detail:
        "<TitleDetail><TitleType>77</TitleType><TitleElement><TitleElementLevel>01</TitleElementLevel><TitleText>B</TitleText></TitleElement></TitleDetail>",
    },
    "TitleDetail[2]/TitleElement/TitleElementLevel 77": {
      detail:
        "<TitleDetail><TitleType>10</TitleType><TitleElement><TitleElementLevel>77</TitleElementLevel><TitleText>B</TitleText></TitleElement></TitleDetail>",
    },
    "Collection/TitleDetail/TitleElement/TitleElementLevel 77": {
      detail:
        "<Collection><CollectionType>10</CollectionType><TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>77</TitleElementLevel><TitleText>B</TitleText></TitleElement></TitleDetail></Collection>",
    },
    "Contributor/NameIdentifier/NameIDType 98": {
      detail: contributor(
        "<ContributorRole>A01</ContributorRole><NameIdentifier><NameIDType>98</NameIDType><IDValue>1</IDValue></NameIdentifier>",
      ),
    },
    "Publisher/PublishingRole 77": {
      rest: publishing(
        "<Publisher><PublishingRole>77</PublishingRole><PublisherName>P</PublisherName></Publisher>",
      ),
    },
    "CountryOfPublication XZ": {
      rest: publishing("<CountryOfPublication>XZ</CountryOfPublication>"),
    },
    "PublishingStatus 77": {
      rest: publishing("<PublishingStatus>77</PublishingStatus>"),
    },
    "SupplyDetail/ProductAvailability 77": {
      rest:
        "<ProductSupply><SupplyDetail><ProductAvailability>77</ProductAvailability></SupplyDetail></ProductSupply>",
    },
    "MarketPublishingDetail/MarketPublishingStatus 98": {
      rest:
        "<ProductSupply><MarketPublishingDetail><MarketPublishingStatus>98</MarketPublishingStatus></MarketPublishingDetail><SupplyDetail><ProductAvailability>20</ProductAvailability></SupplyDetail></ProductSupply>",
    },
    "Prize/PrizeCode 98": {
      rest:
        "<CollateralDetail><Prize><PrizeName>P</PrizeName><PrizeCode>98</PrizeCode></Prize></CollateralDetail>",
    },
    "RelatedWork/WorkIdentifier/WorkIDType 77": {
      rest:
        "<RelatedMaterial><RelatedWork><WorkRelationCode>01</WorkRelationCode><WorkIdentifier><WorkIDType>77</WorkIDType><IDValue>A</IDValue></WorkIdentifier></RelatedWork></RelatedMaterial>",
    },
    "SupportingResource/ResourceVersion/ResourceForm 77": {
      rest:
        "<CollateralDetail><SupportingResource><ResourceContentType>01</ResourceContentType><ContentAudience>00</ContentAudience><ResourceMode>03</ResourceMode><ResourceVersion><ResourceForm>77</ResourceForm><ResourceLink>https://a.example/1</ResourceLink></ResourceVersion></SupportingResource></CollateralDetail>",
    },
    "RelatedWork/WorkRelationCode 77": {
      rest:
        "<RelatedMaterial><RelatedWork><WorkRelationCode>77</WorkRelationCode><WorkIdentifier><WorkIDType>11</WorkIDType><IDValue>A</IDValue></WorkIdentifier></RelatedWork></RelatedMaterial>",
    },
  };
  for (const [says, parts] of Object.entries(cases)) {
    await t.step(says, async () => {
      const { said, incoming } = await readOf(parts);
      assertEquals(said, [`invalid_code ${says}`]);
      const name = says.replace(/^.*\//, "").replace(/\W.*$/, "");
      assertEquals(
        incoming.messages[0]!.message,
        `Expected a code of ONIX List ${
          Number.parseInt(dataElement(name)!.kind)
        }`,
      );
    });
  }
});

Deno.test("A code that selects what cannot be read changes nothing", async () => {
  const { incoming } = await readOf({
    rest: publishing(
      "<Publisher><PublishingRole>1</PublishingRole><PublisherName>P</PublisherName></Publisher>" +
        dated("1", "<Date>20260301</Date>"),
    ),
  });
  assertEquals(incoming.unreadable.has("publisher"), true);
  assertEquals("publisher" in incoming.linked, false);
  assertEquals("publication_date" in incoming.body, false);
});

Deno.test("Messages speak of the elements of ONIX", async () => {
  const { header, records: [record] } = await recordsOf(
    message(
      least("1", {
        detail:
          "<Subject><SubjectSchemeIdentifier>24</SubjectSchemeIdentifier><SubjectCode>A</SubjectCode></Subject><Measure><MeasureType>01</MeasureType><MeasureUnitCode>mm</MeasureUnitCode></Measure>",
        rest:
          '<ProductSupply><SupplyDetail><SupplyDate><SupplyDateRole>08</SupplyDateRole><Date dateformat="01">202601</Date></SupplyDate></SupplyDetail></ProductSupply>',
      }),
    ),
  );
  const { messages } = readRecord(record!, header);
  assertEquals(messages.map(({ code, message }) => `${code}: ${message}`), [
    "required: The code 24 of SubjectSchemeIdentifier needs a name",
    "required: Measure has no Measurement",
    "invalid_date: Expected a calendar day as YYYYMMDD",
  ]);
});

Deno.test("What is missing is told, also of what has a field of its own", async () => {
  const { said } = await readOf({
    detail:
      "<Extent><ExtentType>00</ExtentType><ExtentUnit>03</ExtentUnit></Extent>",
    rest: publishing(dated("01", "")),
  });
  assertEquals(said, [
    "required Extent/ExtentValue ",
    "required PublishingDate/Date ",
  ]);
});

Deno.test("Of an amount and a code of a price, the amount goes out, as it is read", async () => {
  const { book, received } = await readOf({
    rest:
      "<ProductSupply><SupplyDetail><UnpricedItemType>04</UnpricedItemType><Price><PriceCoded><PriceCodeType>01</PriceCodeType><PriceCode>A</PriceCode></PriceCoded><PriceAmount>9.5</PriceAmount></Price></SupplyDetail></ProductSupply>",
  });
  const sent = JSON.stringify(
    leavesOf(writeRecord(book, received, "3.1").record),
  );
  assertEquals(/PriceAmount = 9.5/.test(sent), true, sent);
  assertEquals(/PriceCoded|UnpricedItemType/.test(sent), false, sent);
});

Deno.test("A price of 0 beside a reason for no price is none", async () => {
  const { incoming, book, received } = await readOf({
    rest:
      "<ProductSupply><SupplyDetail><Price><PriceAmount>0.00</PriceAmount><UnpricedItemType>02</UnpricedItemType></Price></SupplyDetail></ProductSupply>",
  });
  assertEquals(
    /price_amount/.test(JSON.stringify(incoming.product_territories)),
    false,
  );
  const sent = JSON.stringify(
    leavesOf(writeRecord(book, received, "3.1").record),
  );
  assertEquals(/UnpricedItemType = 02/.test(sent), true, sent);
  assertEquals(/PriceAmount|UnpricedItemType = 01/.test(sent), false, sent);
});

Deno.test("A publisher without a role is told, and changes nothing", async () => {
  const { incoming, said } = await readOf({
    rest: publishing("<Publisher><PublisherName>P</PublisherName></Publisher>"),
  });
  assertEquals(said, ["required Publisher/PublishingRole "]);
  assertEquals("publisher" in incoming.linked, false);
});

Deno.test("What is missing is told beside what is read leniently", async () => {
  const { said } = await readOf({
    rest:
      "<CollateralDetail><SupportingResource><ResourceContentType>01</ResourceContentType><ContentAudience>00</ContentAudience><ResourceVersion><ResourceForm>01</ResourceForm><ResourceLink>https://a:b@c.example</ResourceLink></ResourceVersion></SupportingResource></CollateralDetail>",
  });
  assertEquals(said, [
    "required SupportingResource/ResourceMode ",
    "credentials_removed SupportingResource/ResourceVersion/ResourceLink ",
  ]);
});

Deno.test("What another calendar says is not missing, too", async () => {
  const { said } = await readOf({
    rest: publishing(dated("11", '<Date dateformat="20">14470920</Date>')),
  });
  assertEquals(said, ["other_calendar PublishingDate/Date 14470920"]);
});

Deno.test("A code twice is one", async () => {
  const { incoming, said } = await readOf({
    rest: publishing(
      "<SalesRights><SalesRightsType>01</SalesRightsType><Territory><CountriesIncluded>GB GB IE</CountriesIncluded></Territory></SalesRights>",
    ),
  });
  assertEquals(said, []);
  // deno-lint-ignore no-explicit-any
  const [{ territory }] = incoming.product_sales_rights as any[];
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
    read.messages.map(({ severity, code, path }) =>
      `${severity} ${code} ${path}`
    ),
    [
      "error no_reference /Product/RecordReference",
      "error unknown_notification /Product/NotificationType",
      "error invalid_isbn13 /Product/ProductIdentifier/IDValue",
      "error blank /Product/DescriptiveDetail/TitleDetail/TitleElement/TitleText",
    ],
  );
});

Deno.test("Single elements are said once", async () => {
  const { said, incoming } = await readOf({
    detail:
      "<NumberOfPieces>2</NumberOfPieces><BICMainSubject>FA</BICMainSubject><Subject><SubjectSchemeIdentifier>20</SubjectSchemeIdentifier><SubjectHeadingText>Salt \u0096 Pepper</SubjectHeadingText></Subject>",
  });
  assertEquals(said, [
    "onix21_element NumberOfPieces 2",
    "onix21_element BICMainSubject FA",
    "windows_1252 Subject/SubjectHeadingText Salt – Pepper",
  ]);
  assertEquals(incoming.unmapped.paths, [
    "/Product/DescriptiveDetail/NumberOfPieces",
    "/Product/DescriptiveDetail/BICMainSubject",
  ]);
});

Deno.test("An element where ONIX 2.1 had it is said", async () => {
  const { header, records: [record] } = await recordsOf(message(
    least("1", {
      rest:
        "<Language><LanguageRole>01</LanguageRole><LanguageCode>eng</LanguageCode></Language><CityOfPublication>Leith</CityOfPublication><SupplyDetail><ProductAvailability>20</ProductAvailability></SupplyDetail><Barcode><BarcodeType>10</BarcodeType></Barcode>",
    }),
  ));
  const { messages } = readRecord(record!, header);
  assertEquals(
    messages.map(({ code, path, message }) =>
      `${code} ${path} ${message.slice(0, message.indexOf(" since"))}`
    ),
    [
      "onix21_element /Product/Language Language stands in DescriptiveDetail",
      "onix21_element /Product/CityOfPublication CityOfPublication stands in PublishingDetail",
      "onix21_element /Product/SupplyDetail SupplyDetail stands in ProductSupply",
    ],
  );
});

Deno.test("An element is said without the composite that has it since", async () => {
  const { header, records: [record] } = await recordsOf(message(
    least("1", {
      detail:
        "<Contributor><ContributorRole>A01</ContributorRole><PersonName>P</PersonName><Date>1970</Date></Contributor>",
      rest:
        "<ProductSupply><SupplyDetail><SupplierName>S</SupplierName><ProductAvailability>20</ProductAvailability><Price><PriceAmount>1</PriceAmount><CountriesIncluded>GB</CountriesIncluded><Text>t</Text></Price></SupplyDetail></ProductSupply>",
    }),
  ));
  const { messages } = readRecord(record!, header);
  assertEquals(
    messages.filter(({ code }) => code === "onix21_element").map((
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
  const supply =
    "<ProductSupply><SupplyDetail><Price><PriceAmount>9.5</PriceAmount></Price></SupplyDetail></ProductSupply>";
  const { header, records } = await recordsOf(
    message(least("1", { rest: supply }) + least("2", { rest: supply })),
  );
  header.children.push(element("DefaultCurrencyCode", "EURO"));
  const said = records.flatMap((record) =>
    readRecord(record, header).messages.map(({ code, path, value }) =>
      `${code} ${path} ${value}`
    )
  );
  assertEquals(said, ["invalid_code /Header/DefaultCurrencyCode EURO"]);
});
