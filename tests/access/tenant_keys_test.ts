import { assert, assertEquals, assertRejects } from "@std/assert";
import { brokenConstraint } from "../../db/connections/errors.ts";
import { testsOf } from "../support/app/harness.ts";

const it = testsOf("The keys of the schema");

it("begin with the organization", async ({ sql }) => {
  const keys = await sql<{ name: string; first: string }[]>`
    select k.conname as name, a.attname as first
    from pg_constraint k
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    where k.connamespace = 'public'::regnamespace
      and k.contype in ('p', 'u', 'f')
      -- The table itself, or the one it refers to, has the rows of an organization.
      and exists (
        select from pg_constraint p
        join pg_attribute o on o.attrelid = p.conrelid and o.attnum = any (p.conkey)
        where p.contype = 'p' and o.attname = 'organization_id'
          and p.conrelid = case k.contype when 'f' then k.confrelid else k.conrelid end
      )
  `;

  assert(keys.length > 50);
  for (const { name, first } of keys) {
    assertEquals(first, "organization_id", name);
  }
});

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
