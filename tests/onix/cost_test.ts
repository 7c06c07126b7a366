import { assert } from "@std/assert";
import { KINDS, validValue } from "../../features/onix/schema/rules/kinds.ts";
import { fromStored } from "../../features/onix/schema/xml/read.ts";
import { indented, toStored } from "../../features/onix/schema/xml/write.ts";
import { IS_WHOLE_ON_EMBEDDED } from "../support/app/sample.ts";
import { least, xml } from "./records.ts";
import { bookOf, message, readRecord, recordsOf, writeRecord } from "./support.ts";
import { TIMED } from "../support/app/deadline.ts";

/*
 * What a record costs is linear in its size, whatever is in it: twice the input takes twice
 * the time. The square of the time for twice the input is four times as much.
 */

const SIZE = IS_WHOLE_ON_EMBEDDED ? 200_000 : 50_000;

/** More than this for twice the input is not linear. */
const MAX_RATIO = 3;

/** The least of several times is taken, and measured again if it is too long: others use the processor. */
const RUNS = 3;
const ATTEMPTS = 25;

/** Less is a matter of chance. What is not linear takes longer for so much. */
const LEAST_MS = 10;

type Part = string | ((i: number) => string);

/** Repeats a part up to this number of characters. */
function filled(part: Part, length: number): string {
  const parts: string[] = [];
  for (let size = 0; size < length;) {
    const next = typeof part === "string" ? part : part(parts.length);
    parts.push(next);
    size += next.length;
  }
  return parts.join("");
}

const detail = (detail: string) => least("1", { detail });

const collateral = (block: string) =>
  least("1", { rest: `<CollateralDetail>${block}</CollateralDetail>` });

const publishing = (block: string) =>
  least("1", { rest: `<PublishingDetail>${block}</PublishingDetail>` });

const text = (text: string) =>
  collateral(
    `<TextContent><TextType>03</TextType><ContentAudience>00</ContentAudience><Text textformat="05">${text}</Text></TextContent>`,
  );

const supply = (block: string) =>
  least("1", {
    rest:
      `<ProductSupply><SupplyDetail><Supplier><SupplierRole>01</SupplierRole><SupplierName>S</SupplierName></Supplier><ProductAvailability>20</ProductAvailability>${block}</SupplyDetail></ProductSupply>`,
  });

const price = (amount: string) =>
  supply(
    `<Price><PriceType>02</PriceType><PriceAmount>${amount}</PriceAmount><CurrencyCode>GBP</CurrencyCode></Price>`,
  );

const contributor = (content: string) =>
  `<Contributor><SequenceNumber>1</SequenceNumber>${content}</Contributor>`;

/** A name of the greatest length. */
const NAME = "x".repeat(100);

/** What a record has much of: the part that is repeated, and the record of all of it. */
// deno-fmt-ignore
const RECORDS: Record<string, [Part, (filling: string) => string]> = {
  "empty tags in a text": ["<b></b>", text],
  "tags in a text": ["<b><i>a</i>&amp;</b><br/>", text],
  "nested tags in a text": [`${"<b>".repeat(50)}a${"</b>".repeat(50)}`, text],
  "attributes in a text": ['<p class="a">x</p>', text],
  "entities": ["&amp;", text],
  "escaped tags": ["&lt;b&gt;", text],
  "line breaks": ["a\n", text],
  "white space": ["a \t ", text],
  "CDATA": ["<![CDATA[a]]>", text],
  "comments": ["a<!--b-->", text],
  "processing instructions": ["a<?b c?>", text],
  "controls": ["\u0093a\u0094", text],
  "URLs with users": ["https://a:b@c.example ", text],
  "beginnings of URLs": ["https://", text],
  "spaces in a title": [" ", (title) => least("1", { title: `a${title}b` })],
  "a long title": ["a", (title) => least("1", { title })],
  "a long reference": ["a", least],
  "unknown elements": [(i) => `<x${i}>1</x${i}>`, detail],
  "unknown elements in long names": [(i) => `<x${i}>1</x${i}>`, (all) => detail(`<${NAME}>`.repeat(50) + all + `</${NAME}>`.repeat(50))],
  "zeros of a price": ["0", (zeros) => price(`${zeros}1`)],
  "zeros after a point": ["0", (zeros) => price(`1.${zeros}1`)],
  "zeros that are no price": ["0", (zeros) => price(`${zeros}x`)],
  "points of a price": ["1.", price],
  "digits of pages": ["0", (zeros) => detail(xml(`Extent(ExtentType=00 ExtentValue=${zeros}9 ExtentUnit=03)`))],
  "digits of a date": ["1", (date) => publishing(xml(`PublishingDate(PublishingDateRole=01 Date=${date})`))],
  "roles": ["<ContributorRole>A01</ContributorRole>", (roles) => detail(contributor(`${roles}<PersonName>P</PersonName>`))],
  "different roles": [
    (i) =>
      `<ContributorRole>A${String(i % 40).padStart(2, "0")}</ContributorRole>`,
    (roles) => detail(contributor(`${roles}<PersonName>P</PersonName>`)),
  ],
  "contributors of one name": [contributor("<ContributorRole>A01</ContributorRole><PersonName>P</PersonName>"), detail],
  "contributors": [(i) => contributor(`<ContributorRole>A01</ContributorRole><PersonName>P${i}</PersonName>`), detail],
  "names of a contributor": [
    "<AlternativeName><NameType>01</NameType><PersonName>P</PersonName></AlternativeName>",
    (names) =>
      detail(
        contributor(
          `<ContributorRole>A01</ContributorRole><PersonName>P</PersonName>${names}`,
        ),
      ),
  ],
  "edition types": ["<EditionType>ILL</EditionType>", detail],
  "elements out of order": [(i) => i % 2 ? "<EditionStatement>e</EditionStatement>" : "<NoEdition/>", detail],
  "titles": [(i) => xml(`TitleDetail(TitleType=01 TitleElement(TitleElementLevel=01 TitleText=t${i}))`), detail],
  "collections": [(i) => xml(`Collection(CollectionType=10 TitleDetail(TitleType=01 TitleElement(TitleElementLevel=02 TitleText=t${i})))`), detail],
  "subjects": [(i) => xml(`Subject(SubjectSchemeIdentifier=20 SubjectHeadingText=s${i})`), detail],
  "faulty languages": [(i) => `<Language><LanguageRole>01</LanguageRole><LanguageCode>x${i}</LanguageCode></Language>`, detail],
  "measures of one type": [(i) => xml(`Measure(MeasureType=01 Measurement=${i + 1} MeasureUnitCode=mm)`), detail],
  "countries": ["GB ", (countries) => publishing(xml(`SalesRights(SalesRightsType=01 Territory(CountriesIncluded=${countries}))`))],
  "sales rights": [xml("SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB))"), publishing],
  "prices": [(i) => xml(`Price(PriceType=02 PriceAmount=${i + 1}.5 CurrencyCode=GBP)`), supply],
  "prices of one amount": [xml("Price(PriceType=02 PriceAmount=1 CurrencyCode=GBP)"), supply],
  "supplies": [
    (i) =>
      xml(`ProductSupply(SupplyDetail(Supplier(SupplierRole=01 SupplierName=s${i}) ProductAvailability=20))`),
    (supplies) => least("1", { rest: supplies }),
  ],
  "texts": [xml("TextContent(TextType=03 ContentAudience=00 Text=t)"), collateral],
  "links": [
    (i) =>
      xml(`SupportingResource(ResourceContentType=01 ContentAudience=00 ResourceMode=03 ResourceVersion(ResourceForm=02 ResourceLink=https://a.example/${i}))`),
    collateral,
  ],
};

/** What values may consist of. */
const PARTS = [
  "0",
  "1",
  "a",
  ".",
  ",",
  " ",
  "-",
  "%",
  "a.",
  "1,",
  "% ",
  "@",
  "/",
  "GB ",
];

Deno.test("The time for a record is linear", TIMED, async (t) => {
  for (const [name, [part, recordOf]] of Object.entries(RECORDS)) {
    await t.step(`in ${name}`, async () => {
      const messageOf = (size: number) => message(recordOf(filled(part, size)));

      await assertLinear(messageOf, async (text) => {
        const { header, records: [product] } = await recordsOf(text);
        const read = readRecord(product!, header);
        if (read.kind === "rejected") return;
        const record = fromStored(toStored(product!));
        const received = { record, differences: null };
        const sent = writeRecord(bookOf(read), received, "3.0");
        indented(sent.record);
      });
    });
  }

  await t.step("in a value of any kind", async () => {
    for (const kind of [...Object.keys(KINDS), "91", "91*"]) {
      for (const part of PARTS) {
        for (const end of ["", "1", "x"]) {
          await assertLinear(
            (size) => filled(part, size / 10) + end,
            (value) => {
              validValue(kind, value);
            },
          );
        }
      }
    }
  });
});

/** Asserts that twice the input takes at most three times the time. */
async function assertLinear(
  inputOf: (size: number) => string,
  work: (input: string) => void | Promise<void>,
): Promise<void> {
  const [once, twice] = [inputOf(SIZE), inputOf(2 * SIZE)];
  let ratio = Infinity;
  for (let i = 0; i < ATTEMPTS && ratio > MAX_RATIO; i++) {
    const time = await leastTime(() => work(once));
    ratio = await leastTime(() => work(twice)) / Math.max(time, LEAST_MS);
  }
  assert(ratio <= MAX_RATIO, `Twice the input took ${ratio} times the time`);
}

async function leastTime(work: () => void | Promise<void>): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < RUNS; i++) {
    const start = performance.now();
    await work();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}
