import { assertEquals, assertMatch } from "@std/assert";
import { ARRAYS } from "../../schema/product.ts";
import { WRITTEN } from "../support/data/written.ts";
import { fullBody } from "../support/data/bodies.ts";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import { testsOf } from "../support/app/harness.ts";

const it = testsOf("POST /products");

it("returns 201 with a product that has every field (specification, 4.1)", async ({ org, app }) => {
  const body = await fullBody(app, org);

  const { status, headers, body: { data } } = await org.post(
    "/api/products",
    body,
  );

  assertEquals(status, 201);
  assertEquals(headers.get("location"), `/api/products/${data.id}`);
  assertEquals((await org.get(`/api/products/${data.id}`)).body.data, data);
  assertHas(data, body);
});

it("accepts ids in upper case, and returns them in lower case", async ({ org, app }) => {
  const body = await fullBody(app, org);

  const { status, body: { data } } = await org.post(
    "/api/products",
    JSON.stringify(body)
      .replace(/"[0-9a-f-]{36}"/g, (id) => id.toUpperCase()),
  );

  assertEquals(status, 201);
  assertHas(data, body);
});

it("requires only the title", async ({ org }) => {
  const { status, body: { data } } = await org.post("/api/products", {
    title: "Emma",
  });

  assertEquals(status, 201);
  const { id, product_code, created_at, updated_at, ...rest } = data;
  assertMatch(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assertMatch(product_code, /^P-[0-9A-HJKMNP-TV-Z]{8}$/);
  assertMatch(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assertEquals(updated_at, created_at);
  assertEquals(rest, {
    organization_id: org.id,
    title: "Emma",
    ...Object.fromEntries(EMPTY.map((field) => [field, null])),
    ...Object.fromEntries(Object.keys(ARRAYS).map((name) => [name, []])),
  });
});

it("creates nothing if a row is invalid", async ({ org, app }) => {
  const body = await fullBody(app, org);
  const field_id = crypto.randomUUID();

  const reply = await org.post("/api/products", {
    ...body,
    custom_fields: [...body.custom_fields, { field_id, field_value: 1 }],
  });

  assertDetails(reply, ["/custom_fields/1/field_id", "unknown_reference"]);
  const list = await org.get("/api/products");
  assertEquals([list.body.data, list.body.meta.total], [[], 0]);
});

const WRITABLE = WRITTEN.filter((field) => field !== "title");

/** The response fields of a product that has only a title. */
const EMPTY = [...WRITABLE, "license_name", "license_badge_colour"];
