import { assertEquals, assertRejects } from "@std/assert";
import { brokenConstraint } from "../../db/connections/errors.ts";
import { testsOf } from "../support/app/harness.ts";

const it = testsOf("The keys of the schema");

it("refuse a product with another's record", async ({ org, app, sql }) => {
  const other = await app.organization();
  const { id } = await org.create();
  const links = {
    format_id: [other.format, "products_format"],
    title_id: [other.title, "products_parent_title"],
    license_id: [other.license, "products_license"],
    season_id: [other.season, "products_season"],
    publisher_id: [other.publisher, "products_publisher"],
    division_id: [other.division, "products_division"],
    imprint_id: [other.imprint, "products_imprint"],
    series_id: [other.series, "products_series"],
  };

  for (const [column, [record = "", constraint]] of Object.entries(links)) {
    const error = await assertRejects(() =>
      sql`update products set ${sql(column)} = ${record} where id = ${id}`
    );

    assertEquals(brokenConstraint(error), constraint);
  }
});
