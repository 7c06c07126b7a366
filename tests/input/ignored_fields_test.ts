import { assertEquals } from "@std/assert";
import { idOfCode, openApp } from "../support/app/harness.ts";

Deno.test("Ignored-Fields", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const roles = [
    await idOfCode(app, "contributor_roles", "A01"),
    await idOfCode(app, "contributor_roles", "B01"),
  ];

  await it("is absent if no field is ignored", async () => {
    const created = await org.post("/api/products", { title: "Emma" });
    const refused = await org.post("/api/products", { id: "x", title: 1 });
    const missing = await org.put(`/api/products/${org.id}`, { id: "x" });

    assertEquals(created.headers.get("ignored-fields"), null);
    assertEquals([refused.status, missing.status], [400, 404]);
    for (const { headers } of [refused, missing]) {
      assertEquals(headers.get("ignored-fields"), null);
    }
  });

  await it("lists the response-only fields of POST", async () => {
    const { status, headers } = await org.post("/api/products", {
      publisher_id: org.publisher,
      publisher_name: "Harbour Press",
      title: "Emma",
      product_territories: [{ markets: [] }],
      contributors: roles.map((contributor_role_id) => ({
        contributor_id: org.contributor,
        contributor_role_id,
        contributor_name: "Jane Austen",
      })),
      custom_fields: [{
        field_id: org.customField,
        field_value: 1,
        field_name: "Shelf",
      }],
    });

    assertEquals(status, 201);
    assertEquals(
      headers.get("ignored-fields"),
      "publisher_name, product_territories, contributors.contributor_name, custom_fields.field_name",
    );
  });

  await it("lists the response-only fields when a GET response is PUT", async () => {
    const { path } = await org.create({ publisher_id: org.publisher });
    const { body: { data } } = await org.get(path);

    const { status, headers } = await org.put(path, data);

    assertEquals(status, 200);
    assertEquals(
      headers.get("ignored-fields")!.split(", ").sort(),
      [
        "collections",
        "created_at",
        "id",
        "license_badge_colour",
        "license_name",
        "organization_id",
        "product_code",
        "product_sales_rights",
        "product_territories",
        "publisher_name",
        "updated_at",
      ].filter((name) => name in data),
    );
  });

  await it("lists a product form without effect", async () => {
    const form = await idOfCode(app, "product_forms", "BC");
    const named = async (
      path: string,
      method: "post" | "put",
      body: Record<string, unknown>,
    ) => (await org[method](path, body)).headers.get("ignored-fields");
    const { path } = await org.create({ isbn13: "9780141439587" });
    const { path: withFormat } = await org.create({ format_id: org.format });
    const product_form_id = form;
    const format_id = org.format;

    const title = "Emma";
    const create = (body: object) =>
      named("/api/products", "post", { title, ...body });
    assertEquals(await create({ product_form_id }), "product_form_id");
    assertEquals(
      await create({ product_form_id, format_id: null, format_name: "Paper" }),
      "format_name, product_form_id",
    );
    assertEquals(await create({ product_form_id, format_id }), null);
    assertEquals(await create({ product_form_id: null }), null);
    assertEquals(
      await named(path, "put", { product_form_id }),
      "product_form_id",
    );
    assertEquals(await named(withFormat, "put", { product_form_id }), null);
    assertEquals(
      await named(withFormat, "put", { format_id: null, product_form_id }),
      "product_form_id",
    );

    const id = path.split("/").at(-1)!;
    const { id: formatted } = await org.create({ format_id });
    const batch = (...operations: object[]) =>
      Promise.all(
        ["full", "minimal"].map((returned) =>
          named("/api/products/batch", "post", { operations, return: returned })
        ),
      );
    const update = (id: string, body: object) => ({
      method: "update",
      id,
      body,
    });
    const upsert = { isbn13: "9780141439587", product_form_id };
    for (
      const operation of [
        { method: "create", body: { title, product_form_id } },
        update(id, { product_form_id }),
        { method: "upsert", match: "isbn13", body: upsert },
      ]
    ) {
      assertEquals(await batch(operation), [
        "product_form_id",
        "product_form_id",
      ]);
    }
    assertEquals(
      await batch(
        { method: "create", body: { title, format_id, product_form_id } },
        update(formatted, { product_form_id }),
      ),
      [null, null],
    );
    assertEquals(
      await batch(
        update(formatted, { format_id: null }),
        update(formatted, { product_form_id }),
      ),
      ["product_form_id", "product_form_id"],
    );
  });

  await it("is readable for pages (CORS)", async () => {
    const handler = app.variant({ corsOrigins: ["https://a.example"] });
    const { headers } = await handler(
      new Request("http://catalogue.test/health/live", {
        headers: { origin: "https://a.example" },
      }),
    );

    assertEquals(
      headers.get("access-control-expose-headers")?.split(", ")
        .includes("Ignored-Fields"),
      true,
    );
  });
});
