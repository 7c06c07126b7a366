import { assert, assertEquals, assertMatch } from "@std/assert";
import { codesIn, type OnixList } from "../../schema/onix_codes.ts";
import { ARRAYS } from "../../schema/product.ts";
import { testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

/** Unknown fields of a product with the known ones that they mean. */
const FIELDS = {
  age: "audience_ranges",
  author: "contributors",
  barcode: "isbn13",
  collection: "product_collections",
  contributers: "contributors",
  author_name: "contributors",
  copyright: "custom_fields",
  country: "country_of_publication",
  currency: "product_prices",
  doi: "product_identifiers",
  gtin: "isbn13",
  ISBN: "isbn13",
  isbn_13: "isbn13",
  lang: "languages",
  language: "languages",
  long_description: "collateral",
  lanugages: "languages",
  page_number: "page_count",
  pageCount: "page_count",
  pages: "page_count",
  price: "product_prices",
  publish_date: "publication_date",
  publisher: "publisher_id",
  retail_price: "product_prices",
  rights: "PUT /products/{id}/sales-rights",
  stock: "product_availability_id",
  subtilte: "subtitle",
  supplier: "PUT /products/{id}/territories",
  titel: "title",
  translator: "contributors",
  vat: "product_prices",
  volume: "product_collections",
};

const list = (number: number, meant: string) =>
  `Expected a code of ONIX List ${number}, see /code-lists/${number}: did you mean ${meant}?`;

const field = (meant: string) => `Unknown field: did you mean ${meant}?`;

/** Fields of a product beside its title, with the errors that they get. */
const REFUSED: [body: object, ...messages: string[]][] = [
  ...Object.entries(FIELDS).map((
    [name, meant],
  ): [object, string] => [{ [name]: 1 }, `/${name} ${field(meant)}`]),
  [{ shelf: 1, "": 1 }, "/shelf Unknown field", "/ Unknown field"],
  [
    {
      product_prices: [{ currency_code: "GBP", retailprice: 1, RRP: 1 }],
      product_collections: [{ name: "Classics", volume: 4 }],
    },
    `/product_prices/0/retailprice ${field("retail_price")}`,
    `/product_prices/0/RRP ${field("retail_price")}`,
    "/product_collections/0/collection_id This field is required: send collection_name instead, or the id",
    `/product_collections/0/name ${field("collection_id")}`,
    `/product_collections/0/volume ${field("part_number")}`,
  ],
  ...Object.entries({
    UK: "GB",
    gb: "GB",
    England: "GB",
    France: "FR",
    DEU: "DE",
    che: "CH",
  })
    .map(([country_of_publication, meant]): [object, string] => [
      { country_of_publication },
      `/country_of_publication ${list(91, meant)}`,
    ]),
  ...Object.entries({
    deu: "ger",
    nld: "dut",
    ell: "gre",
    zho: "chi",
    ces: "cze",
    "en-GB": "eng",
    fr_CA: "fre",
  })
    .map(([language_code, meant]): [object, string] => [
      { languages: [{ language_role: "01", language_code }] },
      `/languages/0/language_code ${list(74, meant)}`,
    ]),
  ...Object.entries({ Paperback: "BC", hardcover: "BB", bb: "BB" })
    .map(([product_form_code, meant]): [object, string] => [
      { product_form_code },
      `/product_form_code ${list(150, meant)}`,
    ]),
  ...Object.entries({ author: "A01", Translator: "B06", "Edited by": "B01" })
    .map(([contributor_role_code, meant]): [object, ...string[]] => [
      { contributors: [{ contributor_name: "Q", contributor_role_code }] },
      "/contributors/0/contributor_name There is no contributor with this name: create it with POST /contributors",
      `/contributors/0/contributor_role_code ${list(17, meant)}`,
    ]),
  ...Object.entries({ EURO: "EUR", Euros: "EUR", "US$": "USD", "¥": "JPY" })
    .map(([currency_code, meant]): [object, string] => [
      { product_prices: [{ currency_code, retail_price: 1 }] },
      `/product_prices/0/currency_code Expected a currency of ISO 4217, in capitals, see /code-lists/96: did you mean ${meant}?`,
    ]),
  [{ primary_content_type: "Text" }, `/primary_content_type ${list(81, "10")}`],
  [
    {
      languages: [{ language_role: "1", language_code: "de" }],
      subjects: [{ subject_scheme_identifier: "Thema", subject_code: "FBC" }],
      measures: [{
        measure_type: "Height",
        measurement: 8,
        measure_unit_code: "inch",
      }],
    },
    `/languages/0/language_role ${list(22, "01")}`,
    `/languages/0/language_code ${list(74, "ger")}`,
    `/subjects/0/subject_scheme_identifier ${list(27, "93")}`,
    `/measures/0/measure_type ${list(48, "01")}`,
    `/measures/0/measure_unit_code ${list(50, "in")}`,
  ],
  [
    { subjects: ["FBA"], contributors: ["Jane Austen"] },
    '/contributors/0 Expected an object such as {"contributor_name": "Jane Austen", "contributor_role_code": "A01"}',
    '/subjects/0 Expected an object such as {"subject_scheme_identifier": "93", "subject_code": "FBA"}',
  ],
  [
    { publication_date: "1995" },
    "/publication_date Expected a calendar day as YYYY-MM-DD: a year or month stands in publishing_dates, with role 01",
  ],
  [
    { publishing_status_id: "04", publisher_id: "Harbour Press" },
    "/publishing_status_id Expected the id of a record, a UUID: see /publishing-statuses",
    "/publisher_id Expected the id of a record, a UUID: see /publishers",
  ],
];

const it = testsOf("An error names what was meant");

/** The errors of a refused body, with their pointers. */
async function messages(
  org: Organization,
  body: object,
  path = "/api/products",
): Promise<string[]> {
  const { status, body: { error } } = await org.post(path, body);
  assertEquals(status, 400);
  return error.details.map((
    { pointer, message }: { pointer: string; message: string },
  ) => `${pointer} ${message}`);
}

it("by an unknown field, a wrong code or a name instead of an id", async ({ org }) => {
  for (const [body, ...expected] of REFUSED) {
    assertEquals(await messages(org, { title: "Emma", ...body }), expected);
  }
  const [, last] = await messages(
    org,
    { operation: [] },
    "/api/products/batch",
  );
  assertEquals(last, `/operation ${field("operations")}`);
});

it("by the name of a record", async ({ org }) => {
  const named: [path: string, sent: string][] = [
    ["publishers", "publisher_name"],
    ["imprints", "imprintName"],
    ["collections", "collection_name"],
    ["custom-fields", "field_name"],
    ["titles", "title"],
    ["formats", "label"],
  ];
  for (const [path, sent] of named) {
    assertEquals(
      await messages(org, { [sent]: "Harbour Press" }, `/api/${path}`),
      ["/name This field is required", `/${sent} ${field("name")}`],
    );
  }
});

it("by an entry without a role, a record or a field", async ({ org }) => {
  const body = {
    title: "Emma",
    contributors: [{}],
    product_collections: [{}],
    custom_fields: [{ field_value: "1" }],
    languages: [{ language_code: "eng" }],
  };
  const required = (hint: string) => `This field is required: ${hint}`;
  assertEquals(
    new Set(await messages(org, body)),
    new Set([
      `/contributors/0/contributor_id ${required("send contributor_name instead, or the id")}`,
      `/contributors/0/contributor_role_id ${
        required("send contributor_role_code instead, such as A01 for an author, or the id")
      }`,
      `/product_collections/0/collection_id ${required("send collection_name instead, or the id")}`,
      `/custom_fields/0/field_id ${required("send field_name instead, or the id")}`,
      `/languages/0/language_role ${
        required("such as 01 for the language of the text, see /code-lists/22")
      }`,
    ]),
  );
});

it("by a code of its list, for each required code of an entry", async ({ org }) => {
  const arrays = Object.keys(ARRAYS).map((name) => [name, [{}]]);
  const found = (await messages(org, { title: "Emma", ...Object.fromEntries(arrays) }))
    .filter((message) => message.includes("This field is required: such as"));

  assertEquals(found.length, 11, found.join("\n"));
  for (const message of found) {
    const [, code, list] = /such as (\w+) .*see \/code-lists\/(\d+)$/.exec(message) ?? [];
    assert(codesIn(Number(list) as OnixList).includes(code!), message);
  }
});

it("by ISBNs of two books, which are stored", async ({ org }) => {
  const { body } = await org.post("/api/products", {
    title: "Emma",
    isbn13: "9780141439587",
    isbn10: "0306406152",
  });
  assertEquals(body.warnings, [{
    pointer: "/isbn10",
    code: "other_book",
    message:
      "The ISBN-10 is that of 9780306406157, not of the isbn13: one of the two is of another book",
  }]);
  const one = await org.post("/api/products", {
    title: "Emma",
    isbn13: "9780306406157",
    isbn10: "0306406152",
  });
  assertEquals(one.body.warnings, undefined);
});

/** The errors of lists with these parameters. */
const QUERIES: Record<string, string> = {
  "per_page=10": "Unknown parameter: did you mean limit?",
  "serach=emma": "Unknown parameter: did you mean search?",
  "updated_after=2027": "Unknown parameter: did you mean updated_since?",
  "author=x": "Unknown parameter: did you mean contributor_id?",
  "translator=x": "Unknown parameter: did you mean contributor_id?",
  "query=x": "Unknown parameter: did you mean q?",
  "fields=title": "Unknown parameter: did you mean include?",
  "language_code=en": list(74, "eng"),
  "publishing_status_code=active": list(64, "04"),
  "product_form_code=bc": list(150, "BC"),
  "lifecycle_status_code=activ": "Expected a code of /lifecycle-statuses: did you mean active?",
  "publication_date_from=2026": "Expected a calendar day as YYYY-MM-DD",
};

it("in a query", async ({ org }) => {
  for (const [query, message] of Object.entries(QUERIES)) {
    const { body } = await org.get(`/api/products?${query}`);

    const [parameter] = query.split("=");
    const { details: [detail] } = body.error;
    assertEquals([detail.parameter, detail.message], [parameter, message]);
  }
  const { body } = await org.get("/api/products?include=contributors,price");
  assertMatch(
    body.error.details[0].message,
    /, supporting_resources: did you mean product_prices\?$/,
  );
});
