import { assert, assertEquals } from "@std/assert";
import { fullBody } from "../support/data/bodies.ts";
import { assertDetails } from "../support/client/expect.ts";
import { testsOf } from "../support/app/harness.ts";

/*
 * `tests/model` plays updates of every field at random, `arrays_test.ts` those of arrays.
 */

const it = testsOf("PUT /products/{id}");

it("updates updated_at for every other body", async ({ org, app }) => {
  const body = await fullBody(app, org);
  const { path, product } = await org.create(body);
  let before = product.updated_at;

  for (const field of Object.keys(body)) {
    const same = product[field];
    const { status, body: { data } } = await org.put(path, { [field]: same });

    assertEquals(status, 200);
    assert(data.updated_at > before, field);
    assertEquals(data, { ...product, updated_at: data.updated_at });
    before = data.updated_at;
  }
});

it("updates updated_at even if the clock was set back", async ({ org, sql }) => {
  const { id, path } = await org.create();
  await sql`
    update products set updated_at = '2999-12-31 23:59:59.9995Z'
    where organization_id = ${org.id} and id = ${id}
  `;

  const first = await org.put(path, { title: "Persuasion" });
  const second = await org.put(path, { title: "Emma" });

  assertEquals(first.body.data.updated_at, "3000-01-01T00:00:00.000Z");
  assertEquals(second.body.data.updated_at, "3000-01-01T00:00:00.001Z");
});

it("ignores response-only fields", async ({ org, app }) => {
  const other = await app.organization();
  const { id, path, product } = await org.create(await fullBody(app, org));
  const { path: foreign } = await other.create();
  const shown = {
    ...Object.fromEntries(DISPLAYED.map((field) => [field, "x"])),
    id: crypto.randomUUID(),
    organization_id: other.id,
    product_code: "P-00000000",
    created_at: "2000-01-01T00:00:00.000Z",
    updated_at: "2000-01-01T00:00:00.000Z",
    license_name: "x",
    license_badge_colour: null,
    product_territories: [{ id: 1 }],
    product_sales_rights: {},
    collections: [1],
  };

  const ids = [...DISPLAYED, "license_name"]
    .map((field) => field.replace(/_[a-z]+$/, "_id"));
  const own = Object.fromEntries(ids.map((id) => [id, product[id]]));
  const none = Object.fromEntries(ids.map((id) => [id, null]));

  const updated = await org.put(path, { ...shown, ...own, subtitle: "x" });
  const created = await org.create({ ...shown, ...none });

  assertEquals(updated.status, 200);
  assertEquals(updated.body.data, {
    ...product,
    subtitle: "x",
    updated_at: updated.body.data.updated_at,
  });
  assert(![id, shown.id].includes(created.id));
  assertEquals(created.product.organization_id, org.id);
  for (const field of DISPLAYED) assert(!(field in created.product), field);
  assertEquals((await org.get(foreign)).status, 404);
});

it("accepts a GET response as body", async ({ org, app }) => {
  const { path: full } = await org.create(await fullBody(app, org));
  const { path: empty } = await org.create();

  for (const path of [full, empty]) {
    const { body: { data: read } } = await org.get(path);
    const { status, body: { data } } = await org.put(path, read);

    assertEquals(status, 200);
    assertEquals(data, { ...read, updated_at: data.updated_at });
  }
});

it("writes the complete body or nothing", async ({ org, app }) => {
  const body = await fullBody(app, org);
  const { path, product } = await org.create(body);
  const changes = {
    title: "Persuasion",
    page_count: 1,
    product_prices: [],
    packing_configurations: [{ unit_of_measure: "pallet" }],
    contributors: [],
    collateral: [],
    product_form_id: null,
    product_collections: [{ collection_id: org.series }],
  };
  const field_id = crypto.randomUUID();
  const wrong = {
    product_prices: [{ id: field_id }],
    packing_configurations: [{ id: field_id }],
    contributors: [{ ...body.contributors[0], contributor_id: field_id }],
    product_collections: [{ collection_id: field_id }],
    custom_fields: [{ field_id, field_value: 1 }],
    collateral: [{ id: field_id }],
    license_id: field_id,
    product_form_id: field_id,
    series_id: org.collection,
  };

  for (const [field, value] of Object.entries(wrong)) {
    const { status } = await org.put(path, { ...changes, [field]: value });

    assertEquals(status, 400, field);
    assertEquals((await org.get(path)).body.data, product, field);
  }
});

it("returns all errors in one response", async ({ org, app }) => {
  const { path, product } = await org.create(await fullBody(app, org));
  const id = crypto.randomUUID();
  const [text] = product.collateral;

  const reply = await org.put(path, {
    license_id: id,
    series_id: org.license,
    product_form_id: id,
    product_prices: [{ id }, {
      id: product.product_prices[0].id,
      valid_to: "2025-01-01",
    }],
    packing_configurations: [{ id }],
    contributors: [{ contributor_id: id, contributor_role_id: id }],
    custom_fields: [{ field_id: id, field_value: 1 }],
    collateral: [{ id }, { id: text.id, prize_name: "x" }],
  });

  assertDetails(
    reply,
    ["/license_id", "unknown_reference"],
    ["/product_form_id", "unknown_reference"],
    ["/contributors/0/contributor_id", "unknown_reference"],
    ["/contributors/0/contributor_role_id", "unknown_reference"],
    ["/custom_fields/0/field_id", "unknown_reference"],
    ["/series_id", "series_not_attached"],
    ["/packing_configurations/0/id", "unknown_reference"],
    ["/product_prices/0/id", "unknown_reference"],
    ["/product_prices/1/valid_to", "invalid_date"],
    ["/collateral/0/id", "unknown_reference"],
    ["/collateral/1/prize_name", "unknown_field"],
  );
});

it("returns 404 for an unknown id", async ({ org }) => {
  const { path: gone } = await org.create();
  await org.delete(gone);
  const id = crypto.randomUUID();

  for (const path of [gone, `/api/products/${id}`, "/api/products/1"]) {
    for (
      const body of [
        {},
        { title: "x", product_form_id: id },
        { license_id: id, series_id: id, product_prices: [{ id }] },
      ]
    ) {
      const { status, body: { error } } = await org.put(path, body);

      assertEquals([status, error.code], [404, "NOT_FOUND"]);
    }
  }
});

/** The fields that responses show only while they are set. */
const DISPLAYED = [
  "season_name",
  "publisher_name",
  "division_name",
  "imprint_name",
  "series_name",
  "format_name",
  "title_name",
  "publishing_status_name",
  "publishing_status_code",
  "product_availability_name",
  "product_availability_code",
  "lifecycle_status_name",
  "lifecycle_status_code",
  "product_form_code",
];
