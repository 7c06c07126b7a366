import { assertEquals, assertMatch } from "@std/assert";
import { idOfCode, openApp } from "./harness.ts";

Deno.test("POST /products", async (t) => {
  await using app = await openApp();

  await t.step("creates a product with everything in it", async () => {
    const org = await app.organization();
    const author = await idOfCode(app, "contributor_roles", "A01");
    const body = {
      title: "Emma",
      subtitle: "A novel",
      isbn13: "978-0-306-40615-7",
      isbn10: "0-306-40615-2",
      page_count: 474,
      publication_date: "1815-12-23",
      format_id: org.format,
      title_id: org.title,
      license_id: org.license,
      season_id: org.season,
      publisher_id: org.publisher,
      division_id: org.division,
      imprint_id: org.imprint,
      series_id: org.series,
      publishing_status_id: await idOfCode(app, "publishing_statuses", "04"),
      product_availability_id: await idOfCode(
        app,
        "product_availabilities",
        "21",
      ),
      lifecycle_status_id: await idOfCode(app, "lifecycle_statuses", "active"),
      product_form_id: await idOfCode(app, "product_forms", "BC"),
      product_type: "normal",
      cover_image_url: "https://covers.example/emma.jpg",
      product_prices: [
        {
          currency_code: "GBP",
          retail_price: 9.99,
          tax_rate: "0",
          is_default: true,
          valid_from: "2026-01-01",
        },
        {
          currency_code: "EUR",
          retail_price_inc_tax: "12.50",
          list_price: 999999999999.9999,
        },
      ],
      packing_configurations: [{ unit_of_measure: "outer" }, {
        unit_of_measure: "inner",
      }],
      contributors: [{
        contributor_id: org.contributor,
        contributor_role_id: author,
      }],
      product_collections: [{ collection_id: org.series }, {
        collection_id: org.collection,
      }],
      custom_fields: [{ field_id: org.customField, field_value: 12.5 }],
      collateral: [
        {
          collateral_type: "text_content",
          text: "Handsome, clever, and rich",
          text_type: "03",
          content_audience: ["00"],
        },
        {
          collateral_type: "cited_content",
          source_title: "The Times",
          resource_link: "https://times.example/emma",
        },
        {
          collateral_type: "award",
          prize_name: "A prize",
          prize_year: "1816",
          prize_country: "GB",
          prize_code: "01",
        },
      ],
    };

    const { status, headers, body: { data } } = await org.post(
      "/api/products",
      body,
    );

    assertEquals(status, 201);
    assertEquals(headers.get("location"), `/api/products/${data.id}`);
    assertMatch(data.product_code, /^P-[0-9A-HJKMNP-TV-Z]{8}$/);
    assertEquals(data.organization_id, org.id);
    assertEquals(data.isbn13, "9780306406157");
    assertEquals(data.license_name, "World English");
    assertEquals(data.series_name, "Novels");
    assertEquals(data.product_form_id, body.product_form_id);
    assertEquals(data.collections.map(({ name }: { name: string }) => name), [
      "Novels",
      "Classics",
    ]);
    assertEquals(
      data.product_prices.map((price: { list_price: number }) =>
        price.list_price
      ),
      [null, 999999999999.9999],
    );
    assertEquals(data.custom_fields[0].field_value, 12.5);
    assertEquals(data.collateral.length, 3);
    assertEquals(data.product_territories, []);
    assertEquals((await org.get(`/api/products/${data.id}`)).body.data, data);
    const again = await org.put(`/api/products/${data.id}`, data);
    assertEquals(again.status, 200);
    assertEquals({ ...again.body.data, updated_at: 0 }, {
      ...data,
      updated_at: 0,
    });
    const list = await org.get(
      "/api/products?search=306-40615&format_id=" + org.format,
    );
    assertEquals(list.body.meta, {
      page: 1,
      limit: 50,
      total: 1,
      total_pages: 1,
    });
  });

  await t.step("names every fault with its pointer", async () => {
    const org = await app.organization();

    const { status, body: { error } } = await org.post("/api/products", {
      page_count: 0,
      isbn13: "9780306406158",
      product_prices: [{ retail_price: -1 }],
      shelf: 1,
    });

    assertEquals(status, 400);
    assertEquals(error.code, "VALIDATION_ERROR");
    assertEquals(
      error.details.map((
        { pointer, code }: { pointer: string; code: string },
      ) => [pointer, code]),
      [
        ["/title", "required"],
        ["/isbn13", "invalid_isbn13"],
        ["/page_count", "out_of_range"],
        ["/product_prices/0/currency_code", "required"],
        ["/product_prices/0/retail_price", "invalid_amount"],
        ["/shelf", "unknown_field"],
      ],
    );
  });

  await t.step(
    "names every reference that is not the organization's",
    async () => {
      const [org, other] = [await app.organization(), await app.organization()];
      const { status, body: { error } } = await org.post("/api/products", {
        title: "x",
        license_id: other.license,
        contributors: [{
          contributor_id: other.contributor,
          contributor_role_id: other.id,
        }],
        series_id: org.series,
      });
      assertEquals(status, 400);
      assertEquals(
        error.details.map((
          { pointer, code }: { pointer: string; code: string },
        ) => [pointer, code]),
        [
          ["/license_id", "unknown_reference"],
          ["/contributors/0/contributor_id", "unknown_reference"],
          ["/contributors/0/contributor_role_id", "unknown_reference"],
          ["/series_id", "series_not_attached"],
        ],
      );
    },
  );
});
