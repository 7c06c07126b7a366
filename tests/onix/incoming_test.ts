import { assert, assertEquals } from "@std/assert";
import { childrenOf, childValue } from "../../schema/onix/xml/element.ts";
import {
  type Incoming,
  replaceBlocks,
} from "../../schema/onix/mapping/incoming.ts";
import { BOOK, least } from "./records.ts";
import { leavesOf, message, readRecord, recordsOf } from "./support.ts";

async function incoming(record: string, header?: string): Promise<Incoming> {
  const read = await readOf(record, header);
  assert(read.kind === "record", JSON.stringify(read.messages));
  return read;
}

async function readOf(record: string, header = "") {
  const text = message(record).replace("</Header>", `${header}</Header>`);
  const { header: found, records: [product] } = await recordsOf(text);
  return readRecord(product!, found);
}

/** Codes and paths of the messages. */
function shown({ messages }: { messages: Incoming["messages"] }): string[] {
  return messages.map(({ severity, code, path }) =>
    `${severity} ${code} ${path}`
  );
}

Deno.test("A record becomes a body", async (t) => {
  const { body, linked, ...rest } = await incoming(BOOK);
  const json = JSON.parse(JSON.stringify({ body, linked, rest }));

  await t.step("with what maps straight", () => {
    assertEquals(json.body.product_form_details, ["B106"]);
    assertEquals(json.body.edition_types, ["ILL"]);
    assertEquals(json.body.edition_number, 2);
    assertEquals(json.body.city_of_publication, "Leith");
    assertEquals(json.body.country_of_publication, "GB");
    assertEquals(json.body.measures, [
      { measure_type: "01", measurement: 198, measure_unit_code: "mm" },
    ]);
    assertEquals(json.body.languages, [
      { language_role: "01", language_code: "eng" },
    ]);
    assertEquals(json.body.related_products, [{
      product_relation_codes: ["06"],
      product_identifiers: [{
        product_id_type: "15",
        id_value: "9781861972712",
      }],
    }]);
    assertEquals(json.body.related_works[0].work_relation_code, "01");
    assertEquals(json.body.edition_statement, null);
    assertEquals(json.body.epub_technical_protections, []);
  });

  await t.step("with titles, ISBNs, pages and dates", () => {
    assertEquals(json.body.title, "The Lighthouse");
    assertEquals(json.body.subtitle, "A novel");
    assertEquals(json.body.isbn13, "9780306406157");
    assertEquals(json.body.isbn10, null);
    assertEquals(json.body.product_identifiers, [
      { product_id_type: "06", id_value: "10.1000/182" },
    ]);
    assertEquals(json.body.page_count, 320);
    assertEquals(json.body.extents, [
      { extent_type: "09", extent_value: 30.5, extent_unit: "04" },
    ]);
    assertEquals(json.body.publication_date, "2026-03-01");
    assertEquals(json.body.publishing_dates, [
      { publishing_date_role: "19", date: "2020" },
    ]);
    assertEquals(json.body.audience_ranges, [{
      audience_range_qualifier: "17",
      audience_range_from: "9",
      audience_range_to: "12",
    }]);
  });

  await t.step("with collateral and the cover", () => {
    assertEquals(
      json.body.collateral.map((entry: Record<string, unknown>) =>
        entry.collateral_type
      ),
      ["text_content", "cited_content", "award"],
    );
    const [text] = json.body.collateral;
    assertEquals(text.text, "<p>Who keeps the light?</p>");
    assertEquals(text.text_format, "05");
    assertEquals(text.language, "eng");
    assertEquals(text.content_audience, ["00"]);
    assertEquals(json.body.cover_image_url, "https://covers.example/1.jpg");
  });

  await t.step("with names and codes to link", () => {
    assertEquals(json.linked.publisher, "Harbour Press");
    assertEquals(json.linked.imprint, "Beacon");
    assertEquals(json.linked.product_form, "BC");
    assertEquals(json.linked.publishing_status, "04");
    assertEquals(json.linked.product_availability, "21");
    assertEquals(json.linked.collections[0].name, "Harbour Classics");
    assertEquals(json.linked.collections[0].part_number, "2");
    assertEquals(
      json.linked.contributors.map((
        { role, contributor }: { role: string; contributor: { name: string } },
      ) => [role, contributor.name]),
      [
        ["A01", "Ada Keeper"],
        ["A12", "Ada Keeper"],
        ["B06", "Harbour Translations"],
      ],
    );
    assertEquals(
      json.linked.contributors[0].contributor.isni,
      "0000000121032683",
    );
    assertEquals(json.linked.contributors[2].contributor.is_organization, true);
  });

  await t.step("with rights and supply", () => {
    const [right, row] = json.rest.product_sales_rights;
    assertEquals(right.territory.countries_included, ["GB", "IE"]);
    assertEquals(row.is_rest_of_world, true);
    const [{ supply_details: [supply] }] = json.rest.product_territories;
    assertEquals(supply.supplier.supplier_name, "Quay Distribution");
    assertEquals(supply.prices[0].price_amount, 9.99);
    assertEquals(supply.prices[0].valid_from, "2026-03-01");
    assertEquals(supply.prices[0].taxes[0].tax_rate_code, "Z");
  });

  await t.step("and says what the record alone keeps", () => {
    assertEquals(rest.unmapped.paths.toSorted(), [
      "/Product/Barcode/BarcodeType",
      "/Product/DescriptiveDetail/Contributor/Website/WebsiteLink",
      "/Product/ProductSupply/SupplyDetail/Price/DiscountCoded/DiscountCode",
      "/Product/ProductSupply/SupplyDetail/Price/DiscountCoded/DiscountCodeType",
    ]);
  });

  await t.step("without passwords", () => {
    assertEquals(shown(rest), [
      "warning reformatted /Product/ProductIdentifier[2]/IDValue",
      "warning reformatted /Product/DescriptiveDetail/Extent[2]/ExtentValue",
      "warning credentials_removed /Product/CollateralDetail/SupportingResource/ResourceVersion/ResourceLink",
    ]);
    assert(!JSON.stringify(json).includes("secret"));
  });
});

Deno.test("A record is read leniently", async (t) => {
  await t.step(
    "an entry that the API refuses stays in the record",
    async () => {
      const read = await incoming(least("1", {
        detail:
          `<Language><LanguageRole>01</LanguageRole><LanguageCode>zzz</LanguageCode></Language>
      <Language><LanguageRole>01</LanguageRole><LanguageCode>eng</LanguageCode></Language>
      <Subject><SubjectSchemeIdentifier>23</SubjectSchemeIdentifier><SubjectCode>x</SubjectCode></Subject>
      <Measure><MeasureType>01</MeasureType><Measurement>1</Measurement><MeasureUnitCode>mm</MeasureUnitCode></Measure>
      <Measure><MeasureType>01</MeasureType><Measurement>2</Measurement><MeasureUnitCode>mm</MeasureUnitCode></Measure>`,
      }));
      assertEquals(
        shown(read),
        [
          "warning invalid_code /Product/DescriptiveDetail/Language[1]/LanguageCode",
          "warning required /Product/DescriptiveDetail/Subject/SubjectSchemeName",
          "warning duplicate /Product/DescriptiveDetail/Measure[2]/MeasureType",
        ],
      );
      assertEquals((read.body.languages as unknown[]).length, 1);
      assertEquals((read.body.measures as unknown[]).length, 1);
      assertEquals(read.body.subjects, []);
      assert(
        read.unmapped.paths.includes(
          "/Product/DescriptiveDetail/Language/LanguageCode",
        ),
      );
    },
  );

  await t.step(
    "more entries than a product has stay in the record",
    async () => {
      const subject =
        "<Subject><SubjectSchemeIdentifier>20</SubjectSchemeIdentifier><SubjectHeadingText>x</SubjectHeadingText></Subject>";
      const read = await incoming(least("1", { detail: subject.repeat(501) }));
      assertEquals((read.body.subjects as unknown[]).length, 500);
      assertEquals(shown(read), [
        "warning too_many /Product/DescriptiveDetail/Subject[501]",
      ]);
    },
  );

  await t.step("thousands of faults are a hundred warnings", async () => {
    const price = "<Price><PriceAmount>x</PriceAmount></Price>".repeat(40);
    const detail = `<SupplyDetail>${price}</SupplyDetail>`.repeat(20);
    const supply = `<ProductSupply>${detail}</ProductSupply>`.repeat(10);
    const read = await incoming(least("1", { rest: supply }));
    assertEquals(read.messages.length, 100);
    assertEquals(read.moreMessages, 7_900);
    const { supply_details } = read.product_territories![0]!;
    assertEquals(
      (supply_details as { prices: unknown[] }[]).map(({ prices }) =>
        prices.length
      ),
      Array.from({ length: 20 }, () => 0),
    );
  });

  await t.step(
    "more supply than a product has stays in the record",
    async () => {
      const price = "<Price><PriceAmount>1</PriceAmount></Price>".repeat(500);
      const detail = `<SupplyDetail>${price}</SupplyDetail>`.repeat(45);
      const rest = `<ProductSupply>${detail}</ProductSupply>`;
      const read = await incoming(least("1", { rest }));
      assertEquals(read.product_territories, undefined);
      assertEquals(shown(read), ["warning too_many /Product/ProductSupply"]);
    },
  );

  await t.step("a name that is too long stays in the record", async () => {
    const name = "x".repeat(501);
    const rest =
      `<PublishingDetail><Publisher><PublishingRole>01</PublishingRole><PublisherName>${name}</PublisherName></Publisher></PublishingDetail>`;
    const detail =
      `<Contributor><ContributorRole>A01</ContributorRole><PersonName>${name}</PersonName></Contributor>`;
    const read = await incoming(least("1", { detail, rest }));
    assertEquals("publisher" in read.linked, false);
    assertEquals(read.linked.contributors, []);
    assertEquals(shown(read), [
      "warning too_long /Product/DescriptiveDetail/Contributor/PersonName",
      "warning too_long /Product/PublishingDetail/Publisher/PublisherName",
    ]);
    assertEquals(
      read.messages.map(({ value }) => value),
      [`${"x".repeat(199)}…`, `${"x".repeat(199)}…`],
    );
    assert(
      read.unmapped.paths.includes(
        "/Product/PublishingDetail/Publisher/PublisherName",
      ),
    );
  });

  await t.step("an unknown code changes nothing", async () => {
    const read = await incoming(least("1", {
      detail: "<ProductForm>ZZ9</ProductForm>",
      rest:
        "<PublishingDetail><PublishingStatus>77</PublishingStatus></PublishingDetail>",
    }));
    assertEquals("product_form" in read.linked, false);
    assertEquals("publishing_status" in read.linked, false);
    assertEquals(shown(read), [
      "warning invalid_code /Product/DescriptiveDetail/ProductForm",
      "warning invalid_code /Product/PublishingDetail/PublishingStatus",
    ]);
    assertEquals(read.messages[1]!.value, "77");
  });

  await t.step("an imprecise date of publication is none", async () => {
    const read = await incoming(least("1", {
      rest:
        '<PublishingDetail><PublishingDate><PublishingDateRole>01</PublishingDateRole><Date dateformat="01">202603</Date></PublishingDate></PublishingDetail>',
    }));
    assertEquals(read.body.publication_date, null);
    assertEquals(read.body.publishing_dates, [
      { publishing_date_role: "01", date: "2026-03" },
    ]);
    assertEquals(shown(read), [
      "warning imprecise_date /Product/PublishingDetail/PublishingDate/Date",
    ]);
  });

  await t.step("the header's defaults count", async () => {
    const record = least("1", {
      rest:
        "<ProductSupply><SupplyDetail><Price><PriceAmount>30,80</PriceAmount></Price></SupplyDetail></ProductSupply>",
    });
    const defaults =
      "<DefaultLanguageOfText>fre</DefaultLanguageOfText><DefaultPriceType>02</DefaultPriceType><DefaultCurrencyCode>EUR</DefaultCurrencyCode>";
    const read = JSON.parse(JSON.stringify(await incoming(record, defaults)));
    assertEquals(read.body.languages, [
      { language_role: "01", language_code: "fre" },
    ]);
    const [price] = read.product_territories[0].supply_details[0].prices;
    assertEquals(
      [price.price_type, price.price_amount, price.currency_code],
      ["02", 30.8, "EUR"],
    );
  });
});

Deno.test("A record is rejected for its own faults", async () => {
  const isbn =
    "<ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780306406158</IDValue></ProductIdentifier>";
  const cases: Record<string, string> = {
    "error invalid_isbn13 /Product/ProductIdentifier/IDValue": least("1", {
      rest: isbn,
    }),
    "error no_title /Product/DescriptiveDetail/TitleDetail": least("1", {
      title: "",
    }),
    "error no_reference /Product/RecordReference": least(""),
    "error too_long /Product/RecordReference": least("x".repeat(501)),
    "error unknown_notification /Product/NotificationType": least("1", {
      type: "08",
    }),
  };
  for (const [expected, record] of Object.entries(cases)) {
    const read = await readOf(record);
    assertEquals(read.kind, "rejected", expected);
    assertEquals(shown(read), [expected]);
  }
});

Deno.test("A partial update", async (t) => {
  const update =
    `<Product><RecordReference>harbour.example.1</RecordReference><NotificationType>04</NotificationType><ProductSupply><MarketReference>UK</MarketReference><SupplyDetail><ProductAvailability>40</ProductAvailability></SupplyDetail></ProductSupply></Product>`;

  await t.step("has the fields of its blocks alone", async () => {
    const read = await incoming(update);
    assertEquals(read.blocks, ["ProductSupply"]);
    assertEquals(read.byMarketReference, true);
    assertEquals(read.body, {});
    assertEquals(Object.keys(read.linked), ["product_availability"]);
    assertEquals(read.product_sales_rights, undefined);
  });

  await t.step("replaces its blocks in the record", async () => {
    const { records: [book, change] } = await recordsOf(
      message(BOOK, update),
    );
    const after = replaceBlocks(book!, change!);
    assertEquals(childValue(after, "NotificationType"), "03");
    assertEquals(
      childrenOf(after, "ProductSupply").map((supply) =>
        childValue(supply, "MarketReference")
      ),
      [undefined, "UK"],
    );
    const again = replaceBlocks(after, change!);
    assertEquals(leavesOf(again), leavesOf(after));
  });
});
