import { assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { REFERENCE_FILTERS } from "../../schema/list_query.ts";
import {
  type App,
  idOfCode,
  type Organization,
  testsOf,
} from "../support/app/harness.ts";
import { titlesOf } from "../support/client/searching.ts";
import { idsOf } from "../support/sql/loading.ts";

const FILTERS = REFERENCE_FILTERS.filter(({ isCounted }) => !isCounted)
  .map(({ name }) => name);

const it = testsOf("GET /products by references and product_type");

const none = uuidv7();

it("filters by each reference", async ({ org, app }) => {
  const [one, two] = [org, { ...org, ...await furtherReferences(app, org) }];
  const first = await org.create({ title: "1", ...await referring(app, one) });
  const second = await org.create({ title: "2", ...await referring(app, two) });
  await org.create({ title: "None" });
  for (const column of FILTERS) {
    const name = column.replace("_id", "") as keyof typeof one;
    const [x, y] = [one[name], two[name]];
    const found = {
      [`${column}=${x}`]: [first.id],
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

it("combines all of these filters", async ({ org, app }) => {
  const other = { ...org, ...await furtherReferences(app, org) };
  const { id } = await org.create(await referring(app, org));
  const recordOf = (records: Organization, column: string) =>
    records[column.replace("_id", "") as keyof Organization] as string;
  const query = new URLSearchParams(
    FILTERS.map((column) => [column, recordOf(org, column)]),
  );
  const all = await org.get(`/api/products?${query}`);

  assertEquals(idsOf(all.body.data), [id]);
  assertEquals(all.body.meta.total, 1);
  for (const column of FILTERS) {
    const differing = new URLSearchParams(query);
    differing.set(column, recordOf(other, column));

    const { body } = await org.get(`/api/products?${differing}`);

    assertEquals(body.meta.total, 0, column);
  }
});

it("finds a contributor in two roles once", async ({ org, app }) => {
  const roles = ["A01", "E07"].map((code) =>
    idOfCode(app, "contributor_roles", code)
  );
  await org.create({
    contributors: (await Promise.all(roles)).map((contributor_role_id) => ({
      contributor_id: org.contributor,
      contributor_role_id,
    })),
  });

  const { body } = await org.get(
    `/api/products?contributor_id=${org.contributor}`,
  );

  assertEquals(body.data.length, 1);
  assertEquals(body.meta.total, 1);
});

it("filters by series, not by collection", async ({ org }) => {
  const product_collections = [{ collection_id: org.series }];
  await org.create({ title: "Collected", product_collections });
  await org.create({
    title: "Serial",
    series_id: org.series,
    product_collections,
  });

  const { body } = await org.get(`/api/products?series_id=${org.series}`);
  const all = await org.get(`/api/products?collection_id=${org.series}`);

  assertEquals(body.meta.total, 1);
  assertEquals(body.data[0].title, "Serial");
  assertEquals(all.body.meta.total, 2);
});

it("filters by product_type", async ({ org }) => {
  const types = ["normal", "kit", "trade_only", null];
  for (const product_type of types) {
    await org.create({ title: `${product_type}`, product_type });
  }
  const found = {
    "kit": ["kit"],
    "kit,normal": ["kit", "normal"],
    " trade_only , trade_only": ["trade_only"],
    "indent": [],
  };
  for (const [list, titles] of Object.entries(found)) {
    const { body } = await org.get(`/api/products?product_type=${list}`);

    assertEquals(titlesOf(body.data), titles);
    assertEquals(body.meta.total, titles.length);
  }
  for (const list of ["", "Kit", "kit,", "null", "kit;normal"]) {
    const { status, body } = await org.get(
      `/api/products?product_type=${list}`,
    );

    assertEquals(status, 400, list);
    assertEquals(body.error.details[0].parameter, "product_type");
    assertEquals(body.error.details[0].code, "invalid_value");
  }
});

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

/** A body that refers to one record of each kind. */
async function referring(app: App, records: Organization) {
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
    contributors: [{
      contributor_id: records.contributor,
      contributor_role_id: await idOfCode(app, "contributor_roles", "A01"),
    }],
  };
}
