import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { raw } from "../../db/connections/sql.ts";
import { statementsOf } from "../../db/sql_files.ts";
import { digestOf, SHOWN_VALUES } from "../../db/products/documents/document.ts";
import { selectFields } from "../../db/row_json.ts";
import type { Fields } from "../../schema/fields.ts";
import { SCALARS } from "../../schema/product.ts";
import { fullBody } from "../support/data/bodies.ts";
import { testsOf } from "../support/app/harness.ts";
import { settled } from "../support/app/settled.ts";

const it = testsOf("GET /products/{id}");

it("returns the full product (specification, 4.3)", async ({ org, app }) => {
  const body = await fullBody(app, org);
  const { id, path } = await org.create(body);

  const { status, body: { data } } = await org.get(path);

  const { product_code, created_at, updated_at, ...rest } = data;
  assertEquals(status, 200);
  assertMatch(product_code, /^P-[0-9A-HJKMNP-TV-Z]{8}$/);
  assertMatch(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assertMatch(updated_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assertEquals(rest, {
    ...body,
    id,
    organization_id: org.id,
    license_name: "World English",
    license_badge_colour: "#336699",
    season_name: "Spring",
    publisher_name: "Harbour Press",
    division_name: "Adult",
    imprint_name: "Lantern",
    series_name: "Novels",
    format_name: "Paperback",
    title_name: "Emma",
    publishing_status_name: "Active",
    publishing_status_code: "04",
    product_availability_name: "In stock",
    product_availability_code: "21",
    lifecycle_status_name: "Active",
    lifecycle_status_code: "active",
    product_form_code: "BC",
    collections: [
      { id: org.series, name: "Novels", collection_type: "series" },
      { id: org.collection, name: "Classics", collection_type: "theme" },
    ],
    product_prices: [
      {
        id: data.product_prices[0].id,
        currency_code: "GBP",
        retail_price: 9.99,
        retail_price_inc_tax: 9.99,
        list_price: 10.5,
        tax_rate: 0,
        is_default: true,
        valid_from: "2026-01-01",
        valid_to: "2026-12-31",
      },
      {
        id: data.product_prices[1].id,
        currency_code: "EUR",
        retail_price: null,
        retail_price_inc_tax: 12.5,
        list_price: 999999999999.9999,
        tax_rate: null,
        is_default: false,
        valid_from: null,
        valid_to: null,
      },
    ],
    packing_configurations: body.packing_configurations.map((entry, i) => ({
      id: data.packing_configurations[i].id,
      quantity: null,
      gtin: null,
      ...entry,
    })),
    contributors: [
      {
        ...body.contributors[0],
        contributor_name: "Jane Austen",
        contributor_role_name: "Read by",
        contributor_role_code: "E07",
      },
      {
        ...body.contributors[1],
        contributor_name: "Jane Austen",
        contributor_role_name: "By (author)",
        contributor_role_code: "A01",
      },
    ],
    product_collections: body.product_collections.map((entry) => ({
      part_number: null,
      ...entry,
      collection_name: entry.collection_id === org.series ? "Novels" : "Classics",
    })),
    custom_fields: [
      { field_id: org.customField, field_value: 12.5, field_name: "Shelf" },
    ],
    collateral: body.collateral.map((entry, i) => ({
      id: data.collateral[i].id,
      ...entry,
    })),
    product_territories: [],
    product_sales_rights: [],
  });
});

it("finds a product by its id in either case", async ({ org }) => {
  const { id, product } = await org.create();

  const { status, body } = await org.get(
    `/api/products/${id.toUpperCase()}`,
  );

  assertEquals(status, 200);
  assertEquals(body.data, product);
});

it("shows null for an empty column of a record", async ({ org, sql }) => {
  await sql.begin(async (sql) => {
    await sql`update licenses set badge_colour = null where organization_id = ${org.id}`;
    await sql`update collections set collection_type = null where organization_id = ${org.id}`;
  });

  const { product } = await org.create({
    license_id: org.license,
    product_collections: [{ collection_id: org.series }],
  });

  assertEquals(product.license_name, "World English");
  assertEquals(product.license_badge_colour, null);
  assertEquals(product.collections, [
    { id: org.series, name: "Novels", collection_type: null },
  ]);
});

it("shows a field that a stored document of an older release does not have", async ({ org, sql }) => {
  const { id, path } = await org.create({ subtitle: "A novel" });
  // Of a release that showed no subtitle: the digest of its SQL was another.
  await sql`
    update product_documents d
    set summary = replace(d.summary, ',"subtitle":"A novel"', ''), names_version = d.names_version - 1
    where d.organization_id = ${org.id} and d.product_id = ${id}
  `;

  const { body: { data: shown } } = await org.get(path);
  const { body: { data: [listed] } } = await org.get("/api/products");
  await settled(sql);
  const { body: { data: [changed] } } = await org.get("/api/products/changes");
  const { body: { data: history } } = await org.get(`${path}/history`);

  assertEquals(
    [shown.subtitle, listed.subtitle, changed.product.subtitle, history.length],
    ["A novel", "A novel", "A novel", 1],
  );
});

Deno.test("The digest of a document changes with a field that the document shows", () => {
  const { subtitle: _, ...fewer } = SCALARS;
  const selected = (fields: Fields) => selectFields(fields, { alias: "p" });

  assertNotEquals(digestOf(selected(SCALARS)), digestOf(selected(fewer)));
  assertEquals(digestOf(selected(SCALARS)), digestOf(selected({ ...SCALARS })));
});

Deno.test("The digest of a document is of the function that shows values", async () => {
  const text = await Deno.readTextFile(new URL("../../sql/functions.sql", import.meta.url));
  const [definition] = statementsOf(text).filter((one) => one.includes("function shown_values("));
  const digest = digestOf(raw(definition!));
  assertEquals(SHOWN_VALUES, digest, `Write ${digest} in db/products/documents/document.ts`);
});
