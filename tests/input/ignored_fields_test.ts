import { assert, assertEquals } from "@std/assert";
import { idOfCode, openApp } from "../support/app/harness.ts";

Deno.test("Ignored-Fields", async (t) => {
  await using app = await openApp();
  const org = await app.organization();
  const roles = [
    await idOfCode(app, "contributor_roles", "A01"),
    await idOfCode(app, "contributor_roles", "B01"),
  ];

  await t.step("is absent if no field is ignored", async () => {
    const created = await org.post("/api/products", { title: "Emma" });
    const refused = await org.post("/api/products", { id: "x", title: 1 });
    const missing = await org.put(`/api/products/${org.id}`, { id: "x" });

    assertEquals(created.headers.get("ignored-fields"), null);
    assertEquals([refused.status, missing.status], [400, 404]);
    for (const { headers } of [refused, missing]) {
      assertEquals(headers.get("ignored-fields"), null);
    }
  });

  await t.step("lists the response-only fields of POST", async () => {
    const { status, headers } = await org.post("/api/products", {
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

  await t.step(
    "lists the response-only fields when a GET response is PUT",
    async () => {
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
    },
  );

  await t.step("tells that no value of them is stored", async () => {
    const other = await app.organization();
    const shown = {
      id: other.id,
      organization_id: other.id,
      product_code: "P-00000000",
      created_at: "1999-01-01T00:00:00.000Z",
      updated_at: "1999-01-01T00:00:00.000Z",
      license_name: "Stolen",
      season_name: { a: 1 },
      collections: [1],
      product_territories: [{ id: other.id }],
      product_sales_rights: "none",
    };

    const { path } = await org.create();
    const body = { title: "x", ...shown };

    for (
      const reply of [
        await org.post("/api/products", body),
        await org.put(path, body),
      ]
    ) {
      const { data } = reply.body;
      assert(reply.status < 300);
      assertEquals(data.organization_id, org.id);
      assertEquals(data.product_territories, []);
      for (const [field, value] of Object.entries(shown)) {
        assert(JSON.stringify(data[field]) !== JSON.stringify(value), field);
      }
    }
  });

  await t.step("is readable for pages (CORS)", async () => {
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
