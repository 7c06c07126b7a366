import { assertEquals } from "@std/assert";
import { TIMED } from "../support/app/deadline.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { type OnixScene, onixScene } from "../support/client/onix.ts";
import { message, record } from "../support/data/onix.ts";

/*
 * Migrations that give products the values of the records that they have received. Such a record is
 * imported, what it says is taken away as if it had been unknown, and the migration runs again. It
 * changes the products of all organizations, so each test has a database of its own.
 */

function it(behaviour: string, test: (scene: OnixScene) => Promise<void>): void {
  Deno.test(`An upgrade reads stored records ${behaviour}`, TIMED, async () => {
    await using app = await openOwnApp();
    await test(onixScene({ app, org: await app.organization(), sql: app.sql }));
  });
}

const RECORD =
  `<Product><RecordReference>1</RecordReference><NotificationType>03</NotificationType><ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780306406157</IDValue></ProductIdentifier><DescriptiveDetail><ProductComposition>00</ProductComposition><ProductForm>ED</ProductForm>
  <ProductFormFeature><ProductFormFeatureType>09</ProductFormFeatureType><ProductFormFeatureValue>14</ProductFormFeatureValue><ProductFormFeatureDescription language="eng">Texts &amp; images</ProductFormFeatureDescription><ProductFormFeatureDescription language="ger">Texte</ProductFormFeatureDescription></ProductFormFeature>
  <ProductFormFeature datestamp="20260101"><ProductFormFeatureType>07</ProductFormFeatureType><ProductFormFeatureDescription>1 &lt; 2 MB</ProductFormFeatureDescription></ProductFormFeature>
  <ProductFormFeature><ProductFormFeatureType>09</ProductFormFeatureType><ProductFormFeatureValue>99x</ProductFormFeatureValue></ProductFormFeature>
  <ProductFormFeature><ProductFormFeatureType>09</ProductFormFeatureType><ProductFormFeatureValue>10</ProductFormFeatureValue></ProductFormFeature>
  <ProductPart><ProductForm>ED</ProductForm><ProductFormFeature><ProductFormFeatureType>09</ProductFormFeatureType><ProductFormFeatureValue>11</ProductFormFeatureValue></ProductFormFeature><NumberOfCopies>1</NumberOfCopies></ProductPart>
  <TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>01</TitleElementLevel><TitleText>Emma</TitleText></TitleElement></TitleDetail></DescriptiveDetail>
  <CollateralDetail><TextContent><TextType>06</TextType><ContentAudience>00</ContentAudience><Text>One</Text><TextSource><PersonNameInverted>Roe, Jane</PersonNameInverted><PersonName language="eng">Jane &amp; Roe</PersonName></TextSource></TextContent><TextContent><TextType>06</TextType><ContentAudience>00</ContentAudience><Text>Two</Text></TextContent><TextContent datestamp="20260101"><TextType>06</TextType><ContentAudience>00</ContentAudience><Text>Three</Text><TextSource><NamesBeforeKey>John</NamesBeforeKey><KeyNames>Doe</KeyNames></TextSource></TextContent></CollateralDetail></Product>`;

const values = ({ product_form_features, collateral }: Record<string, unknown>) => [
  product_form_features,
  (collateral as { text_author: string }[]).map(({ text_author }) => text_author),
];

it("by which they have their features and the authors of their texts", async ({ org, onix, product, sql }) => {
  const { outcomes: [{ id }] } = await onix.report(message(RECORD));
  const before = await product(id);
  assertEquals(values(before)[1], ["Jane & Roe", null, "John Doe"]);
  assertEquals(before.product_form_features.length, 3);
  const sent = await onix.xml(`/${id}`);
  await sql`
    update products set product_form_features = null
    where organization_id = ${org.id} and id = ${id}
  `;
  await sql`
    update collateral set text_author = null
    where organization_id = ${org.id} and product_id = ${id}
  `;

  const url = new URL("../../sql/migrations/0007_product_form_features.sql", import.meta.url);
  const statements = (await Deno.readTextFile(url)).split(/;\n/)
    .filter((one) => /^(?:update (?:products|collateral) |insert into product_terms)/m.test(one));
  assertEquals(statements.length, 3);
  for (const statement of statements) await sql.unsafe(statement);

  assertEquals(values(await product(id)), values(before));
  assertEquals(
    (await onix.xml(`/${id}`)).replace(/<SentDateTime>.*?</, ""),
    sent.replace(/<SentDateTime>.*?</, ""),
  );
  const found = await org.get("/api/products?accessibility_code=10");
  assertEquals(found.body.data.length, 1);
});

const REVIEWS =
  `<Product><RecordReference>2</RecordReference><NotificationType>03</NotificationType><ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780306406157</IDValue></ProductIdentifier><DescriptiveDetail><ProductComposition>00</ProductComposition><ProductForm>BC</ProductForm><TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>01</TitleElementLevel><TitleText>Emma</TitleText></TitleElement></TitleDetail></DescriptiveDetail>
  <CollateralDetail><TextContent><TextType>06</TextType><ContentAudience>00</ContentAudience><Text>One</Text><TextSource><NameType>04</NameType></TextSource><TextSource datestamp="20260101"><PersonName>Jane</PersonName><TextSourceDescription language="eng">Writes &amp; reads</TextSourceDescription></TextSource><TextSource><CorporateName language="eng">Paper &amp; Sons</CorporateName><TextSourceDescription language="eng">A daily</TextSourceDescription></TextSource></TextContent>
  <TextContent><TextType>06</TextType><ContentAudience>00</ContentAudience><Text textformat="05"><p>Two</p></Text><TextSourceCorporate>Quay Readers</TextSourceCorporate><TextSourceDescription textformat="05"><p>A <em>group</em></p></TextSourceDescription></TextContent>
  <TextContent><TextType>06</TextType><ContentAudience>00</ContentAudience><Text>Three</Text><TextSource><CorporateNameInverted>Post, The</CorporateNameInverted></TextSource></TextContent>
  <TextContent><TextType>06</TextType><ContentAudience>00</ContentAudience><Text>Four &lt; five</Text></TextContent></CollateralDetail></Product>`;

it("by which texts have the organizations and descriptions of their sources", async ({ org, onix, product, sql }) => {
  const { outcomes: [{ id }] } = await onix.report(message(REVIEWS));
  const sources = async () =>
    (await product(id)).collateral.map((
      { text_source_corporate, text_source_description }: Record<string, unknown>,
    ) => [text_source_corporate, text_source_description]);
  const expected = [
    ["Paper & Sons", "Writes & reads"],
    ["Quay Readers", "<p>A <em>group</em></p>"],
    ["Post, The", null],
    [null, null],
  ];
  assertEquals(await sources(), expected);
  const sent = await onix.xml(`/${id}`);

  async function migrate(): Promise<void> {
    await sql`
      update collateral set text_source_corporate = null, text_source_description = null
      where organization_id = ${org.id} and product_id = ${id}
    `;
    const url = new URL("../../sql/migrations/0008_text_sources.sql", import.meta.url);
    const [statement] = (await Deno.readTextFile(url)).split(/;\n/)
      .filter((one) => /^update collateral /m.test(one));
    await sql.unsafe(statement!);
  }

  await migrate();
  assertEquals(await sources(), expected);
  assertEquals(
    (await onix.xml(`/${id}`)).replace(/<SentDateTime>.*?</, ""),
    sent.replace(/<SentDateTime>.*?</, ""),
  );

  // The words decide where the texts have another order.
  const { collateral } = await product(id);
  await org.put(`/api/products/${id}`, {
    collateral: [collateral[3], collateral[0], collateral[2]],
  });
  await migrate();
  assertEquals(await sources(), [[null, null], expected[0], expected[2]]);
});

it("by which they have the sales rights beside an inverted name of a publisher", async ({ org, onix, product, sql }) => {
  const right = (type: string, territory: string, more = "") =>
    `<SalesRights datestamp="20260301"><SalesRightsType>${type}</SalesRightsType><Territory>${territory}</Territory>${more}</SalesRights>`;
  const inverted = "<PublisherNameInverted>Verlag, Der</PublisherNameInverted>";
  const british = right(
    "01",
    "<CountriesIncluded> GB  IE </CountriesIncluded><RegionsExcluded>GB-SCT</RegionsExcluded>",
  );
  const american = right(
    "03",
    "<CountriesIncluded>US</CountriesIncluded>",
    `<PublisherName language="eng">Ink &amp; Sons</PublisherName>${inverted}`,
  );
  const world = right(
    "02",
    "<RegionsIncluded>WORLD</RegionsIncluded><CountriesExcluded>FR</CountriesExcluded>",
    `<ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780141439587</IDValue></ProductIdentifier>${inverted}`,
  );
  const restricted = right(
    "01",
    "<CountriesIncluded>GB</CountriesIncluded>",
    "<SalesRestriction><SalesRestrictionType>01</SalesRestrictionType></SalesRestriction>",
  );
  const rest = "<ROWSalesRightsType>00</ROWSalesRightsType>";
  const text = (title: string) =>
    message(
      ...[british + american + rest, american + world, american + restricted].map((rights, i) =>
        record({ reference: `r${i}`, isbn: null, title })
          .replace("</PublishingDetail>", `${rights}</PublishingDetail>`)
      ),
    );
  const { outcomes } = await onix.report(text("Emma"));
  const shown = async () => {
    const books = await Promise.all(outcomes.map(({ id }: { id: string }) => product(id)));
    return books.map(({ product_sales_rights }) =>
      product_sales_rights.map(({ id: _, ...right }: { id: string }) => right)
    );
  };
  const expected = await shown();
  assertEquals(expected.map(({ length }) => length), [3, 2, 2]);
  const sent = await onix.xml(`/${outcomes[0]!.id}`);
  await sql`delete from product_sales_rights where organization_id = ${org.id}`;

  await sql.unsafe(
    await Deno.readTextFile("sql/migrations/0010_rights_beside_inverted_names.sql"),
  );

  // The migration does not read restrictions.
  expected[2] = [];
  assertEquals(await shown(), expected);
  assertEquals(
    (await onix.xml(`/${outcomes[0]!.id}`)).replace(/<SentDateTime>.*?</, ""),
    sent.replace(/<SentDateTime>.*?</, ""),
  );
  // They are the sender's, and stay with the next record.
  const { updated, warnings } = await onix.report(text("Emma again"));
  assertEquals([updated, warnings], [3, 0]);
  assertEquals(await shown(), expected);
});

it("by which they have the audiences that the records have as codes", async ({ org, onix, product, sql }) => {
  const more =
    '<AudienceCode>02</AudienceCode><AudienceCode datestamp="20260101"> 01 </AudienceCode><AudienceCode>77</AudienceCode>' +
    "<Audience><AudienceCodeType>01</AudienceCodeType><AudienceCodeValue>01</AudienceCodeValue></Audience>";
  const text = message(record({ more }));
  const { outcomes: [{ id }] } = await onix.report(text);
  const audiences = ["02", "01"].map((audience_code_value) => ({
    audience_code_type: "01",
    audience_code_type_name: null,
    audience_code_value,
  }));
  const shown = async () =>
    (await product(id)).audiences.map(({ audience_code_value }: Record<string, unknown>) =>
      audience_code_value
    );
  assertEquals(await shown(), ["02", "01"]);
  const migration = await Deno.readTextFile("sql/migrations/0002_audience_codes.sql");

  for (const before of [audiences.slice(1), []]) {
    await org.put(`/api/products/${id}`, { audiences: before });
    await sql.unsafe(migration);
    assertEquals(await shown(), ["02", "01"]);
    assertEquals((await onix.report(text)).unchanged, 1);
  }
});
