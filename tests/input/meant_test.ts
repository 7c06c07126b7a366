import { assert, assertEquals } from "@std/assert";
import { openApp } from "../support/app/harness.ts";

/** Unknown fields of a product with the known ones that they mean. */
const FIELDS = {
  author: "contributors",
  barcode: "isbn13",
  contributers: "contributors",
  currency: "product_prices",
  ISBN: "isbn13",
  isbn_13: "isbn13",
  language: "languages",
  lanugages: "languages",
  pageCount: "page_count",
  pages: "page_count",
  price: "product_prices",
  publish_date: "publication_date",
  publisher: "publisher_id",
  stock: "product_availability_id",
  subtilte: "subtitle",
  titel: "title",
  translator: "contributors",
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
  primary_content_type: { list: 81, Text: undefined },
};

Deno.test("An error names what was meant", async (t) => {
  await using app = await openApp();
  const org = await app.organization();
  const messages = async (body: unknown, path = "/api/products") => {
    const { status, body: { error } } = await org.post(path, body);
    assertEquals(status, 400);
    return error.details.map((
      { pointer, message }: { pointer: string; message: string },
    ) => `${pointer} ${message}`);
  };

  await t.step("for an unknown field", async () => {
    for (const [field, meant] of Object.entries(FIELDS)) {
      assertEquals(await messages({ title: "Emma", [field]: 1 }), [
        `/${field} Unknown field: did you mean ${meant}?`,
      ]);
    }
  });

  await t.step("for an unknown field of an entry, and of a batch", async () => {
    const product_prices = [{ currency_code: "GBP", retailprice: 1, RRP: 1 }];

    assertEquals(await messages({ title: "Emma", product_prices }), [
      "/product_prices/0/retailprice Unknown field: did you mean retail_price?",
      "/product_prices/0/RRP Unknown field: did you mean retail_price?",
    ]);
    assertEquals(
      await messages({ operation: [] }, "/api/products/batch").then(
        ([, last]) => last,
      ),
      "/operation Unknown field: did you mean operations?",
    );
  });

  await t.step("and nothing where nothing is near", async () => {
    assertEquals(await messages({ title: "Emma", shelf: 1, "": 1 }), [
      "/shelf Unknown field",
      "/ Unknown field",
    ]);
  });

  await t.step("for an unknown parameter", async () => {
    const { body } = await org.get("/api/products?per_page=10&serach=emma");

    assertEquals(
      body.error.details.map(({ message }: { message: string }) => message),
      [
        "Unknown parameter: did you mean limit?",
        "Unknown parameter: did you mean search?",
      ],
    );
  });

  await t.step("for a wrong code, with its list", async () => {
    for (const [field, { list, ...codes }] of Object.entries(CODES)) {
      for (const [wrong, right] of Object.entries(codes)) {
        const [message] = await messages({ title: "Emma", [field]: wrong });
        const expected =
          `Expected a code of ONIX List ${list}, see /code-lists/${list}`;
        assert(message.startsWith(`/${field} ${expected}`), message);
        if (right) {
          assertEquals(
            message,
            `/${field} ${expected}: did you mean ${right}?`,
          );
        }
      }
    }
    const languages = [{ language_role: "1", language_code: "de" }];
    assertEquals(await messages({ title: "Emma", languages }), [
      "/languages/0/language_role Expected a code of ONIX List 22, see /code-lists/22: did you mean 01?",
      "/languages/0/language_code Expected a code of ONIX List 74, see /code-lists/74: did you mean ger?",
    ]);
  });
});
