import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { REFERENCE_FILTERS } from "../../schema/list_query.ts";
import { COUNTED, valuesOf } from "../support/data/filters.ts";
import { idOfCode, testsOf } from "../support/app/harness.ts";
import { titlesOf } from "../support/client/searching.ts";
import { idsOf, load } from "../support/sql/loading.ts";

const ALL = REFERENCE_FILTERS.map(({ name }) => name);

const it = testsOf("GET /products by filters");

const none = uuidv7();

it("filters by each column and by all together (specification, 4.2)", async ({ org, app }) => {
  const values = await valuesOf(app, org);
  const { rows } = await load(app, org, 32, (i) => ({
    publishing_status_id: pick(values.publishing_status_id, i),
    lifecycle_status_id: pick(values.lifecycle_status_id, i >> 1),
    product_availability_id: pick(values.product_availability_id, i >> 2),
    format_id: pick(values.format_id, i >> 3),
  }));
  for (let chosen = 0; chosen < 16; chosen++) {
    const columns = COUNTED.filter((_, i) => chosen & 1 << i);
    const query = new URLSearchParams({ limit: "100" });
    for (const column of columns) query.set(column, values[column][0]!);

    const { status, body } = await org.get(`/api/products?${query}`);

    const expected = rows.filter((row) =>
      columns.every((column) => row[column] === values[column][0])
    );
    assertEquals(status, 200);
    assertEquals(idsOf(body.data).sort(), idsOf(expected).sort());
    assertEquals(body.meta.total, expected.length);
    assert(expected.length > 0);
  }
});

it("combines terms, times and filters of every kind", async ({ org, app }) => {
  const isbn13 = "9780141439587";
  await org.create({
    isbn13,
    publisher_id: org.publisher,
    contributors: [{
      contributor_id: org.contributor,
      contributor_role_id: await idOfCode(app, "contributor_roles", "A01"),
    }],
    subjects: [{ subject_scheme_identifier: "93", subject_code: "FBA" }],
  });
  const since = "2000-01-01T00:00:00Z";
  const kinds: Record<string, string>[][] = [
    [{ search: "emma" }, { q: "emma" }, { search: "emm", q: "emma" }, {}],
    [{ updated_since: since }, { sort: "updated_at" }, { sort: "title" }, {}],
    [
      { isbn13 },
      { publisher_id: org.publisher },
      { contributor_id: org.contributor },
      { subject_code: "FB*" },
      { publisher_id: org.publisher, subject_code: "FBA", isbn13 },
      {},
    ],
  ];
  const queries = kinds.reduce(
    (queries, kind) =>
      queries.flatMap((query) => kind.map((of) => ({ ...query, ...of }))),
    [{}],
  );
  assertEquals(queries.length, 96);
  for (const query of queries) {
    const path = `/api/products?${new URLSearchParams(query)}`;
    const { status, body } = await org.get(path);

    assertEquals([status, body.meta?.total], [200, 1], path);
    assertEquals(body.data[0].isbn13, isbn13);
  }
});

it("finds nothing by an unknown id or another organization's", async ({ org, app }) => {
  const other = await app.organization();
  await load(app, org, 2, () => ({ format_id: org.format }));
  await load(app, other, 2, () => ({ format_id: other.format }));
  for (const id of [none, other.format]) {
    for (const column of ALL) {
      const { status, body } = await org.get(
        `/api/products?${column}=${id}`,
      );

      assertEquals(status, 200);
      assertEquals(body.data, []);
      assertEquals(body.meta.total, 0);
    }
  }
});

it("finds what other products' writes leave alone", async ({ org, app }) => {
  const other = await app.organization();
  const subjects = [{ subject_scheme_identifier: "93", subject_code: "FBA" }];
  const kept = await org.create({ subjects });
  await other.create({ subjects });
  const changed = await org.create({ subjects });

  await org.put(changed.path, { subjects: [] });

  const found = async ({ get }: typeof org) =>
    idsOf((await get("/api/products?subject_code=FBA")).body.data);
  assertEquals(await found(org), [kept.id]);
  assertEquals((await found(other)).length, 1);
});

it("accepts an id in either case", async ({ org, app }) => {
  await load(app, org, 1, () => ({ format_id: org.format }));

  const { body } = await org.get(
    `/api/products?format_id=${org.format.toUpperCase()}`,
  );

  assertEquals(body.meta.total, 1);
});

it("refuses an invalid id", async ({ org }) => {
  const ids = ["", "null", "1", "04", none.replaceAll("-", ""), `{${none}}`]
    .concat(`urn:uuid:${none}`, `${none}0`, `${none}%0A`, `%20${none}`)
    .concat(`${none},%0D${none}`, `${none}%C2%A0`, `${none},`)
    .concat("' or ''='", "%00", none.replaceAll("0", "٠"));
  for (const column of ALL) {
    for (const id of ids) {
      const { status, body } = await org.get(
        `/api/products?${column}=${id}`,
      );

      assertEquals(status, 400, id);
      assertEquals(body.error.details[0].parameter, column);
      assertEquals(body.error.details[0].code, "invalid_uuid");
    }
  }
});

it("takes a list as one parameter, as several, and mixed", async ({ org }) => {
  const types = ["kit", "kit_part", "indent"];
  for (const product_type of [...types, "normal"]) {
    await org.create({ title: product_type, product_type });
  }
  const found = async (query: string) => {
    const { status, body } = await org.get(
      `/api/products?sort=title&${query}`,
    );
    assertEquals(status, 200, JSON.stringify(body.error));
    return body.data;
  };

  for (
    const query of [
      "product_type=kit,kit_part,indent",
      "product_type=kit&product_type=kit_part&product_type=indent",
      "product_type=indent,kit&product_type=kit_part",
    ]
  ) {
    const products = await found(query);
    const titles = titlesOf(products);
    assertEquals(titles, types.toSorted());
  }
  const [product] = await found("include=custom_fields&include=collateral");
  assertEquals([product.custom_fields, product.collateral], [[], []]);
  const ids = `format_id=${org.format}&format_id=${crypto.randomUUID()}`;
  assertEquals(await found(ids), []);
  for (
    const [path, ...refused] of [
      [`?format_id=${org.format}&format_id=x`, "format_id", "invalid_uuid"],
      ["/changes?limit=1&limit=2", "limit", "duplicate"],
    ]
  ) {
    const { body } = await org.get(`/api/products${path}`);
    const [{ parameter, code }] = body.error.details;
    assertEquals([parameter, code], refused);
  }
});

it("refuses unknown and repeated parameters, all at once", async ({ org }) => {
  const many = Array.from({ length: 10_000 }, (_, i) => `p${i}=1`).join("&");

  const { body: { error } } = await org.get(
    `/api/products?page=1&page=2&Limit=1&page[]=1&format_id=x&Q&__proto__=1&=`,
  );
  const flooded = await org.get(`/api/products?${many}`);

  assertEquals(error.code, "VALIDATION_ERROR");
  assertEquals(
    error.details.map(({ parameter, code }: Record<string, string>) => [
      parameter,
      code,
    ]),
    [
      ["page", "duplicate"],
      ["Limit", "unknown_parameter"],
      ["page[]", "unknown_parameter"],
      ["Q", "unknown_parameter"],
      ["__proto__", "unknown_parameter"],
      ["", "unknown_parameter"],
      ["format_id", "invalid_uuid"],
    ],
  );
  assertEquals(flooded.status, 400);
  assertEquals(flooded.body.error.details, [
    { parameter: "", code: "too_many", message: "At most 1000 parameters" },
  ]);
});

/** The first value, the second one, or none. */
function pick(values: string[], i: number): string | null {
  return values[i % 2] ?? null;
}
