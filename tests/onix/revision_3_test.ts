import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Element, hasSameContent } from "../../features/onix/schema/xml/element.ts";
import { type Release, RELEASES, TAGS } from "../../features/onix/schema/rules/releases.ts";
import { withDefaults } from "../../features/onix/schema/doors/defaults.ts";
import { EVERYTHING, projected, type View } from "../../schema/view.ts";
import { faultsOf, HAS_SCHEMAS } from "./schemas.ts";
import {
  imported,
  message,
  notSentOf,
  recordsOf,
  valuesOf,
  writeRecord,
  written,
} from "./support.ts";

/*
 * Revision 3 of release 3.1 (March 2026): sources of texts, inverted names of publishers and
 * imprints, descriptions of names as subjects, repeated affiliations, scripts of texts.
 */

// deno-lint-ignore no-explicit-any
type Any = any;

const MESSAGES = [
  "review_text_source",
  "inverted_names",
  "affiliations_and_scripts",
  "names_as_subjects",
] as const;

async function recordIn(name: typeof MESSAGES[number]) {
  const url = new URL(`messages/revision_3_${name}.xml`, import.meta.url);
  const { header, records: [record] } = await recordsOf(await Deno.readTextFile(url));
  return { header, record: record! };
}

/** What is kept beside the one value that a field of the product has. */
const SECONDS: Partial<Record<typeof MESSAGES[number], string[]>> = {
  review_text_source: ["/Product/CollateralDetail/TextContent[2]/TextAuthor[2]"],
};

/** What release 3.0 does not have. */
const ADDED =
  /<(?:TextSource|SubjectDescription|PublisherNameInverted|ImprintNameInverted)\b|<NameAsSubject>\s*<SequenceNumber|textscript/;

async function assertValid(records: Element[], release: Release): Promise<string> {
  for (const tags of TAGS) {
    const text = await written(records, release, tags);
    if (HAS_SCHEMAS) assertEquals(await faultsOf(text, release, tags), "");
  }
  return await written(records, release);
}

Deno.test("A record of revision 3", async (t) => {
  for (const name of MESSAGES) {
    await t.step(`goes out as it came, in either kind of tags: ${name}`, async () => {
      const { header, record } = await recordIn(name);
      const { book, received, incoming } = imported(record, header);
      assertEquals(incoming.messages.map(({ path }) => path), SECONDS[name] ?? []);
      assertEquals(notSentOf(received.record, "3.1"), []);
      const { record: out } = writeRecord(book, received, "3.1");
      const expected = withDefaults(record, header).record;
      assert(hasSameContent(out, expected), await written([out], "3.1"));
      for (const tags of TAGS) {
        const { records: [again] } = await recordsOf(await written([out], "3.1", tags));
        assert(hasSameContent(again!, expected), tags);
      }
      await assertValid([out], "3.1");
    });

    await t.step(`has nothing in 3.0 that 3.0 does not have: ${name}`, async () => {
      const { header, record } = await recordIn(name);
      const { book, received } = imported(record, header);
      const { record: out } = writeRecord(book, received, "3.0");
      const text = await assertValid([out], "3.0");
      // A few elements have had a script before.
      assertEquals(ADDED.exec(text.replaceAll(/<TitleText[^>]*>/g, ""))?.[0], undefined);
    });
  }
});

Deno.test("Records of revision 3 go out as in the files of golden/", async () => {
  for (const release of RELEASES) {
    const records: Element[] = [];
    for (const name of MESSAGES) {
      const { header, record } = await recordIn(name);
      const { book, received } = imported(record, header);
      records.push(writeRecord(book, received, release).record);
    }
    for (const tags of TAGS) {
      const url = new URL(`golden/revision_3_${release}_${tags}.xml`, import.meta.url);
      const text = await written(records, release, tags);
      if (Deno.env.get("UPDATE_GOLDEN")) await Deno.writeTextFile(url, text);
      assertEquals(text, await Deno.readTextFile(url), "Renew by UPDATE_GOLDEN=1");
      if (HAS_SCHEMAS) assertEquals(await faultsOf(text, release, tags), "");
    }
  }
});

Deno.test("A source of a text is the author in JSON, and an element of its own in 3.0", async () => {
  const { header, record } = await recordIn("review_text_source");
  const { book, received, incoming } = imported(record, header);
  assertEquals(
    incoming.values.text_content.map((text: Any) => [
      text.text_author,
      text.text_source_corporate,
      text.text_source_description,
    ]),
    [
      ["Prof. Olaf van Kestrel", "The Harbour Review", "Writes on island literature"],
      ["Mira Sund", "Northern Readers’ Circle", "A reading group of two hundred members"],
      [undefined, undefined, undefined],
    ],
  );
  const text = await written([writeRecord(book, received, "3.0").record], "3.0");
  assertMatch(
    text,
    /<TextAuthor>Prof. Olaf van Kestrel<\/TextAuthor>\s*<TextSourceCorporate>The Harbour Review<\/TextSourceCorporate>\s*<TextSourceDescription language="eng">Writes on island literature<\/TextSourceDescription>\s*<TextSourceDescription language="ger">/,
  );
  assertMatch(text, /<TextAuthor>Mira Sund<\/TextAuthor>\s*<TextAuthor>Paul Okoye/);

  // An edit replaces the sources, and is never beside one.
  Object.assign((book.product as Any).collateral[0], {
    text_author: "Jane Roe",
    text_source_description: null,
  });
  for (const release of RELEASES) {
    const { record: out } = writeRecord(book, received, release);
    const edited = await assertValid([out], release);
    assertMatch(
      edited,
      /<TextAuthor>Jane Roe<\/TextAuthor>\s*<TextSourceCorporate>The Harbour Review/,
    );
    assertEquals(/Kestrel|R-208|island literature|Literary editor/.exec(edited)?.[0], undefined);
    const [first]: Any = valuesOf(out).text_content;
    assertEquals(first.text_author, "Jane Roe");
  }
});

const HEAD =
  "<RecordReference>1</RecordReference><NotificationType>03</NotificationType><ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780306406157</IDValue></ProductIdentifier>";
const TITLE =
  "<ProductComposition>00</ProductComposition><ProductForm>BC</ProductForm><TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>01</TitleElementLevel><TitleText>Emma</TitleText></TitleElement></TitleDetail>";

/** A record of a review with these sources, and one with this publishing detail. */
const review = (sources: string) =>
  `<Product>${HEAD}<DescriptiveDetail>${TITLE}</DescriptiveDetail><CollateralDetail><TextContent><TextType>06</TextType><ContentAudience>00</ContentAudience><Text>Fine</Text>${sources}<SourceTitle>The Paper</SourceTitle></TextContent></CollateralDetail></Product>`;
const published = (detail: string) =>
  `<Product>${HEAD}<DescriptiveDetail>${TITLE}</DescriptiveDetail><PublishingDetail>${detail}</PublishingDetail></Product>`;
const described = (detail: string) =>
  `<Product>${HEAD}<DescriptiveDetail>${detail}${TITLE}</DescriptiveDetail></Product>`;
const by = (number: string, name: string) =>
  `<Contributor><SequenceNumber>${number}</SequenceNumber><ContributorRole>A01</ContributorRole><PersonName>${name}</PersonName></Contributor>`;
const series = (name: string, rest: string) =>
  `<Collection><CollectionType>10</CollectionType>${rest}</Collection>`
    .replace(
      "</CollectionType>",
      `$&<TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>02</TitleElementLevel><TitleText>${name}</TitleText></TitleElement></TitleDetail>`,
    );
const right = (rest: string) =>
  published(
    `<Publisher><PublishingRole>01</PublishingRole><PublisherName>Harbour</PublisherName></Publisher><SalesRights><SalesRightsType>03</SalesRightsType><Territory><CountriesIncluded>US</CountriesIncluded></Territory>${rest}</SalesRights>`,
  );

/** Records, what an edit does, and what of them is then sent in 3.1. */
// deno-fmt-ignore
const CASES: [what: string, record: string, edit: ((product: Any) => void) | null, sent: RegExp, not?: RegExp][] = [
  ["both kinds of sources", review("<TextAuthor>Old</TextAuthor><TextSource><PersonName>New</PersonName></TextSource>"), null, /<TextSource>\s*<PersonName>New/, /TextAuthor/],
  ["a source without a name beside an author", review("<TextAuthor>Jane</TextAuthor><TextSource><NameType>04</NameType></TextSource>"), null, /<TextAuthor>Jane/, /TextSource/],
  ["a source of a person with an organization", review("<TextSource><CorporateName>Quay</CorporateName><KeyNames>Ann</KeyNames></TextSource>"),
    ({ collateral: [text] }) => assertEquals([text.text_author, text.text_source_corporate ?? null], ["Ann", null]), /<KeyNames>Ann/, /Quay/],
  ["a source of nobody", review("<TextSource><UnnamedPersons>02</UnnamedPersons></TextSource>"), null, /<Text>Fine/, /TextSource/],
  ["two sources of one number", review("<TextSource><SequenceNumber>1</SequenceNumber><PersonName>A</PersonName></TextSource><TextSource><SequenceNumber>01</SequenceNumber><PersonName>B</PersonName></TextSource>"), null, /<PersonName>A[^]*<TextSource>\s*<PersonName>B/],
  ["a source after the title of the publication", review("").replace("</SourceTitle>", "$&<TextSource><KeyNames>A</KeyNames></TextSource>"), null, /<TextSource>[^]*<SourceTitle>/],
  ["a text of another publication", review("<TextSource><PersonName>A</PersonName><ProfessionalAffiliation><Affiliation>Old</Affiliation></ProfessionalAffiliation></TextSource><TextSource><CorporateName>Old</CorporateName></TextSource>"),
    (product) => Object.assign(product.collateral[0], { source_title: "The Mirror", text_source_corporate: null }), /<PersonName>A[^]*<SourceTitle>The Mirror/, /Old/],
  ["another organization", review("<TextSource><PersonName>A</PersonName></TextSource><TextSource><CorporateName>Old</CorporateName><CorporateNameInverted>Old, The</CorporateNameInverted></TextSource>"),
    (product) => product.collateral[0].text_source_corporate = "Quay", /<TextAuthor>A<\/TextAuthor>\s*<TextSourceCorporate>Quay/, /Old|<TextSource>/],
  ["an organization beside an author", review("<TextSource><PersonName language=\"eng\">A</PersonName></TextSource>"),
    (product) => product.collateral[0].text_source_corporate = "Quay", /<TextAuthor language="eng">A<\/TextAuthor>\s*<TextSourceCorporate>Quay/, /<TextSource>/],
  ["no organization any more", review("<TextSource><NameIdentifier><NameIDType>16</NameIDType><IDValue>0000000121032683</IDValue></NameIdentifier><PersonName>A</PersonName></TextSource><TextSource><CorporateName>Old</CorporateName></TextSource>"),
    (product) => product.collateral[0].text_source_corporate = null, /0000000121032683[^]*<PersonName>A/, /Old/],
  ["another description", review('<TextSource><CorporateName>A</CorporateName><TextSourceDescription language="eng">Old</TextSourceDescription><TextSourceDescription language="ger">Old</TextSourceDescription></TextSource>'),
    (product) => product.collateral[0].text_source_description = "New", /<TextSourceCorporate>A<\/TextSourceCorporate>\s*<TextSourceDescription language="eng">New/, /Old/],
  ["no description any more", review('<TextSource><CorporateName>A</CorporateName><TextSourceDescription>Old</TextSourceDescription></TextSource>'),
    (product) => product.collateral[0].text_source_description = null, /<TextSource>\s*<CorporateName>A/, /Old/],
  ["an author with a description that stays", review("<TextAuthor>Old</TextAuthor><TextSourceDescription>Critic</TextSourceDescription>"),
    (product) => product.collateral[0].text_author = "New", /<TextAuthor>New<\/TextAuthor>\s*<TextSourceDescription>Critic/, /Old/],
  ["no author any more", review("<TextSource><PersonName>Old</PersonName></TextSource>"), (product) => product.collateral[0].text_author = null, /<Text>Fine/, /Old|TextSource/],
  ["a publisher of another name", published("<Publisher><PublishingRole>01</PublishingRole><PublisherName>Old</PublisherName><PublisherNameInverted>Old, The</PublisherNameInverted></Publisher>"),
    (product) => { product.publisher_id = "Quay"; product.publisher_name = "Quay"; }, /<PublisherName>Quay/, /Old/],
  ["a renamed publisher", published("<Publisher><PublishingRole>01</PublishingRole><PublisherName>Old</PublisherName><PublisherNameInverted>Old, The</PublisherNameInverted></Publisher>"),
    (product) => product.publisher_name = "Quay", /<PublisherName>Quay/, /Old/],
  ["a renamed imprint of an inverted name alone", published("<Imprint><ImprintNameInverted>Old, The</ImprintNameInverted></Imprint>"),
    (product) => product.imprint_name = "Quay", /<ImprintName>Quay/, /Old/],
  ["another publisher of a right", right("<PublisherName>Old</PublisherName><PublisherNameInverted>Old, The</PublisherNameInverted>"),
    (product) => product.product_sales_rights[0].publisher_name = "Quay", /<PublisherName>Quay/, /Old/],
  ["another publisher of a right with an inverted name alone", right("<PublisherNameInverted>Old, The</PublisherNameInverted>"),
    (product) => product.product_sales_rights[0].publisher_name = "Quay", /<PublisherName>Quay/, /Old/],
  ["inverted names of a right", right("<PublisherNameInverted>Roe (Jane)</PublisherNameInverted>"), null, /<SalesRightsType>03[^]*Roe \(Jane\)/],
  ["names in two scripts", right('<PublisherName language="hin" textscript="Deva">A</PublisherName><PublisherName language="hin" textscript="Latn">B</PublisherName>'), null, /"Deva">A[^]*language="hin" textscript="Latn">B/],
  ["two names in one language and no script", right('<PublisherName language="hin">A</PublisherName><PublisherName language="hin">B</PublisherName>'), null, /<PublisherName>B/],
  ["a primary type of content that was one of the others", described("").replace("</ProductForm>", "$&<ProductContentType>10</ProductContentType><ProductContentType>11</ProductContentType>"),
    (product) => product.primary_content_type = "10", /<PrimaryContentType>10<[^]*<ProductContentType>11/, /<ProductContentType>10/],
  ["one number of an author and an editor of the series", described(series("Tides", by("1", "Ed")) + by("1", "Ann") + by("2", "Bea")), null, /<SequenceNumber>3[^]*Ed[^]*<SequenceNumber>1[^]*Ann[^]*<SequenceNumber>2[^]*Bea/],
  ["numbers in two series", described(series("Tides", by("2", "Cai") + by("1", "Bea")) + series("Waves", by("1", "Dan")) + by("1", "Ann")), null,
    /<SequenceNumber>3[^]*Cai[^]*<SequenceNumber>2[^]*Bea[^]*<SequenceNumber>4[^]*Dan[^]*<SequenceNumber>1[^]*Ann/],
  ["numbers that differ", described(series("Tides", by("7", "Ed")) + by("1", "Ann")), null, /<SequenceNumber>7[^]*Ed/],
  ["a number with zeros", described(`<Collection><CollectionType>10</CollectionType><CollectionSequence><CollectionSequenceType>02</CollectionSequenceType><CollectionSequenceNumber>007.02</CollectionSequenceNumber></CollectionSequence></Collection>`), null, />7\.2</],
];

Deno.test("Of revision 3, what is valid and true is sent", async () => {
  const all: Record<Release, Element[]> = { "3.0": [], "3.1": [] };
  for (const [what, text, edit, sent, not] of CASES) {
    const { header, records: [record] } = await recordsOf(message(text));
    const { book, received } = imported(record!, header);
    book.reference = what;
    edit?.(book.product);
    for (const release of RELEASES) all[release].push(writeRecord(book, received, release).record);
    const found = await written(all["3.1"].slice(-1), "3.1");
    assertMatch(found, sent, what);
    assertEquals(not?.exec(found)?.[0], undefined, `${what}: ${found}`);
  }
  for (const release of RELEASES) await assertValid(all[release], release);
});

Deno.test("A publisher of a right with an inverted name alone has that name in 3.0", async () => {
  const { header, records: [record] } = await recordsOf(
    message(right("<PublisherNameInverted>Roe (Jane)</PublisherNameInverted>")),
  );
  const { book, received } = imported(record!, header);
  const { record: out } = writeRecord(book, received, "3.0");
  assertMatch(
    await assertValid([out], "3.0"),
    /<SalesRightsType>03[^]*<PublisherName>Roe \(Jane\)/,
  );
});

Deno.test("A publisher of an inverted name alone has that name", async () => {
  const { header, records: [record] } = await recordsOf(message(published(
    "<Publisher><PublishingRole>01</PublishingRole><PublisherNameInverted>Roe (Jane) Press</PublisherNameInverted></Publisher>",
  )));
  const { incoming, book, received } = imported(record!, header);
  assertEquals([incoming.messages, incoming.values.publisher], [[], "Roe (Jane) Press"]);
  const text = await written([writeRecord(book, received, "3.0").record], "3.0");
  assertMatch(text, /<PublisherName>Roe \(Jane\) Press/);
});

/** A view that leaves out these names. */
const viewWithout = (...leave_out: string[]): View => ({
  id: "0190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d21",
  ...EVERYTHING,
  leave_out,
  currencies: null,
  price_types: null,
});

/** What a recipient gets neither in a message nor in JSON, by the element that is left out. */
const LEFT_OUT: Record<string, { sent: RegExp; shown: RegExp }> = {
  TextSource: { sent: /Jane|Quay|Critic/, shown: /Jane|Quay|Critic/ },
  // A description of nobody has no place in a message.
  TextAuthor: { sent: /Jane|Critic/, shown: /Jane/ },
  TextSourceCorporate: { sent: /Quay/, shown: /Quay/ },
  TextSourceDescription: { sent: /Critic/, shown: /Critic/ },
  Event: { sent: /Meeting/, shown: /Meeting/ },
  PublisherName: { sent: /Saltmarsh/, shown: /Saltmarsh/ },
};

/** What the record says. */
const WORDS = ["Jane", "Quay", "Critic", "Meeting", "Saltmarsh"];

Deno.test("What a recipient does not see is in no form of another release", async () => {
  const sources =
    "<TextSource><PersonName>Jane</PersonName><TextSourceDescription>Critic</TextSourceDescription></TextSource><TextSource><CorporateName>Quay</CorporateName></TextSource>";
  const publisher =
    "<PublishingDetail><Publisher><PublishingRole>02</PublishingRole><PublisherIdentifier><PublisherIDType>16</PublisherIDType><IDValue>0000000121032683</IDValue></PublisherIdentifier><PublisherNameInverted>Saltmarsh</PublisherNameInverted></Publisher></PublishingDetail>";
  const text = review(sources)
    .replace(
      "</DescriptiveDetail>",
      "<Conference><ConferenceName>Meeting</ConferenceName></Conference>$&",
    )
    .replace("</Product>", `${publisher}$&`);
  const { header, records: [record] } = await recordsOf(message(text));
  const { book, received } = imported(record!, header);
  for (const [name, hidden] of Object.entries(LEFT_OUT)) {
    const view = viewWithout(name);
    for (const release of RELEASES) {
      const { record: out } = writeRecord(book, received, release, view);
      const sent = await assertValid([out], release);
      const stays = WORDS.filter((each) => sent.includes(each));
      assertEquals(stays, WORDS.filter((each) => !hidden.sent.test(each)), `${name} ${release}`);
    }
    const shown = JSON.stringify(projected(book.product, view).collateral);
    assertEquals(hidden.shown.exec(shown)?.[0], undefined, name);
  }
});
