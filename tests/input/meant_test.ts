import { assertEquals } from "@std/assert";
import { type Organization, testsOf } from "../support/app/harness.ts";

/** Unknown fields of a product with the known ones that they mean. */
const FIELDS = {
  age: "audience_ranges",
  author: "contributors",
  barcode: "isbn13",
  collection: "product_collections",
  contributers: "contributors",
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
  stock: "product_availability_id",
  subtilte: "subtitle",
  titel: "title",
  translator: "contributors",
  vat: "product_prices",
  volume: "product_collections",
};

/** Wrong codes with the right ones, by the number of the list and the field. */
const CODES = {
  country_of_publication: {
    list: 91,
    UK: "GB",
    gb: "GB",
    England: "GB",
    France: "FR",
  },
  primary_content_type: { list: 81, Text: "10" },
};

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

it("for an unknown field", async ({ org }) => {
  for (const [field, meant] of Object.entries(FIELDS)) {
    assertEquals(await messages(org, { title: "Emma", [field]: 1 }), [
      `/${field} Unknown field: did you mean ${meant}?`,
    ]);
  }
});

it("for an unknown field of an entry, and of a batch", async ({ org }) => {
  const product_prices = [{ currency_code: "GBP", retailprice: 1, RRP: 1 }];
  const product_collections = [{ name: "Classics", volume: 4 }];

  assertEquals(await messages(org, { title: "Emma", product_prices }), [
    "/product_prices/0/retailprice Unknown field: did you mean retail_price?",
    "/product_prices/0/RRP Unknown field: did you mean retail_price?",
  ]);
  assertEquals(await messages(org, { title: "Emma", product_collections }), [
    "/product_collections/0/collection_id This field is required",
    "/product_collections/0/name Unknown field: did you mean collection_id?",
    "/product_collections/0/volume Unknown field: did you mean part_number?",
  ]);
  const [, last] = await messages(
    org,
    { operation: [] },
    "/api/products/batch",
  );
  assertEquals(last, "/operation Unknown field: did you mean operations?");
});

it("and nothing where nothing is near", async ({ org }) => {
  assertEquals(await messages(org, { title: "Emma", shelf: 1, "": 1 }), [
    "/shelf Unknown field",
    "/ Unknown field",
  ]);
});

it("for an unknown parameter", async ({ org }) => {
  const { body } = await org.get(
    "/api/products?per_page=10&serach=emma&updated_after=2027",
  );

  assertEquals(
    body.error.details.map(({ message }: { message: string }) => message),
    ["limit", "search", "updated_since"].map((meant) =>
      `Unknown parameter: did you mean ${meant}?`
    ),
  );
});

it("for a wrong code, with its list", async ({ org }) => {
  for (const [field, { list, ...codes }] of Object.entries(CODES)) {
    for (const [wrong, right] of Object.entries(codes)) {
      const [message] = await messages(org, { title: "Emma", [field]: wrong });
      const meant = `: did you mean ${right}?`;
      assertEquals(
        message,
        `/${field} Expected a code of ONIX List ${list}, see /code-lists/${list}${meant}`,
      );
    }
  }
});

it("for a wrong code of an entry", async ({ org }) => {
  const body = {
    title: "Emma",
    languages: [{ language_role: "1", language_code: "de" }],
    subjects: [{ subject_scheme_identifier: "Thema", subject_code: "FBC" }],
    measures: [{
      measure_type: "Height",
      measurement: 8,
      measure_unit_code: "inch",
    }],
  };

  const meant = (await messages(org, body)).map((message) =>
    message.replace(/ Expected .* did you mean/, "")
  );

  assertEquals(meant, [
    "/languages/0/language_role 01?",
    "/languages/0/language_code ger?",
    "/subjects/0/subject_scheme_identifier 93?",
    "/measures/0/measure_type 01?",
    "/measures/0/measure_unit_code in?",
  ]);
});

it("for a code or a name instead of an id: where the ids are", async ({ org }) => {
  const wrong = { publishing_status_id: "04", publisher_id: "Harbour Press" };

  assertEquals(await messages(org, { title: "Emma", ...wrong }), [
    "/publishing_status_id Expected the id of a record, a UUID: see /publishing-statuses",
    "/publisher_id Expected the id of a record, a UUID: see /publishers",
  ]);
});
