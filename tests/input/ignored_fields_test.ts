import { assertEquals } from "@std/assert";
import { openApp } from "../support/app/harness.ts";
import { idOfCode } from "../support/app/organization.ts";

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
    const product_form_id = await idOfCode(app, "product_forms", "BC");
    const isbn13 = "9780141439587";
    const format_id = org.format;
    const bare = await org.create({ isbn13 });
    const formatted = await org.create({ format_id });
    const update = ({ id }: { id: string }, body: object) => ({
      method: "update",
      id,
      body,
    });
    const create = (body: object) => ({
      method: "create",
      body: { title: "Emma", ...body },
    });
    const form = { product_form_id };
    // deno-fmt-ignore
    const cases: [ignored: string | null, ...operations: Operation[]][] = [
      ["product_form_id", create(form)],
      ["format_name, product_form_id", create({ ...form, format_id: null, format_name: "Paper" })],
      [null, create({ ...form, format_id })],
      [null, create({ product_form_id: null })],
      ["product_form_id", update(bare, form)],
      ["product_form_id", { method: "upsert", match: "isbn13", body: { isbn13, ...form } }],
      [null, update(formatted, form)],
      [null, create({ ...form, format_id }), update(formatted, form)],
      ["product_form_id", update(formatted, { format_id: null, ...form })],
      ["product_form_id", update(formatted, { format_id: null }), update(formatted, form)],
    ];
    for (const [ignored, ...operations] of cases) {
      const replies = await Promise.all(
        ["full", "minimal"].map((returned) => org.batch(operations, { return: returned })),
      );
      const [{ method, id, body }] = operations as [Operation];
      await org.put(formatted.path, { format_id });
      if (operations.length === 1 && method !== "upsert") {
        replies.push(
          id ? await org.put(`/api/products/${id}`, body) : await org.post("/api/products", body),
        );
      }
      for (const { headers } of replies) {
        assertEquals(headers.get("ignored-fields"), ignored);
      }
    }
  });

  await it("is told of in the body where the answer says otherwise", async () => {
    const { path, id } = await org.create({
      publisher_id: org.publisher,
      contributors: [{
        contributor_id: org.contributor,
        contributor_role_id: roles[0],
      }],
    });
    const { body: { data } } = await org.get(path);
    const [contributor] = data.contributors;
    const counts = (name: string, id: string) =>
      `${id} counts: to change it by ${name}, leave ${id} out`;
    const only = "Only responses have it: it changes nothing";
    const hint = "send format_id or format_name, too";
    const noFormat = `The product has no format that stores its form: ${hint}`;
    // deno-fmt-ignore
    const cases: [body: object, ...warnings: [pointer: string, message: string][]][] = [
      [data],
      [{ ...data, publisher_name: "Another" }, ["/publisher_name", counts("publisher_name", "publisher_id")]],
      [{ ...data, publisher_name: null }, ["/publisher_name", counts("publisher_name", "publisher_id")]],
      [{ ...data, publisher_id: null }, ["/publisher_name", counts("publisher_name", "publisher_id")]],
      [{ publisher_name: data.publisher_name }],
      [{ publisher_name: null }],
      [{ contributors: [{ ...contributor, contributor_role_code: "B06" }] },
        ["/contributors/0/contributor_role_code", counts("contributor_role_code", "contributor_role_id")]],
      [{ product_code: "P-1", product_territories: [{ id }] },
        ["/product_code", only], ["/product_territories", "PUT /products/{id}/territories changes it"]],
      [{ product_form_code: "BC" }, ["/product_form_code", noFormat]],
      [{ product_form_code: null }],
    ];
    for (const [body, ...expected] of cases) {
      const warnings = expected.map(([pointer, message]) => (
        { pointer, code: "ignored", message, ...message === noFormat && { hint } }
      ));
      const update = { method: "update", id, body };
      const below = warnings.map(({ pointer, ...rest }) => (
        { pointer: `/operations/0/body${pointer}`, ...rest }
      ));

      const single = await org.put(path, body);
      const batch = await org.batch([update]);
      const minimal = await org.batch([update], { return: "minimal" });

      assertEquals(single.body.warnings ?? [], warnings, JSON.stringify(body));
      assertEquals(batch.body.warnings ?? [], below);
      assertEquals(
        minimal.body.warnings ?? [],
        below.filter(({ message }) => message === noFormat),
      );
      await org.put(path, { publisher_id: org.publisher });
    }
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

interface Operation {
  method: string;
  id?: string;
  match?: string;
  body: object;
}
