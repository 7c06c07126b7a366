import { assert, assertEquals } from "@std/assert";
import { childrenOf, childValue } from "../../features/onix/schema/xml/element.ts";
import type { ContributorRow } from "../../features/onix/schema/mapping/contributors.ts";
import { replaceBlocks } from "../../features/onix/schema/doors/stored_record.ts";
import { BOOK, least, leastWith, xml } from "./records.ts";
import { leavesOf, message, readRecord, type RecordContent, recordsOf } from "./support.ts";

async function incoming(record: string, header?: string): Promise<RecordContent> {
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
function shown({ messages }: { messages: RecordContent["messages"] }): string[] {
  return messages.map(({ severity, code, path }) => `${severity} ${code} ${path}`);
}

/** Asserts that an object has these values, whatever else it has. */
function assertSays(object: object, values: Record<string, unknown>): void {
  const own = Object.entries(object).filter(([name]) => name in values);
  assertEquals(Object.fromEntries(own), values);
}

Deno.test("A record is read", async (t) => {
  const { values, ...rest } = await incoming(BOOK);
  const json = JSON.parse(JSON.stringify(values));

  await t.step("with what maps straight", () => {
    assertSays(json, {
      product_form_details: ["B106"],
      edition_types: ["ILL"],
      edition_number: 2,
      city_of_publication: "Leith",
      country_of_publication: "GB",
      measures: [
        { measure_type: "01", measurement: 198, measure_unit_code: "mm" },
      ],
      languages: [{ language_role: "01", language_code: "eng" }],
      related_products: [{
        product_relation_codes: ["06"],
        product_identifiers: [
          { product_id_type: "15", id_value: "9781861972712" },
        ],
      }],
    });
    assertEquals(json.related_works[0].work_relation_code, "01");
  });

  await t.step("with titles, ISBNs, pages and dates", () => {
    assertSays(json, {
      title: "The Lighthouse",
      subtitle: "A novel",
      isbn13: "9780306406157",
      product_identifiers: [{ product_id_type: "06", id_value: "10.1000/182" }],
      page_count: 320,
      extents: [{ extent_type: "09", extent_value: 30.5, extent_unit: "04" }],
      publication_date: "2026-03-01",
      publishing_dates: [{ publishing_date_role: "19", date: "2020" }],
      audience_ranges: [{
        audience_range_qualifier: "17",
        audience_range_from: "9",
        audience_range_to: "12",
      }],
    });
  });

  await t.step("with collateral and the cover", () => {
    const [text, citation, prize] = [
      json.text_content[0],
      json.cited_content[0],
      json.award[0],
    ];
    assertSays(text, {
      collateral_type: "text_content",
      text: "<p>Who keeps the light?</p>",
      text_format: "05",
      language: "eng",
      content_audience: ["00"],
    });
    assertEquals(citation.collateral_type, "cited_content");
    assertEquals(prize.collateral_type, "award");
    assertEquals(json.cover_image_url, "https://covers.example/1.jpg");
  });

  await t.step("with names and codes to link", () => {
    const { contributors, collections } = json;
    assertSays(json, {
      publisher: "Harbour Press",
      imprint: "Beacon",
      product_form: "BC",
      publishing_status: "04",
      product_availability: "21",
    });
    assertSays(collections[0], { name: "Harbour Classics", part_number: "2" });
    const [author, , translator] = contributors;
    assertEquals(
      values.contributors.map(({ role, name }: ContributorRow) => [role, name]),
      [
        ["A01", "Ada Keeper"],
        ["A12", "Ada Keeper"],
        ["B06", "Harbour Translations"],
      ],
    );
    assertEquals(author.isni, "0000000121032683");
    assertEquals(translator.is_organization, true);
  });

  await t.step("with rights and supply", () => {
    const [right, row] = json.product_sales_rights;
    assertEquals(right.territory.countries_included, ["GB", "IE"]);
    assertEquals(row.is_rest_of_world, true);
    const [{ supply_details: [supply] }] = json.product_territories;
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
      const read = await incoming(leastWith(
        "Language(LanguageRole=01 LanguageCode=zzz) Language(LanguageRole=01 LanguageCode=eng)",
        "Subject(SubjectSchemeIdentifier=23 SubjectCode=x)",
        ...[1, 2].map((size) => `Measure(MeasureType=01 Measurement=${size} MeasureUnitCode=mm)`),
      ));
      assertEquals(shown(read), [
        "warning invalid_code /Product/DescriptiveDetail/Language[1]/LanguageCode",
        "warning required /Product/DescriptiveDetail/Subject/SubjectSchemeName",
        "warning duplicate /Product/DescriptiveDetail/Measure[2]/MeasureType",
      ]);
      assertEquals(read.values.languages.length, 1);
      assertEquals(read.values.measures.length, 1);
      assertEquals(read.values.subjects, []);
      const path = "/Product/DescriptiveDetail/Language/LanguageCode";
      assert(read.unmapped.paths.includes(path));
    },
  );

  await t.step(
    "more entries than a product has stay in the record",
    async () => {
      const entries: Record<string, (i: number) => string> = {
        Subject: () => "Subject(SubjectSchemeIdentifier=20 SubjectHeadingText=x)",
        Contributor: (i) => `Contributor(ContributorRole=A01 PersonName="Name ${i}")`,
      };
      for (const [name, entry] of Object.entries(entries)) {
        const all = Array.from({ length: 501 }, (_, i) => entry(i));
        const most = await incoming(leastWith(...all.slice(1)));
        const more = await incoming(leastWith(...all));
        assertEquals(shown(most), []);
        assertEquals(more.values[`${name.toLowerCase()}s`].length, 500);
        assertEquals(shown(more), [
          `warning too_many /Product/DescriptiveDetail/${name}[501]`,
        ]);
      }
    },
  );

  await t.step("more rights than a product has stay in the record together", async () => {
    const right = (publisher: unknown) =>
      `SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB) PublisherName=${publisher})`;
    const rights = (count: number, first = "Press") =>
      right(first) + Array.from({ length: count - 1 }, (_, i) => right(i)).join("");
    const rest = "ROWSalesRightsType=03";
    const cases: [form: string, read: number | undefined, ...faults: string[]][] = [
      [rights(500), 500],
      [rights(499) + rest, 500],
      [rights(501), undefined, "too_many SalesRights[501]"],
      [rights(500) + rest, undefined, "too_many ROWSalesRightsType"],
      [
        rights(501, "x".repeat(2_001)),
        undefined,
        "too_long SalesRights[1]/PublisherName",
        "too_many SalesRights[501]",
      ],
    ];
    for (const [form, read, ...faults] of cases) {
      const { values, unmapped, ...rest } = await incoming(leastWith(`PublishingDetail(${form})`));
      assertEquals(values.product_sales_rights?.length, read, faults.join());
      assertEquals(
        shown(rest),
        faults.map((fault) => `warning ${fault.replace(" ", " /Product/PublishingDetail/")}`),
      );
      const kept = unmapped.paths.filter((path) => path.includes("SalesRights"));
      assertEquals(kept.length > 0, read === undefined, faults.join());
    }
  });

  await t.step("all collateral is one array of a product", async () => {
    const texts = "TextContent(TextType=03 ContentAudience=00 Text=x)".repeat(
      300,
    );
    const citations = "CitedContent(CitedContentType=01 SourceTitle=x)".repeat(
      201,
    );
    const read = await incoming(
      leastWith(`CollateralDetail(${texts}${citations})`),
    );
    assertEquals(read.values.text_content.length, 300);
    assertEquals(read.values.cited_content.length, 200);
    assertEquals(shown(read), [
      "warning too_many /Product/CollateralDetail/CitedContent[201]",
    ]);
  });

  await t.step("a GTIN is an ISBN if it is that of a book", async () => {
    for (
      const [gtin, isbn13, others] of [
        ["9780306406157", "9780306406157", []],
        ["5012345678900", undefined, [
          { product_id_type: "03", id_value: "5012345678900" },
        ]],
      ] as const
    ) {
      const rest = xml(`ProductIdentifier(ProductIDType=03 IDValue=${gtin})`);
      const { values } = await incoming(least("1", { rest }));
      assertEquals(values.isbn13, isbn13);
      assertEquals(values.product_identifiers, others);
    }
  });

  await t.step("thousands of faults are a hundred warnings", async () => {
    const prices = "Price(PriceAmount=x)".repeat(40);
    const details = `SupplyDetail(${prices})`.repeat(20);
    const read = await incoming(
      leastWith(`ProductSupply(${details})`.repeat(10)),
    );
    assertEquals(read.messages.length, 100);
    assertEquals(read.moreMessages, 7_900);
    const { supply_details } = read.values.product_territories[0];
    assertEquals(
      (supply_details as { prices: unknown[] }[]).map(({ prices }) => prices.length),
      Array.from({ length: 20 }, () => 0),
    );
  });

  await t.step(
    "more supply than a product has stays in the record",
    async () => {
      // In short tags, a record can have as many.
      const price = `price(j151=1 j152=GBP ${"tax(x472=5)".repeat(500)})`;
      const details = `SupplyDetail(${price.repeat(40)})`;
      const read = await incoming(leastWith(`ProductSupply(${details})`));
      assertEquals(read.values.product_territories, undefined);
      assertEquals(shown(read), ["warning too_many /Product/ProductSupply"]);
    },
  );

  await t.step("a name that is too long stays in the record", async () => {
    const name = "x".repeat(501);
    const read = await incoming(leastWith(
      `Contributor(ContributorRole=A01 PersonName=${name})`,
      `PublishingDetail(Publisher(PublishingRole=01 PublisherName=${name}))`,
    ));
    assert(read.reader.unreadableFields.has("publisher"));
    assertEquals(read.values.contributors, []);
    assertEquals(shown(read), [
      "warning too_long /Product/DescriptiveDetail/Contributor/PersonName",
      "warning too_long /Product/PublishingDetail/Publisher/PublisherName",
    ]);
    const excerpt = `${"x".repeat(199)}…`;
    assertEquals(read.messages.map(({ value }) => value), [excerpt, excerpt]);
    const path = "/Product/PublishingDetail/Publisher/PublisherName";
    assert(read.unmapped.paths.includes(path));
  });

  await t.step("an unknown code changes nothing", async () => {
    const read = await incoming(leastWith(
      "ProductForm=ZZ9",
      "PublishingDetail(PublishingStatus=77)",
    ));
    assertEquals([...read.reader.unreadableFields], ["product_form", "publishing_status"]);
    assertEquals(shown(read), [
      "warning invalid_code /Product/DescriptiveDetail/ProductForm",
      "warning invalid_code /Product/PublishingDetail/PublishingStatus",
    ]);
    assertEquals(read.messages[1]!.value, "77");
  });

  await t.step("an imprecise date of publication is none", async () => {
    const read = await incoming(leastWith(
      "PublishingDetail(PublishingDate(PublishingDateRole=01 Date[dateformat=01]=202603))",
    ));
    assertEquals(read.values.publication_date, undefined);
    assertEquals(read.values.publishing_dates, [
      { publishing_date_role: "01", date: "2026-03" },
    ]);
    assertEquals(shown(read), [
      "warning imprecise_date /Product/PublishingDetail/PublishingDate/Date",
    ]);
  });

  await t.step("the header's defaults count", async () => {
    const read = JSON.parse(JSON.stringify(
      await incoming(
        leastWith(
          "ProductSupply(SupplyDetail(Price(PriceAmount=30,80)))",
        ),
        xml(
          "DefaultLanguageOfText=fre DefaultPriceType=02 DefaultCurrencyCode=EUR",
        ),
      ),
    ));
    assertEquals(read.values.languages, [
      { language_role: "01", language_code: "fre" },
    ]);
    const [price] = read.values.product_territories[0].supply_details[0].prices;
    assertSays(price, {
      price_type: "02",
      price_amount: 30.8,
      currency_code: "EUR",
    });
  });
});

Deno.test("A URL loses all that stands before its host", async () => {
  const cases = {
    "https://me@example.org/1.jpg": "https://example.org/1.jpg",
    "https://me:secret@example.org/1.jpg": "https://example.org/1.jpg",
    "https://me:sec@ret@example.org/1.jpg": "https://example.org/1.jpg",
    "https://example.org/@me/1.jpg": "https://example.org/@me/1.jpg",
    "https://example.org?to=me@example.org": "https://example.org?to=me@example.org",
  };
  for (const [url, stored] of Object.entries(cases)) {
    const { values } = await incoming(leastWith(
      `CollateralDetail(SupportingResource(ResourceContentType=01 ContentAudience=00 ResourceMode=03 ResourceVersion(ResourceForm=02 ResourceLink=${url})))`,
    ));
    assertEquals(values.cover_image_url, stored);
  }
});

Deno.test("A record is rejected for its own faults", async () => {
  const isbn = "ProductIdentifier(ProductIDType=15 IDValue=9780306406158)";
  const cases: Record<string, string> = {
    "invalid_isbn13 /ProductIdentifier/IDValue": least("1", {
      rest: xml(isbn),
    }),
    "no_title /DescriptiveDetail/TitleDetail": least("1", { title: "" }),
    "no_reference /RecordReference": least(""),
    "too_long /RecordReference": least("x".repeat(501)),
    "unknown_notification /NotificationType": least("1", { type: "08" }),
  };
  for (const [expected, record] of Object.entries(cases)) {
    const read = await readOf(record);
    assertEquals(read.kind, "rejected", expected);
    assertEquals(shown(read), [`error ${expected.replace(" ", " /Product")}`]);
  }
});

Deno.test("A record that is no deletion has no reason for one", async () => {
  const reason = "<DeletionText>Sent by mistake</DeletionText>";
  for (const type of ["03", "05"]) {
    const text = least("1", { type })
      .replace("</NotificationType>", `$&${reason}`);

    assertEquals(
      shown(await readOf(text)),
      type === "05" ? [] : ["warning unexpected_deletion_text /Product/DeletionText"],
    );
  }
});

Deno.test("A partial update", async (t) => {
  const update = xml(
    "Product(RecordReference=harbour.example.1 NotificationType=04 ProductSupply(MarketReference=UK SupplyDetail(ProductAvailability=40)))",
  );

  await t.step("has the fields of its blocks alone", async () => {
    const read = await incoming(update);
    assertEquals(read.blocks, ["ProductSupply"]);
    const fields = Object.entries(read.values).filter(([, value]) =>
      Array.isArray(value) ? value.length > 0 : value !== undefined
    );
    assertEquals(fields.map(([name]) => name), [
      "product_territories",
      "product_availability",
    ]);
  });

  await t.step("replaces its blocks in the record", async () => {
    const { records: [book, change] } = await recordsOf(
      message(BOOK, update),
    );
    const after = replaceBlocks(book!, change!);
    assertEquals(childValue(after, "NotificationType"), "03");
    assertEquals(
      childrenOf(after, "ProductSupply").map((supply) => childValue(supply, "MarketReference")),
      [undefined, "UK"],
    );
    const again = replaceBlocks(after, change!);
    assertEquals(leavesOf(again), leavesOf(after));
  });
});
