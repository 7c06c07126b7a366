import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { REFERENCE_FILTERS } from "../../schema/list_query.ts";
import { COUNTED, valuesOf } from "../support/data/filters.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { idsOf, load } from "../support/sql/loading.ts";

/*
 * Filters by the ids of records, of which the description has one for each reference.
 * finding_table.txt has the others.
 */

const ALL = REFERENCE_FILTERS.map(({ field }) => field);

const REFERENCES = REFERENCE_FILTERS.filter(({ isCounted }) => !isCounted)
  .map(({ field }) => field);

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

it("filters by each reference", async ({ org, app }) => {
  const [one, two] = [org, { ...org, ...await furtherReferences(app, org) }];
  const first = await org.create({ title: "1", ...referring(one) });
  const second = await org.create({ title: "2", ...referring(two) });
  await org.create({ title: "None" });
  for (const column of REFERENCES) {
    const name = column.replace("_id", "") as keyof typeof one;
    const [x, y] = [one[name] as string, two[name] as string];
    const found = {
      [`${column}=${x}`]: [first.id],
      [`${column}=${x.toUpperCase()}`]: [first.id],
      [`${column}=${y}`]: [second.id],
      [`${column}=${x},${y},${none}`]: [second.id, first.id],
      [`${column}=${none}`]: [],
      [`${column}=${x}&lifecycle_status_id=${none}`]: [],
      [`${column}=${x}&product_type=kit`]: [],
      [`${column}=${y}&search=2&product_type=kit,normal`]: [second.id],
      [`${column}=${y}&search=1 none`]: [],
      [`${column}=${x},${y}&limit=1&page=2`]: [first.id],
    };
    for (const [query, ids] of Object.entries(found)) {
      const { status, body } = await org.get(`/api/products?${query}`);

      assertEquals(status, 200, query);
      assertEquals(idsOf(body.data), ids, query);
      assertEquals(body.meta.total, query.includes("page=2") ? 2 : ids.length);
    }
  }
});

it("combines terms, times and filters of every kind", async ({ org }) => {
  const isbn13 = "9780141439587";
  await org.create({
    isbn13,
    publisher_id: org.publisher,
    contributors: [{
      contributor_id: org.contributor,
      contributor_role_id: idOfCode("17", "A01"),
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
    (queries, kind) => queries.flatMap((query) => kind.map((of) => ({ ...query, ...of }))),
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

it("finds each of several exact values", async ({ org }) => {
  const made = [
    { isbn13: "9780306406157" },
    { isbn10: "0140449132" },
    { isbn13: "9783161484100", isbn10: "080442957X" },
  ];
  const products = [];
  for (const body of made) products.push(await org.create(body));
  const [a, b, c] = products.map(({ id }) => id);
  const codes = products.map(({ product }) => product.product_code);
  const lists: [string, (string | undefined)[]][] = [
    ["isbn13=978-0-306-40615-7,9783161484100", [a, c]],
    ["isbn13=9780306406157&isbn13=9783161484100", [a, c]],
    ["isbn10=0140449132, 0-8044-2957-x", [b, c]],
    [`product_code=${codes}`, [a, b, c]],
    [`product_code=${codes}&isbn10=0140449132`, [b]],
    ["isbn13=9780141439587,9783161484100", [c]],
  ];
  for (const [query, ids] of lists) {
    const { body } = await org.get(`/api/products?sort=created_at&${query}`);

    assertEquals(idsOf(body.data), ids, query);
    assertEquals(body.meta.total, ids.length, query);
  }
  const { body } = await org.get(
    "/api/products?isbn13=9783161484100,9783161484101",
  );
  assertEquals(body.error.details[0].code, "invalid_isbn13");
});

it("finds the products that share an ISBN", async ({ org, app }) => {
  const other = await app.organization();
  const made = [
    { isbn13: "9780306406157" },
    { isbn10: "0306406152" },
    { isbn13: "9780140449136", isbn10: "0140449132" },
    { isbn13: "9783161484100" },
    { isbn13: "9791090636071" },
    { isbn13: "9791090636071" },
  ];
  const ids = [];
  for (const body of made) ids.push((await org.create(body)).id);
  await other.create({ isbn13: "9783161484100" });
  const [a, b, , , c, d] = ids;

  const { body } = await org.get(
    "/api/products?shared_isbn=true&sort=created_at",
  );

  assertEquals(idsOf(body.data), [a, b, c, d]);
  assertEquals(body.meta.total, 4);
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

it("finds long values whole, and refuses long lists", async ({ org }) => {
  const id_value = "x".repeat(1999) + "é";
  await org.create({
    product_identifiers: [{ product_id_type: "06", id_value }],
  });
  const ask = (query: string) => org.get(`/api/products?${query}`);
  const totalOf = async (value: string) =>
    (await ask(`id_value=${encodeURIComponent(value)}`)).body.meta.total;

  assertEquals(await totalOf(id_value), 1);
  assertEquals(await totalOf(id_value.slice(0, -1)), 0);
  for (const column of ["format_id", "publisher_id"]) {
    const { status } = await ask(`${column}=${Array(100).fill(none)}`);
    assertEquals(status, 200);
  }
  for (
    const [parameter, value, expected] of [
      ["format_id", `${Array(101).fill(none)}`, "too_many"],
      ["subject_code", `${Array(101).fill("x")}`, "too_many"],
      ["subject_code", "x".repeat(201), "too_long"],
    ] as const
  ) {
    const { status, body } = await ask(`${parameter}=${value}`);
    const [{ code }] = body.error.details;
    assertEquals([status, code], [400, expected], parameter);
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

/** A second record of each kind that products refer to. */
async function furtherReferences(app: App, org: Organization) {
  const names = ["publisher", "imprint", "division", "season", "license"]
    .concat("title", "series", "collection", "contributor");
  const ids = Object.fromEntries(names.map((name) => [name, uuidv7()]));
  await app.sql.begin(async (sql) => {
    for (const [name, id] of Object.entries(ids)) {
      const table = name === "series" ? "collections" : `${name}s`;
      await sql`insert into ${
        sql(table)
      } (organization_id, id, name) values (${org.id}, ${id}, 'Second')`;
    }
  });
  return ids;
}

/** A body that refers to one record of each kind, to the contributor in two roles. */
function referring(records: Organization) {
  return {
    publisher_id: records.publisher,
    imprint_id: records.imprint,
    division_id: records.division,
    season_id: records.season,
    license_id: records.license,
    title_id: records.title,
    series_id: records.series,
    product_type: "normal",
    product_collections: [
      { collection_id: records.collection },
      { collection_id: records.series },
    ],
    contributors: ["A01", "E07"].map((role) => ({
      contributor_id: records.contributor,
      contributor_role_id: idOfCode("17", role),
    })),
  };
}
