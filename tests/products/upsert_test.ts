import { assertEquals } from "@std/assert";
import { assertHas } from "../support/client/expect.ts";
import { testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { Copy } from "../support/client/copy.ts";
import { fullBody } from "../support/data/bodies.ts";

type Row = Record<string, unknown>;

/** The result of the upsert of one book. */
async function upsert(org: Organization, body: object, match = "isbn13") {
  const { body: { data } } = await org.batch([{
    method: "upsert",
    match,
    body,
  }]);
  return data[0];
}

const it = testsOf("An upsert says what is");

it("and changes nothing when repeated", async ({ org, app }) => {
  const body = await fullBody(app, org);
  const copy = new Copy(org, app);
  const created = await upsert(org, body);
  await copy.catchUp();

  const repeated = await upsert(org, body);
  const sentBack = await upsert(org, created.data);
  const minimal = await org.batch(
    [{ method: "upsert", match: "isbn10", body }],
    { return: "minimal" },
  );

  assertEquals(created.status, 201);
  assertEquals(repeated, { status: 200, data: created.data });
  assertEquals(sentBack, repeated);
  assertEquals(minimal.body.data, [{
    status: 200,
    data: { id: created.data.id },
  }]);
  assertEquals((await copy.read()).changes, []);
});

it("of the book with the ISBN, not with such a code", async ({ org, sql }) => {
  const isbn13 = "9780306406157";
  const { id } = await org.create({ title: "Emma" });
  await sql`update products set product_code = ${isbn13} where organization_id = ${org.id} and id = ${id}`;

  const created = await upsert(org, { title: "Persuasion", isbn13 });
  const found = await upsert(
    org,
    { product_code: isbn13, page_count: 7 },
    "product_code",
  );

  assertEquals(created.status, 201);
  assertEquals([found.status, found.data.id], [200, id]);
});

const ISBN_10 = { isbn10: "0306406152" };
const ISBN_13 = { isbn13: "9780306406157" };

it("of the book with the ISBN in either form", async ({ org }) => {
  for (const [stored, sent] of [[ISBN_10, ISBN_13], [ISBN_13, ISBN_10]]) {
    const { id } = await org.create({ title: "Emma", ...stored });

    const [match] = Object.keys(sent!);
    const found = await upsert(org, { title: "Emma", ...sent }, match);

    assertEquals([found.status, found.data.id], [200, id], match);
    assertHas(found.data, { ...ISBN_10, ...ISBN_13 });
    await org.delete(`/api/products/${id}`);
  }
});

it("of none of several books with the ISBN, and names them", async ({ org }) => {
  const { id } = await org.create({ title: "Emma", ...ISBN_10 });
  const { id: other } = await org.create({ title: "Emma", ...ISBN_13 });

  const { status, error } = await upsert(org, ISBN_13);

  const message = `Several products have this ISBN: ${id}, ${other}`;
  assertEquals(status, 409);
  assertEquals(error, {
    code: "AMBIGUOUS",
    message,
    details: [{ pointer: "/isbn13", code: "ambiguous", message }],
  });
});

it("of one book, in whichever form its ISBN comes at the same time", async ({ org }) => {
  for (const atomic of [false, true]) {
    const isbns = atomic
      ? [{ isbn10: "080442957X" }, { isbn13: "9780804429573" }]
      : [ISBN_10, ISBN_13];
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, i) => {
        const isbn = isbns[i % 2]!;
        const [match] = Object.keys(isbn);
        const body = { title: "Emma", ...isbn };
        return org.batch([{ method: "upsert", match, body }], { atomic });
      }),
    );

    const results = replies.map(({ body }) => body.data[0]);
    const created = results.filter(({ status }) => status === 201);
    assertEquals(created.length, 1);
    assertEquals(new Set(results.map(({ data }) => data.id)).size, 1);
  }
});

it("whatever form its values have", async ({ org, app }) => {
  const { isbn13, ...rest } = await fullBody(app, org);
  const created = await upsert(org, {
    ...rest,
    isbn13,
    product_prices: [
      { currency_code: "GBP", list_price: 30.8, tax_rate: 0 },
      { currency_code: "EUR", list_price: 999999999999.9999 },
    ],
  });

  const repeated = await upsert(org, {
    publisher_id: org.publisher.toUpperCase(),
    isbn13: "978-0-306-40615-7",
    product_prices: [
      {
        currency_code: "GBP",
        list_price: "30.80",
        tax_rate: "-0.00",
        valid_to: null,
        is_default: false,
      },
      { currency_code: "EUR", list_price: "999999999999.9999" },
    ],
    languages: [{ ...rest.languages[0]!, country_code: "GB" }],
  });

  assertEquals(repeated, { status: 200, data: created.data });
});

it("of a whole entry, without the fields that it does not have", async ({ org, app }) => {
  const body = await fullBody(app, org);
  const { data: { product_prices: [, price] } } = await upsert(org, body);

  const { data } = await upsert(org, {
    isbn13: body.isbn13,
    product_prices: [{ currency_code: "EUR" }],
  });

  assertEquals(data.product_prices, [{
    ...price,
    retail_price_inc_tax: null,
    list_price: null,
  }]);
});

it("of a product form, which its format has", async ({ org }) => {
  const isbn13 = "9780306406157";
  const [hardback, paperback] = [idOfCode("150", "BB"), idOfCode("150", "BC")];
  const without = { title: "Emma", isbn13, product_form_id: hardback };
  const created = await upsert(org, without);
  assertEquals(await upsert(org, without), { status: 200, data: created.data });

  const { data } = await upsert(org, { ...without, format_id: org.format });
  assertEquals(data.product_form_id, hardback);
  const { data: changed } = await upsert(org, {
    isbn13,
    product_form_id: paperback,
  });
  assertEquals(changed.product_form_id, paperback);
});
