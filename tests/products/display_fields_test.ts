import { assertEquals } from "@std/assert";
import { idOfCode, openApp } from "../support/app/harness.ts";

Deno.test("The display fields of a product", async (t) => {
  await using app = await openApp();

  await t.step(
    "are present only while the reference is set",
    async () => {
      const org = await app.organization();
      const { path, product } = await org.create();
      const displayed = {
        format_id: { format_name: "Paperback" },
        title_id: { title_name: "Emma" },
        publishing_status_id: {
          publishing_status_name: "Forthcoming",
          publishing_status_code: "02",
        },
        product_availability_id: {
          product_availability_name: "In stock",
          product_availability_code: "21",
        },
        lifecycle_status_id: { lifecycle_status_name: "Out of print" },
        license_id: {
          license_name: "World English",
          license_badge_colour: "#336699",
        },
        season_id: { season_name: "Spring" },
        publisher_id: { publisher_name: "Harbour Press" },
        division_id: { division_name: "Adult" },
        imprint_id: { imprint_name: "Lantern" },
      };
      const ids: Record<string, string> = {
        format_id: org.format,
        title_id: org.title,
        publishing_status_id: await idOfCode(app, "publishing_statuses", "02"),
        product_availability_id: await idOfCode(
          app,
          "product_availabilities",
          "21",
        ),
        lifecycle_status_id: await idOfCode(
          app,
          "lifecycle_statuses",
          "out_of_print",
        ),
        license_id: org.license,
        season_id: org.season,
        publisher_id: org.publisher,
        division_id: org.division,
        imprint_id: org.imprint,
      };

      for (const [field, names] of Object.entries(displayed)) {
        await org.put(path, { [field]: ids[field] });
        const { body: { data } } = await org.get(path);
        await org.put(path, { [field]: null });
        const { body: { data: cleared } } = await org.get(path);

        const { updated_at } = data;
        const expected = { ...product, [field]: ids[field], ...names };
        assertEquals(data, { ...expected, updated_at });
        assertEquals(cleared, { ...product, updated_at: cleared.updated_at });
      }
    },
  );

  await t.step(
    "are null for an empty column of the record",
    async () => {
      const org = await app.organization();
      await app.sql(async (sql) => {
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
    },
  );
});
