import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { deletionRecord } from "../../features/onix/schema/doors/outgoing.ts";
import { fromStored } from "../../features/onix/schema/xml/read.ts";
import { toStored } from "../../features/onix/schema/xml/write.ts";
import {
  type Release,
  RELEASES,
  TAGS,
  type Tags,
} from "../../features/onix/schema/rules/releases.ts";
import type { Element } from "../../features/onix/schema/xml/element.ts";
import { BOOK, least, leastWith, xml } from "./records.ts";
import { faultsOf, HAS_SCHEMAS } from "./schemas.ts";
import {
  differences,
  type Imported,
  imported,
  leavesOf,
  message,
  notSentOf,
  readRecord,
  recordsOf,
  valuesOf,
  without,
  writeRecord,
  written,
} from "./support.ts";
import type { Book } from "../../features/onix/schema/mapping/mapped.ts";

/** Asserts that a message with the record is valid, and returns it. */
async function assertValid(
  records: Element[],
  release: Release = "3.1",
  tags: Tags = "reference",
): Promise<string> {
  const text = await written(records, release, tags);
  if (HAS_SCHEMAS) assertEquals(await faultsOf(text, release, tags), "");
  return text;
}

async function importedFrom(record: string): Promise<Imported> {
  const { header, records: [product] } = await recordsOf(message(record));
  return imported(product!, header);
}

type Fields = Record<string, unknown>;

/** What a change of the product takes from its record, and adds to it. */
async function changed(
  record: string,
  change: (product: Fields, book: Book) => void,
  release: Release = "3.1",
) {
  const { book, received } = await importedFrom(record);
  const before = writeRecord(book, received, release);
  const now = structuredClone(book);
  change(now.product, now);
  const { record: after, notSent } = writeRecord(now, received, release);
  await assertValid([after], release);
  const [old, is] = [leavesOf(before.record), leavesOf(after)];
  return { gone: without(old, is), added: without(is, old), notSent };
}

// deno-lint-ignore no-explicit-any
type Any = any;

/** The same JSON with the names of objects in reverse. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).reverse().map(([name, inner]) => [
      name,
      reordered(inner),
    ]),
  );
}

Deno.test("A record goes out as it came", async (t) => {
  const { book, received } = await importedFrom(BOOK);

  for (const release of RELEASES) {
    await t.step(`in release ${release}`, async () => {
      const { record, notSent } = writeRecord(book, received, release);
      assertEquals(notSent.paths, []);
      const bare = "/Product/ProductIdentifier/IDValue = 9780306406157";
      assertEquals(without(leavesOf(record), leavesOf(received.record)), [
        "/Product/DescriptiveDetail/Extent/ExtentValue = 30.5",
        bare,
      ]);
      for (const tags of TAGS) {
        const text = await assertValid([record], release, tags);
        const { records: [read] } = await recordsOf(text);
        assertEquals(leavesOf(read!), leavesOf(record));
      }
    });
  }

  await t.step("with the line breaks of plain texts alone", async () => {
    const text = (text: string) =>
      `<CollateralDetail><TextContent><TextType>03</TextType><ContentAudience>00</ContentAudience><Text>${text}</Text></TextContent></CollateralDetail>`;
    const { book, incoming, received } = await importedFrom(
      least("1", { title: " A\n title ", rest: text(" One.\n\n Two.  ") }),
    );
    const stored = fromStored(toStored(received.record));
    const { record } = writeRecord(
      book,
      { ...received, record: stored },
      "3.1",
    );
    assertEquals(incoming.values.title, "A title");
    assertStringIncludes(leavesOf(record).join(), "TitleText = A title");
    const sent = await assertValid([record]);
    assertStringIncludes(sent, "<Text>One.\n\n Two.</Text>");
  });

  await t.step("and is stored as it is", () => {
    const text = toStored(received.record);
    assertEquals(toStored(fromStored(text)), text);
    assertEquals(leavesOf(fromStored(text)), leavesOf(received.record));
  });
});

Deno.test("A changed value changes its element alone", async (t) => {
  await t.step("the title", async () => {
    const { gone, added } = await changed(BOOK, (product) => {
      product.title = "Lighthouses";
    });
    const path = "/Product/DescriptiveDetail/TitleDetail/TitleElement";
    assertEquals(gone, [
      `${path}/TitlePrefix = The`,
      `${path}/TitleWithoutPrefix = Lighthouse`,
    ]);
    assertEquals(added, [`${path}/TitleText = Lighthouses`]);
  });

  await t.step("a contributor's name and note", async () => {
    const { gone, added } = await changed(BOOK, (product: Any, book: Any) => {
      for (const row of product.contributors.slice(0, 2)) {
        row.contributor_name = "A. Keeper";
      }
      Object.assign(book.contributors["Ada Keeper"], {
        name: "A. Keeper",
        biographical_note: null,
      });
    });
    const path = "/Product/DescriptiveDetail/Contributor";
    assertEquals(gone, [
      `${path}/BiographicalNote = <p>Lives by the <em>sea</em>.</p>`,
      // The new name has no such word.
      `${path}/NamesBeforeKey = Ada`,
      `${path}/PersonName = Ada Keeper`,
    ]);
    assertEquals(added, [`${path}/PersonName = A. Keeper`]);
  });

  await t.step("a role, an entry more, an entry less", async () => {
    const { gone, added } = await changed(BOOK, (product: Any) => {
      product.contributors.splice(1, 1);
      product.languages.push({ language_role: "02", language_code: "fre" });
      product.subjects.shift();
    });
    const path = "/Product/DescriptiveDetail";
    assertEquals(gone, [
      `${path}/Contributor/ContributorRole = A12`,
      `${path}/Subject/MainSubject = `,
      `${path}/Subject/SubjectCode = FBA`,
      `${path}/Subject/SubjectSchemeIdentifier = 93`,
    ]);
    assertEquals(added, [
      `${path}/Language/LanguageCode = fre`,
      `${path}/Language/LanguageRole = 02`,
    ]);
  });

  await t.step("the scalars", async () => {
    const { gone, added } = await changed(BOOK, (product) => {
      Object.assign(product, {
        isbn13: "9781861972712",
        page_count: null,
        publication_date: "2026-04-01",
        publishing_status_code: "07",
        publisher_name: "Quay Press",
        edition_number: 3,
        subtitle: null,
      });
    });
    assertEquals(gone, [
      "/Product/DescriptiveDetail/EditionNumber = 2",
      "/Product/DescriptiveDetail/Extent/ExtentType = 00",
      "/Product/DescriptiveDetail/Extent/ExtentUnit = 03",
      "/Product/DescriptiveDetail/Extent/ExtentValue = 320",
      "/Product/DescriptiveDetail/TitleDetail/TitleElement/Subtitle = A novel",
      "/Product/ProductIdentifier/IDValue = 9780306406157",
      "/Product/ProductIdentifier/IDValue = 9780306406157",
      "/Product/PublishingDetail/Publisher/PublisherName = Harbour Press",
      "/Product/PublishingDetail/PublishingDate/Date = 20260301",
      "/Product/PublishingDetail/PublishingStatus = 04",
    ]);
    assertEquals(added, [
      "/Product/DescriptiveDetail/EditionNumber = 3",
      "/Product/ProductIdentifier/IDValue = 9781861972712",
      "/Product/ProductIdentifier/IDValue = 9781861972712",
      "/Product/PublishingDetail/Publisher/PublisherName = Quay Press",
      "/Product/PublishingDetail/PublishingDate/Date = 20260401",
      "/Product/PublishingDetail/PublishingStatus = 07",
    ]);
  });

  await t.step(
    "what a linked record said otherwise stays the record's",
    async () => {
      const { header, records: [product] } = await recordsOf(message(BOOK));
      const { book, received: { record } } = imported(product!, header);
      const found: Any = structuredClone(book);
      // The contributor was found by ISNI, under another name.
      for (const row of found.product.contributors.slice(0, 2)) {
        row.contributor_name = "Keeper, Ada";
      }
      found.contributors["Ada Keeper"].name = "Keeper, Ada";
      const received = {
        record,
        // PostgreSQL stores an object's names in another order.
        differences: reordered(differences(found, valuesOf(record))) as Any,
      };
      const same = writeRecord(found, received, "3.1");
      assertEquals(
        leavesOf(same.record),
        leavesOf(
          writeRecord(
            book,
            { record, differences: null },
            "3.1",
          ).record,
        ),
      );
      found.contributors["Ada Keeper"].biographical_note = "New";
      const after = leavesOf(writeRecord(found, received, "3.1").record);
      assertEquals(without(after, leavesOf(same.record)), [
        "/Product/DescriptiveDetail/Contributor/BiographicalNote = New",
      ]);
    },
  );

  await t.step("also after one that the record has twice", async () => {
    const twice = "Contributor(ContributorRole=A01 PersonName=Ada)".repeat(2);
    const { book, received } = await importedFrom(
      leastWith(`${twice} Contributor(ContributorRole=A01 PersonName=Bo)`),
    );
    const now: Any = structuredClone(book);
    now.contributors.Bo.biographical_note = "New";
    const text = await assertValid([writeRecord(now, received, "3.1").record]);
    assertMatch(text, /Bo<\/PersonName>\s*<BiographicalNote>New/);
  });

  await t.step("without the source and the date of the old one", async () => {
    const { book, received } = await importedFrom(least("1", {
      detail:
        '<Extent sourcename="Shop" datestamp="20260101"><ExtentType>00</ExtentType><ExtentValue>10</ExtentValue><ExtentUnit>03</ExtentUnit></Extent>',
    }));
    const now = structuredClone(book);
    now.product.page_count = 12;
    const text = await assertValid([writeRecord(now, received, "3.1").record]);
    assertMatch(text, /<Extent>\s*<ExtentType>00<\/ExtentType>\s*<ExtentValue>12</);
  });
});

/** Composites with numbers, a change of their order in the product, and then the text of each with its number. */
const NUMBERED: Record<
  string,
  [record: string, change: (product: Any) => void, element: string, then: string[]]
> = {
  "texts in another order": [
    "CollateralDetail(TextContent(SequenceNumber=1 TextType=06 ContentAudience=00 Text=A) TextContent(SequenceNumber=2 TextType=06 ContentAudience=00 Text=B))",
    (product) => product.collateral.reverse(),
    "TextContent",
    ["1 B", "2 A"],
  ],
  "prizes without the first": [
    "CollateralDetail(Prize(SequenceNumber=1 PrizeName=A) Prize(SequenceNumber=2 PrizeName=B))",
    (product) => product.collateral.shift(),
    "Prize",
    ["1 B"],
  ],
  "citations with a new one": [
    "CollateralDetail(CitedContent(SequenceNumber=1 CitedContentType=01 SourceTitle=A) CitedContent(SequenceNumber=2 CitedContentType=01 SourceTitle=B))",
    (product) =>
      product.collateral.unshift({
        collateral_type: "cited_content",
        cited_content_type: "01",
        source_title: "C",
      }),
    "CitedContent",
    ["1 C", "2 A", "3 B"],
  ],
  "files in another order": [
    `CollateralDetail(${
      ["https://files.example/A", "https://files.example/B"].map((link, i) =>
        `SupportingResource(SequenceNumber=${
          i + 1
        } ResourceContentType=15 ContentAudience=00 ResourceMode=03 ResourceVersion(ResourceForm=02 ResourceLink=${link}))`
      ).join(" ")
    })`,
    (product) => product.supporting_resources.reverse(),
    "SupportingResource",
    ["1 https://files.example/B", "2 https://files.example/A"],
  ],
  "a new cover": [
    "CollateralDetail(SupportingResource(SequenceNumber=1 ResourceContentType=15 ContentAudience=00 ResourceMode=03 ResourceVersion(ResourceForm=02 ResourceLink=A)))",
    (product) => product.cover_image_url = "https://covers.example/1.jpg",
    "SupportingResource",
    ["1 A", "2 https://covers.example/1.jpg"],
  ],
  "a cover before one that cannot be read": [
    `CollateralDetail(${
      ["file.jpg", "https://covers.example/9.jpg"].map((link, i) =>
        `SupportingResource(SequenceNumber=${
          i + 1
        } ResourceContentType=01 ContentAudience=00 ResourceMode=03 ResourceVersion(ResourceForm=${
          i === 0 ? "02" : "99"
        } ResourceLink=${link}))`
      ).join(" ")
    })`,
    (product) => product.cover_image_url = "https://covers.example/1.jpg",
    "SupportingResource",
    ["1 https://covers.example/1.jpg", "2 file.jpg"],
  ],
};

Deno.test("Numbers follow the order of what they number", async (t) => {
  for (const [name, [rest, change, element, then]] of Object.entries(NUMBERED)) {
    await t.step(name, async () => {
      const { book, received } = await importedFrom(least("1", { rest: xml(rest) }));
      change(book.product);
      const text = await assertValid([writeRecord(book, received, "3.1").record]);
      const all = text.match(new RegExp(`<${element}>.*?</${element}>`, "gs")) ?? [];
      assertEquals(
        all.map((one) =>
          [
            /<SequenceNumber>(\d+)/.exec(one)?.[1],
            /<(?:Text|PrizeName|SourceTitle|ResourceLink)>([^<]*)/.exec(one)?.[1],
          ].join(" ")
        ),
        then,
      );
    });
  }
});

Deno.test("References of events follow their contributors", async (t) => {
  const ids = ["0000000471000016", "0000000471000024"];
  const identifier = (id?: string) => `NameIdentifier(NameIDType=16 IDValue=${id})`;
  const people = ids.map((id, i) =>
    `Contributor(SequenceNumber=${i + 1} ContributorRole=A01 ${identifier(id)} PersonName=P${
      i + 1
    })`
  ).join(" ");
  const event = (references: string) =>
    `PromotionDetail(PromotionalEvent(EventType=02 ContentAudience=00 EventName=Evening ${references} EventOccurrence(OccurrenceDate(OccurrenceDateRole=01 Date=20270115) EventStatus=A)))`;
  const second = `ContributorReference(SequenceNumber=2 ContributorRole=A01 ${identifier(ids[1])})`;
  const statement = "ContributorStatement=P2";
  const referencesAfter = async (
    references: string,
    change: (product: Any, book: Any) => void,
  ) => {
    const { book, received } = await importedFrom(
      least("1", { detail: xml(people), rest: xml(event(references)) }),
    );
    change(book.product, book);
    const { record } = writeRecord(book, received, "3.1");
    await assertValid([record]);
    return leavesOf(record).filter((leaf) => /ContributorReference|Event\/Contri/.test(leaf))
      .map((leaf) => leaf.replace(/.*\/(\w+) = /, "$1 "));
  };
  const named = (number: number, role: string, id?: string) => [
    `ContributorRole ${role}`,
    `IDValue ${id}`,
    "NameIDType 16",
    `SequenceNumber ${number}`,
  ];

  await t.step("whose numbers change", async () => {
    const after = await referencesAfter(
      `${second} ${statement}`,
      ({ contributors }) => contributors.reverse(),
    );
    assertEquals(after, [...named(1, "A01", ids[1]), "ContributorStatement P2"]);
  });

  await t.step("whose roles and identifiers change", async () => {
    const after = await referencesAfter(second, ({ contributors }, book) => {
      contributors[1].contributor_role_code = "B01";
      book.contributors.P2.isni = "0000000121032683";
    });
    assertEquals(after, named(2, "B01", "0000000121032683"));
  });

  await t.step("that are gone, and with them the statement that names them", async () => {
    const after = await referencesAfter(
      `${second} ${statement}`,
      ({ contributors }) => contributors.pop(),
    );
    assertEquals(after, []);
  });

  await t.step("whose names change, and with them the statement", async () => {
    const after = await referencesAfter(
      `${second} ${statement}`,
      ({ contributors }, book) => {
        contributors[1].contributor_name = book.contributors.P2.name = "Paula";
      },
    );
    assertEquals(after, named(2, "A01", ids[1]));
  });

  await t.step("that have no number", async () => {
    const after = await referencesAfter(
      second.replace("SequenceNumber=2 ", ""),
      ({ contributors }) => contributors.shift(),
    );
    assertEquals(after, named(0, "A01", ids[1]).slice(0, 3));
  });

  await t.step("unless they name none", async () => {
    const after = await referencesAfter(
      second.replace("SequenceNumber=2", "SequenceNumber=7"),
      ({ contributors }) => contributors.reverse(),
    );
    assertEquals(after, named(0, "A01", ids[1]).slice(0, 3));
  });
});

Deno.test("An audience of either form is one of the product", async (t) => {
  const codesIn = (record: Element) =>
    leavesOf(record).filter((leaf) => /AudienceCode(Value)? = /.test(leaf))
      .map((leaf) => leaf.replace(/.*\//, ""));
  // deno-fmt-ignore
  const cases: Record<string, [detail: string, read: string[], edit: string[], in30: string[], in31: string[]]> = {
    "as a code": ["AudienceCode=02", ["02"], ["02"], ["AudienceCode = 02"], ["AudienceCodeValue = 02"]],
    "as a code that is replaced": ["AudienceCode=02", ["02"], ["05"], ["AudienceCodeValue = 05"], ["AudienceCodeValue = 05"]],
    "as a code that is removed": ["AudienceCode=02", ["02"], [], [], []],
    "as two codes, of which one is removed": ["AudienceCode=02 AudienceCode=03", ["02", "03"], ["03"], ["AudienceCodeValue = 03"], ["AudienceCodeValue = 03"]],
    "in both forms": ["AudienceCode=02 Audience(AudienceCodeType=01 AudienceCodeValue=02)", ["02"], ["02"], ["AudienceCodeValue = 02", "AudienceCode = 02"], ["AudienceCodeValue = 02"]],
    "in both forms, replaced": ["AudienceCode=02 Audience(AudienceCodeType=01 AudienceCodeValue=02)", ["02"], ["05"], ["AudienceCodeValue = 05"], ["AudienceCodeValue = 05"]],
    "in both forms, of which another is added": ["AudienceCode=02 Audience(AudienceCodeType=01 AudienceCodeValue=03)", ["02", "03"], ["02", "03", "05"], ["AudienceCodeValue = 02", "AudienceCodeValue = 03", "AudienceCodeValue = 05"], ["AudienceCodeValue = 02", "AudienceCodeValue = 03", "AudienceCodeValue = 05"]],
  };
  for (const [name, [detail, read, edit, in30, in31]] of Object.entries(cases)) {
    await t.step(name, async () => {
      const { book, received, incoming } = await importedFrom(leastWith(detail));
      const valuesOf = (all: Any) => all.map((one: Any) => one.audience_code_value);
      assertEquals(valuesOf(incoming.values.audiences), read);
      assertEquals([incoming.messages, incoming.unmapped.paths], [[], []]);
      book.product.audiences = edit.map((audience_code_value) => ({
        audience_code_type: "01",
        audience_code_value,
      }));
      const sent = RELEASES.map((release) => writeRecord(book, received, release).record);
      assertEquals(sent.map(codesIn), RELEASES.map((one) => one === "3.0" ? in30 : in31));
      for (const [i, release] of RELEASES.entries()) await assertValid([sent[i]!], release);
    });
  }

  await t.step("unless its code is unknown", async () => {
    const { incoming } = await importedFrom(leastWith("AudienceCode=77"));
    assertEquals(
      incoming.messages.map(({ code, path }: Any) => [code, path]),
      [["invalid_code", "/Product/DescriptiveDetail/AudienceCode"]],
    );
  });
});

Deno.test("A value that stands twice in a list goes when it is removed", async () => {
  const { book, received } = await importedFrom(leastWith(
    "ProductFormDetail=B106 ProductFormDetail=B106 ProductFormDetail=B206",
  ));
  book.product.product_form_details = ["B206"];
  const { record } = writeRecord(book, received, "3.1");
  assertEquals(leavesOf(record).filter((leaf) => leaf.includes("FormDetail")), [
    "/Product/DescriptiveDetail/ProductFormDetail = B206",
  ]);
});

Deno.test("What says a changed value again is not sent with the old words", async (t) => {
  const title = (detail: string, more = "") =>
    `<TitleDetail><TitleType>01</TitleType><TitleElement>${detail}</TitleElement>${more}</TitleDetail>`;
  const own = "<TitleElementLevel>01</TitleElementLevel>";
  const statement = "<TitleStatement>Old words</TitleStatement>";
  const named = title(
    `${own}<TitleText collationkey="old">The Long Winter</TitleText><Subtitle collationkey="old">A Diary</Subtitle>`,
    statement,
  );
  const people =
    `<Contributor><SequenceNumber>1</SequenceNumber><ContributorRole>A01</ContributorRole><PersonName collationkey="old">Ines Brandt</PersonName></Contributor><ContributorStatement>Old words</ContributorStatement>`;
  const series =
    `<Collection><CollectionType>10</CollectionType><CollectionSequence><CollectionSequenceType>02</CollectionSequenceType><CollectionSequenceNumber>3</CollectionSequenceNumber></CollectionSequence>${
      title(
        `<TitleElementLevel>02</TitleElementLevel><PartNumber>3</PartNumber><TitleText collationkey="old">Winter Tales</TitleText>`,
        statement,
      )
    }</Collection>`;
  const numbered =
    `<TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>02</TitleElementLevel><TitleText>The Chronicle</TitleText></TitleElement><TitleElement>${own}<PartNumber>9</PartNumber></TitleElement></TitleDetail>`;
  const publishing = (rest: string) =>
    least("1", { rest: `<PublishingDetail>${rest}</PublishingDetail>` });
  const collateral = (rest: string) =>
    least("1", { rest: `<CollateralDetail>${rest}</CollateralDetail>` });
  const review = collateral(
    "<TextContent><TextType>06</TextType><ContentAudience>00</ContentAudience><Text>Great</Text><TextAuthor>Jane Roe</TextAuthor><TextSourceCorporate>Paper Ltd</TextSourceCorporate><TextSourceDescription>Old words</TextSourceDescription><SourceTitle>The Paper</SourceTitle><TextSourceLink>https://paper.example/roe</TextSourceLink></TextContent>",
  );
  const rename = (product: Any, book: Any, name: string) => {
    const [row] = product.contributors;
    row.contributor_name = book.contributors[row.contributor_id].name = name;
  };
  const cases: Record<
    string,
    [record: string, change: (product: Any, book: Book) => void, left?: RegExp]
  > = {
    "a title": [
      least("1", { title: "", detail: named }),
      (product) => Object.assign(product, { title: "New", subtitle: "Newer" }),
      /TitleText = New/,
    ],
    "a subtitle alone": [
      least("1", {
        title: "",
        detail: named.replace(' collationkey="old"', ""),
      }),
      (product) => product.subtitle = "Newer",
      /TitleText = The Long Winter/,
    ],
    "the title of a part by its number": [
      least("1", { title: "", detail: numbered }),
      (product) => product.title = "The Chronicle 5",
      /TitleText = The Chronicle 5/,
    ],
    "the title of a part by its number and its year": [
      least("1", {
        title: "",
        detail: numbered.replace(
          "</PartNumber>",
          "</PartNumber><YearOfAnnual>2025</YearOfAnnual>",
        ),
      }),
      (product) => {
        assertEquals(product.title, "The Chronicle 9 2025");
        product.title = "The Chronicle 5";
      },
      /TitleText = The Chronicle 5/,
    ],
    "the number in a collection": [
      least("1", { detail: series.replace(' collationkey="old"', "") }),
      (product) => product.product_collections[0].part_number = "4",
      /CollectionSequenceNumber = 4.*PartNumber = 4/,
    ],
    "the title of a collection": [
      least("1", { detail: series }),
      (product) => {
        product.collections[0].name = "Summer Tales";
        product.product_collections[0].part_number = null;
      },
      /TitleText = Summer Tales/,
    ],
    "a contributor's name": [
      least("1", { detail: people }),
      (product, book) => rename(product, book, "Ines Adler"),
      /PersonName = Ines Adler/,
    ],
    "what a contributor is": [
      least("1", {
        detail: people.replace(
          "</PersonName>",
          "</PersonName><PersonNameInverted>Brandt, Ines</PersonNameInverted><NamesBeforeKey>Ines</NamesBeforeKey><KeyNames>Brandt</KeyNames>",
        ).replace(/<ContributorStatement>.*$/, ""),
      }),
      (product, book) => {
        const [{ contributor_id }] = product.contributors;
        book.contributors[contributor_id]!.is_organization = true;
      },
      /CorporateName = Ines Brandt/,
    ],
    "an audience": [
      least("1", {
        detail:
          "<Audience><AudienceCodeType>01</AudienceCodeType><AudienceCodeValue>01</AudienceCodeValue><AudienceHeadingText>Old words</AudienceHeadingText></Audience>",
      }),
      (product) => product.audiences[0].audience_code_value = "02",
      /AudienceCodeValue = 02/,
    ],
    "the contributors": [
      least("1", { detail: people }),
      (product) => product.contributors = [],
    ],
    "no contributors": [
      least("1", { detail: "<NoContributor/>" }),
      (product) => {
        product.contributors = [{
          contributor_id: "A",
          contributor_name: "A",
          contributor_role_code: "A01",
        }];
      },
      /PersonName = A/,
    ],
    "the publishing status": [
      publishing(
        "<PublishingStatus>02</PublishingStatus><PublishingStatusNote>Old words</PublishingStatusNote>",
      ),
      (product) => product.publishing_status_code = "04",
      /PublishingStatus = 04/,
    ],
    "a prize": [
      collateral(
        "<Prize><PrizeIdentifier><PrizeIDType>01</PrizeIDType><IDTypeName>House</IDTypeName><IDValue>Old words</IDValue></PrizeIdentifier><PrizeName>Anchor</PrizeName></Prize>",
      ),
      (product) => product.collateral[0].prize_name = "Buoy",
      /PrizeName = Buoy/,
    ],
    "the reviewer": [
      review,
      (product) =>
        Object.assign(product.collateral[0], {
          text_author: "John Doe",
          text_source_description: null,
        }),
      /TextAuthor = John Doe.*TextSourceCorporate = Paper Ltd/,
    ],
    "where a review was": [
      review.replace("<TextSourceDescription>Old words</TextSourceDescription>", ""),
      (product) =>
        Object.assign(product.collateral[0], {
          source_title: "The Mirror",
          text_source_corporate: null,
        }),
      /SourceTitle = The Mirror/,
    ],
    "who translates": [
      least("1", {
        detail:
          "<Contributor><ContributorRole>B01</ContributorRole><ContributorRole>B06</ContributorRole><FromLanguage>ger</FromLanguage><ToLanguage>eng</ToLanguage><PersonName>Olaf Kern</PersonName></Contributor>",
      }),
      (product) => product.contributors.pop(),
      /ContributorRole = B01/,
    ],
    "an edition": [
      least("1", {
        detail: "<EditionNumber>2</EditionNumber><EditionVersionNumber>1</EditionVersionNumber>",
      }),
      (product) => product.edition_number = 3,
      /EditionNumber = 3/,
    ],
    "an extent in roman numerals": [
      least("1", {
        detail:
          "<Extent><ExtentType>03</ExtentType><ExtentValue>3</ExtentValue><ExtentValueRoman>iii</ExtentValueRoman><ExtentUnit>03</ExtentUnit></Extent>",
      }),
      (product) => product.extents[0].extent_value = 4,
      /ExtentValue = 4/,
    ],
  };
  for (const [name, [record, change, left]] of Object.entries(cases)) {
    await t.step(name, async () => {
      const { book, received } = await importedFrom(record);
      const before = await assertValid([
        writeRecord(book, received, "3.1").record,
      ]);
      change(book.product, book);
      const { record: after } = writeRecord(book, received, "3.1");
      const text = await assertValid([after]);
      const old =
        /Old words|collationkey|NoContributor|<PartNumber>9|YearOfAnnual|KeyNames|Inverted|iii|EditionVersion|(?:From|To)Language|TextSourceLink/;
      assertMatch(before, old);
      assertEquals(old.exec(text), null, text);
      if (left) assertMatch(leavesOf(after).join(" "), left);
    });
  }
});

Deno.test("A new biography leaves the statement of the contributors", async () => {
  const people =
    "<Contributor><SequenceNumber>1</SequenceNumber><ContributorRole>A01</ContributorRole><PersonName>Ines Brandt</PersonName></Contributor><ContributorStatement>By Ines Brandt</ContributorStatement>";
  const { gone } = await changed(
    least("1", { detail: people }),
    (product: Any, book) => {
      const [{ contributor_id }] = product.contributors;
      book.contributors[contributor_id]!.biographical_note = "New";
    },
  );
  assertEquals(gone, []);
});

Deno.test("A text of several that is corrected keeps its language", async () => {
  const feature = (...descriptions: [language: string, text: string][]) =>
    `ProductFormFeature(ProductFormFeatureType=09 ProductFormFeatureValue=00 ${
      descriptions.map(([language, text]) =>
        `ProductFormFeatureDescription[language=${language}]=${text}`
      ).join(" ")
    })`;
  const { book, received } = await importedFrom(
    least("1", { detail: xml(feature(["eng", "Reed"], ["ger", "Gelesen"])) }),
  );
  (book.product as Any).product_form_features[0].product_form_feature_descriptions[0] = "Read";
  const text = await written([writeRecord(book, received, "3.1").record], "3.1");
  assertMatch(text, /language="eng">Read<[^]*language="ger">Gelesen</);
});

Deno.test("A changed cover and availability change what had the old ones", async () => {
  const { gone, added } = await changed(BOOK, (product: Any) => {
    product.cover_image_url = "https://covers.example/2.jpg";
    product.product_availability_code = "40";
  });
  const link = "/Product/CollateralDetail/SupportingResource/ResourceVersion/ResourceLink";
  const path = "/Product/ProductSupply/SupplyDetail/ProductAvailability";
  assertEquals(gone, [
    `${link} = https://covers.example/1.jpg`,
    `${path} = 21`,
  ]);
  assertEquals(added, [
    `${link} = https://covers.example/2.jpg`,
    `${path} = 40`,
  ]);

  // What was changed itself stays.
  const own = await changed(BOOK, (product: Any) => {
    product.cover_image_url = "https://covers.example/2.jpg";
    const [resource] = product.supporting_resources;
    resource.resource_versions[0].resource_links[0] = "https://covers.example/3.jpg";
    product.product_availability_code = "40";
    product.product_territories[0].supply_details[0].product_availability = "31";
  });
  assertEquals(own.added, [
    `${link} = https://covers.example/3.jpg`,
    `${path} = 31`,
  ]);
});

Deno.test("A product without a record becomes one", async (t) => {
  const { book, incoming } = await importedFrom(BOOK);
  const header = { name: "Header", attributes: {}, children: [], text: "" };

  for (const release of RELEASES) {
    await t.step(`that says the same in ${release}`, async () => {
      const { record, notSent } = writeRecord(book, null, release);
      assertEquals(notSent.paths, []);
      for (const tags of TAGS) await assertValid([record], release, tags);
      const again = readRecord(record, header);
      assertEquals(again.kind, "record");
      // A title that had a prefix is one text.
      const valuesIn = ({ values }: typeof incoming) =>
        JSON.stringify(
          values,
          (name, value) => name === "place" ? undefined : value,
        );
      assertEquals(valuesIn(again as typeof incoming), valuesIn(incoming));
    });
  }

  await t.step("with no more than a title", async () => {
    const bare: Book = {
      product: {
        id: crypto.randomUUID(),
        product_code: "P-1",
        title: "A & B\u0001",
      },
      contributors: {},
      identifiers: { publisher: [], imprint: [] },
      organization: "Harbour Press",
      reference: null,
    };
    for (const release of RELEASES) {
      const { record } = writeRecord(bare, null, release);
      await assertValid([record], release);
      const read = readRecord(record, header);
      assertEquals(read.kind === "record" && read.values.title, "A & B\u0001");
      assertEquals(
        read.kind === "record" && read.values.product_identifiers,
        [],
      );
      assertEquals(
        read.kind === "record" && read.values.product_form,
        undefined,
      );
      assertEquals(read.reference, `urn:uuid:${bare.product.id}`);
    }
  });
});

Deno.test("A record is repaired", async (t) => {
  await t.step("what would make it invalid is not sent", async () => {
    const { received } = await importedFrom(leastWith(
      "ProductForm=ZZZZ Gender=m EditionNumber=second",
      "Language(LanguageRole=01 LanguageCode=xx)",
    ));
    assertEquals(notSentOf(received.record, "3.1").toSorted(), [
      "/Product/DescriptiveDetail/EditionNumber",
      "/Product/DescriptiveDetail/Gender",
      "/Product/DescriptiveDetail/Language/LanguageCode",
      "/Product/DescriptiveDetail/Language/LanguageRole",
      "/Product/DescriptiveDetail/ProductForm",
    ]);
  });

  await t.step("numbers are the same with zeros before them", async () => {
    const { book, received } = await importedFrom(leastWith(
      "CollateralDetail(Prize(SequenceNumber=1 PrizeName=A) Prize(SequenceNumber=01 PrizeName=B))",
    ));
    const { record, notSent } = writeRecord(book, received, "3.1");
    assertEquals(notSent.paths, ["/Product/CollateralDetail/Prize/SequenceNumber"]);
    await assertValid([record]);
  });

  await t.step("what release 3.1 says otherwise is converted", async () => {
    const { book, received } = await importedFrom(leastWith(
      "Conference(ConferenceName=Light) AudienceCode=01",
      "PublishingDetail(PublishingDate(PublishingDateRole=19 DateFormat=05 Date=2020))",
    ));
    const { record, notSent } = writeRecord(book, received, "3.1");
    assertEquals(notSent.paths, []);
    const text = await assertValid([record]);
    for (
      const part of [
        "<EventName>Light</EventName>",
        "<AudienceCodeValue>01</AudienceCodeValue>",
        '<Date dateformat="05">2020</Date>',
      ]
    ) assertEquals(text.includes(part), true, part);
  });

  await t.step("markup that is no valid XHTML is sent as HTML", async () => {
    const { book, received } = await importedFrom(least("1", {
      rest:
        '<CollateralDetail><TextContent><TextType>03</TextType><ContentAudience>00</ContentAudience><Text textformat="05"><center>x &amp; y</center></Text></TextContent></CollateralDetail>',
    }));
    const { record } = writeRecord(book, received, "3.1");
    const text = await assertValid([record]);
    assertEquals(
      text.includes(
        '<Text textformat="02">&lt;center&gt;x &amp;amp; y&lt;/center&gt;</Text>',
      ),
      true,
    );
  });
});

Deno.test("A message", async (t) => {
  await t.step("without records says so", async () => {
    for (const release of RELEASES) {
      for (const tags of TAGS) await assertValid([], release, tags);
    }
  });

  await t.step("tells of deleted products", async () => {
    const deletion = deletionRecord({
      reference: "a & b",
      id: crypto.randomUUID(),
      isbn13: "9780141439587",
      product_code: "P-1",
    });
    const text = await assertValid([deletion], "3.0");
    const { header, records: [record] } = await recordsOf(text);
    const read = readRecord(record!, header);
    assertEquals(read.kind === "record" && read.notification, "05");
    assertEquals(read.reference, "a & b");
    assertStringIncludes(text, "<ProductIDType>15</ProductIDType>");
    assertStringIncludes(text, "<IDValue>9780141439587</IDValue>");
    assertStringIncludes(text, "<IDValue>P-1</IDValue>");
  });
});

Deno.test("A price edited here goes out with the taxes of JSON and no other", async () => {
  const tax = (parts: string) => `Tax(TaxType=01 ${parts} TaxableAmount=11 TaxAmount=1)`;
  const unread = [
    "TaxExempt()",
    tax("TaxRateCode=Q TaxRatePercent=7"),
    tax("TaxRatePercent=seven"),
  ];
  const edits: Record<string, [edit: (price: Any) => void, tax?: string]> = {
    amount: [(price) => price.price_amount = 15],
    currency: [(price) => price.currency_code = "USD"],
    taxes: [
      (price) => price.taxes = [{ tax_type: "01", tax_rate_percent: 19 }],
      "Tax/TaxRatePercent = 19,Tax/TaxType = 01",
    ],
    status: [(price) => price.price_status = "02", "as they came"],
  };
  for (const taxes of unread) {
    for (const [name, [edit, expected = ""]] of Object.entries(edits)) {
      const { book, received } = await importedFrom(leastWith(
        `ProductSupply(SupplyDetail(Supplier(SupplierRole=01 SupplierName=S) ProductAvailability=20 Price(PriceType=02 PriceAmount=12 ${taxes} CurrencyCode=EUR)))`,
      ));
      const taxesIn = () =>
        leavesOf(writeRecord(book, received, "3.1").record)
          .filter((leaf) => /Price\/Tax/.test(leaf))
          .map((leaf) => leaf.slice(leaf.indexOf("Price/") + 6)).join();
      const before = taxesIn();
      const [territory] = (book.product as Any).product_territories;
      edit(territory.supply_details[0].prices[0]);
      const is = expected === "as they came" ? before : expected;
      assertEquals(taxesIn(), is, `${name} ${taxes}`);
      assert(before !== "");
    }
  }
});
