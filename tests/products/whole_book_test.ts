import { assertEquals, assertRejects } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { testsOf } from "../support/app/harness.ts";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import { errorsOf } from "../support/client/writing.ts";

/*
 * What the trade needs of a book beside the specification's fields: the rules on several
 * fields, and the filters. `tests/input/fields_test.ts` tests each field by itself.
 */

const THEMA = { subject_scheme_identifier: "93" };
const OWN_SCHEME = { subject_scheme_identifier: "24" };

const PRICE = {
  currency_code: "GBP",
  valid_from: "2026-01-01",
  valid_to: "2026-12-31",
};

/** Entries that an array refuses, with the field and the code of the error. */
// deno-fmt-ignore
const REFUSED: [array: string, entries: unknown[], at: string, code: string][] = [
  ["product_prices", [PRICE, { ...PRICE, valid_to: "2025-12-31" }], "/1/valid_to", "invalid_date"],
  ["product_identifiers", [id("02", "0306406152")], TYPE(0), "use_isbn"],
  ["product_identifiers", [id("15", "9780306406157")], TYPE(0), "use_isbn"],
  ["product_identifiers", [id("15", "x")], TYPE(0), "use_isbn"],
  ["product_identifiers", [id("03", "978-0306406157")], TYPE(0), "use_isbn"],
  ["product_identifiers", [id("03", "9791090636071")], TYPE(0), "use_isbn"],
  ["product_identifiers", [id("01", "A")], "/0/id_type_name", "required"],
  ["product_identifiers", [id("01", "A", " ")], "/0/id_type_name", "required"],
  ["product_identifiers", [id("06", "A", "DOI")], "/0/id_type_name", "unexpected_name"],
  ["product_identifiers", [id("06", "A"), id("06", "B")], TYPE(1), "duplicate"],
  ["product_identifiers", [id("01", "A", "X"), id("01", "B", "Y"), id("01", "C", "X")], TYPE(2), "duplicate"],
  ["subjects", [THEMA], "/0/subject_code", "required"],
  ["subjects", [{ ...THEMA, subject_code: "" }], "/0/subject_code", "required"],
  ["subjects", [{ ...OWN_SCHEME, subject_code: "A" }], "/0/subject_scheme_name", "required"],
  ...["FBA FBC", "FBA;FBC", "FBA, FBC", "FBA\u00a0FBC", "FBA,"].map((subject_code): typeof REFUSED[number] =>
    ["subjects", [{ ...THEMA, subject_code }], "/0/subject_code", "invalid_code"]),
  ["subjects", [main(THEMA, "FBA"), main(THEMA, "FBC")], "/1/main_subject", "duplicate"],
  ["subjects", [main(named("X"), "1"), main(named("Y"), "1"), main(named("X"), "2")], "/2/main_subject", "duplicate"],
  ["extents", [{ extent_type: "00", extent_value: 300, extent_unit: "03" }], "/0/extent_type", "use_page_count"],
  ["measures", [measure("01", "mm"), measure("01", "cm"), measure("01", "mm")], "/2/measure_type", "duplicate"],
  ["audiences", [{ audience_code_type: "01", audience_code_value: "99" }], "/0/audience_code_value", "invalid_code"],
  ["audiences", [{ audience_code_type: "02", audience_code_value: "x" }], "/0/audience_code_type_name", "required"],
  ["audiences", [{ audience_code_type: "01", audience_code_value: "01", audience_code_type_name: "x" }],
      "/0/audience_code_type_name", "unexpected_name"],
  ["audience_ranges", [range({})], "/0/audience_range_exact", "required"],
  ["audience_ranges", [range({ audience_range_exact: "9", audience_range_to: "12" })], "/0/audience_range_exact",
      "unexpected_range"],
  ["product_form_features", [feature("09")], "/0/product_form_feature_value", "required"],
  ["product_form_features", [{ ...feature("09"), product_form_feature_descriptions: [] }], "/0/product_form_feature_value", "required"],
  ["product_form_features", [feature("09", "999")], "/0/product_form_feature_value", "invalid_code"],
  ["product_form_features", [feature("01", "mauve")], "/0/product_form_feature_value", "invalid_code"],
  ["product_form_features", [feature("09", "14"), feature("09", "15"), feature("09", "14")], "/2/product_form_feature_type", "duplicate"],
  ["publishing_dates", [{ publishing_date_role: "01", date: "2027-01-01" }], "/0/publishing_date_role",
      "use_publication_date"],
  ["publishing_dates", [{ publishing_date_role: "02", date: "2027" }, { publishing_date_role: "02", date: "2028" }],
      "/1/publishing_date_role", "duplicate"],
  related([id("15", "9780306406158")], "/0/id_value", "invalid_isbn13"),
  related([id("03", "9780306406158")], "/0/id_value", "invalid_isbn13"),
  related([id("02", "0306406153")], "/0/id_value", "invalid_isbn10"),
  related([id("06", "A"), id("06", "B")], "/1/product_id_type", "duplicate"),
  ["related_works", [{ work_relation_code: "01", work_identifiers: [{ work_id_type: "01", id_value: "1" }] }],
      "/0/work_identifiers/0/id_type_name", "required"],
];

function feature(product_form_feature_type: string, product_form_feature_value?: string) {
  return {
    product_form_feature_type,
    ...product_form_feature_value && { product_form_feature_value },
  };
}

const it = testsOf("The whole book");

it("is found by its accessibility", async ({ org, sql, app }) => {
  const described = { ...feature("09"), product_form_feature_descriptions: ["Tested by readers"] };
  const features = [feature("09", "14"), feature("07", "15"), described];
  const { path, product } = await org.create({ product_form_features: features });
  await org.create({ product_form_features: [feature("09", "00")] });
  const found = async (codes: string) => {
    const { status, body } = await org.get(`/api/products?accessibility_code=${codes}`);
    assertEquals(status, 200);
    return body.data.map(({ id }: { id: string }) => id);
  };
  assertEquals(await found("14"), [product.id]);
  assertEquals(await found("13,14"), [product.id]);
  assertEquals(await found("15"), []);
  assertEquals((await org.get("/api/products?accessibility_code=999")).status, 400);

  await org.put(path, { product_form_features: [feature("09", "15")] });
  assertEquals([await found("14"), await found("15")], [[], [product.id]]);
  if (app.isDistributed) return;
  await sql`
    update products set product_form_features = null
    where organization_id = ${org.id} and id = ${product.id}
  `;
  assertEquals(await found("15"), []);
});

it("refuses what a rule on several fields forbids", async ({ org }) => {
  const { path, product } = await org.create();
  for (const [array, entries, at, code] of REFUSED) {
    const body = { title: "Emma", [array]: entries };
    const expected: [string, string] = [`/${array}${at}`, code];

    assertDetails(await org.post("/api/products", body), expected);
    assertDetails(await org.put(path, body), expected);
    const batch = await org.batch([
      { method: "create", body },
      { method: "update", id: product.id, body },
      {
        method: "upsert",
        match: "isbn13",
        body: { ...body, isbn13: "9780306406157" },
      },
    ]);
    for (const result of batch.body.data) {
      assertEquals(errorsOf(result), [expected]);
    }
  }
  assertEquals((await org.get(path)).body.data, product);
});

it("refuses everything at once", async ({ org }) => {
  const body = Object.fromEntries([["title", "Emma"]]);
  const expected: [string, string][] = [];
  for (const [array, entries, at, code] of REFUSED) {
    if (array in body) continue;
    body[array] = entries as never;
    expected.push([`/${array}${at}`, code]);
  }

  const reply = await org.post("/api/products", body);

  assertDetails(reply, ...expected);
});

it("takes what is like it", async ({ org }) => {
  const identifiers = [
    id("03", "5012345678900"),
    id("14", "10614141543219"),
    id("01", "A", "X"),
    id("01", "A", "Y"),
  ];

  const defaults = [0, 1].map(() => ({ ...PRICE, is_default: true }));
  const { product } = await org.create({
    product_prices: defaults,
    product_identifiers: identifiers,
    subjects: [
      main(THEMA, "FBA"),
      main(named("X"), "1"),
      main(named("Y"), "1"),
      { ...THEMA, subject_code: "FBC", main_subject: null },
      { ...THEMA, subject_heading_text: "Novels" },
    ],
    extents: [{ extent_type: "00", extent_value: "930.50", extent_unit: "02" }],
    related_products: [{
      product_relation_codes: ["06"],
      product_identifiers: [
        id("15", "978-0-306-40615-7"),
        id("02", "0 8044 2957 x"),
        id("03", "5012345678900"),
      ],
    }],
  });

  assertHas(product.product_prices, defaults);
  assertEquals(product.extents[0].extent_value, 930.5);
  assertEquals(
    product.subjects.map((subject: Entry) => subject.main_subject),
    [true, true, true, false, false],
  );
  const [{ product_identifiers: others }] = product.related_products;
  assertEquals(
    others.map(({ id_value }: Entry) => id_value),
    ["9780306406157", "080442957X", "5012345678900"],
  );
});

it("refuses a price that would end before it begins", async ({ org, sql }) => {
  const { path, product } = await org.create({
    product_prices: [
      PRICE,
      { ...PRICE, valid_to: PRICE.valid_from },
      { ...PRICE, valid_from: null },
    ],
  });
  const [first, second, third]: { id: string }[] = product.product_prices;
  const later = { valid_from: "2027-01-01" };
  const body = {
    product_prices: [
      { id: first!.id, valid_to: "2025-12-31" },
      { id: second!.id, valid_from: "2026-01-02" },
      { id: third!.id, ...later, valid_to: null },
      { id: crypto.randomUUID() },
    ],
  };
  const expected: [string, string][] = [
    ["/product_prices/0/valid_to", "invalid_date"],
    ["/product_prices/1/valid_from", "invalid_date"],
    ["/product_prices/3/id", "unknown_reference"],
  ];

  assertDetails(await org.put(path, body), ...expected);
  const batch = await org.batch([{ method: "update", id: product.id, body }]);
  assertEquals(errorsOf(batch.body.data[0]).toSorted(), expected);
  const moved = await org.put(path, {
    product_prices: [
      { id: first!.id, ...later, valid_to: later.valid_from },
      { id: third!.id, ...later, valid_to: null },
    ],
  });
  assertEquals(moved.status, 200);
  await assertRejects(
    () => sql`update product_prices set valid_to = '2025-12-31' where id = ${first!.id}`,
    Error,
    "product_prices_validity",
  );
});

it("announces the publication by its month", async ({ org }) => {
  const month = { publishing_date_role: "01", date: "2027-03" };
  const embargo = { publishing_date_role: "02", date: "2027-03-01" };
  const contradictory: [string, string] = [
    "/publishing_dates/1/date",
    "contradictory",
  ];
  const { path, product } = await org.create({
    publishing_dates: [embargo, month],
  });
  assertEquals(product.publishing_dates, [embargo, month]);

  const set = await org.put(path, { publication_date: "2027-03-05" });
  assertEquals(set.body.data.publishing_dates, [embargo]);
  const dates = { publishing_dates: [embargo, { ...month, date: "2028" }] };
  assertDetails(await org.put(path, dates), contradictory);
  assertDetails(
    await org.put(path, { ...dates, publication_date: "2028-01-01" }),
    contradictory,
  );
  assertDetails(
    await org.post("/api/products", {
      title: "Emma",
      publication_date: "2028-01-01",
      ...dates,
    }),
    contradictory,
  );
  assertEquals((await org.get(path)).body, set.body);

  const back = await org.put(path, { ...dates, publication_date: null });
  assertEquals(back.body.data.publishing_dates, dates.publishing_dates);
  const { body } = await org.batch([
    { method: "update", id: product.id, body: dates },
    {
      method: "update",
      id: product.id,
      body: { publication_date: "2028-02-29" },
    },
    { method: "update", id: product.id, body: dates },
  ]);
  assertEquals(body.data[1].data.publishing_dates, [embargo]);
  assertEquals(errorsOf(body.data[2]), [contradictory]);
});

it("is found by what the API and SQL have made of it", async ({ org, app, sql }) => {
  if (app.isDistributed) return;
  const { id: product, path } = await org.create({
    subjects: [{ ...THEMA, subject_code: "FBA" }],
  });
  const totals = async () => {
    const codes = ["FBA", "FBC", "YF"].map(async (code) =>
      (await org.get(`/api/products?subject_code=${code}`)).body.meta.total
    );
    return await Promise.all(codes);
  };
  const write = (subjects: string | null) =>
    sql`
      update products set subjects = ${subjects}::text::jsonb
      where organization_id = ${org.id} and id = ${product}
    `;

  assertEquals(await totals(), [1, 0, 0]);
  await org.put(path, { subjects: [{ ...THEMA, subject_code: "FBC" }] });
  assertEquals(await totals(), [0, 1, 0]);
  await org.put(path, { title: "Persuasion" });
  assertEquals(await totals(), [0, 1, 0]);
  await write('[{"subject_code":"YF"},{"subject_code":"FBA"},7,{}]');
  assertEquals(await totals(), [1, 0, 1]);
  await write(null);
  assertEquals(await totals(), [0, 0, 0]);
  await sql`
    insert into products (organization_id, id, title, subjects)
    values (${org.id}, ${uuidv7()}, 'Emma', '[{"subject_code":"YF"}]')
  `;
  assertEquals(await totals(), [0, 0, 1]);
  await sql`delete from products where organization_id = ${org.id} and title = 'Emma'`;
  assertEquals(await totals(), [0, 0, 0]);
});

type Entry = Record<string, unknown>;

/** The pointer of the type of an identifier. */
function TYPE(index: number): string {
  return `/${index}/product_id_type`;
}

function id(product_id_type: string, id_value: string, id_type_name?: string) {
  return { product_id_type, id_value, id_type_name: id_type_name ?? null };
}

function main(scheme: object, subject_code: string) {
  return { ...scheme, subject_code, main_subject: true };
}

function named(subject_scheme_name: string) {
  return { ...OWN_SCHEME, subject_scheme_name };
}

function measure(measure_type: string, measure_unit_code: string) {
  return { measure_type, measure_unit_code, measurement: 1 };
}

function range(values: object) {
  return { audience_range_qualifier: "17", ...values };
}

function related(
  product_identifiers: unknown[],
  at: string,
  code: string,
): [string, unknown[], string, string] {
  return [
    "related_products",
    [{ product_relation_codes: ["06"], product_identifiers }],
    `/0/product_identifiers${at}`,
    code,
  ];
}
