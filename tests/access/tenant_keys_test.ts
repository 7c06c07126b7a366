import { assert, assertEquals, assertRejects } from "@std/assert";
import { brokenConstraint } from "../../db/connections/errors.ts";
import { idOfCode, testsOf } from "../support/app/harness.ts";

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

it("refuse a row below another's product or record", async ({ org, app, sql }) => {
  const other = await app.organization();
  const { id: product_id } = await org.create();
  const { id: theirs } = await other.create();
  const contributor_role_id = await idOfCode(app, "contributor_roles", "A01");
  const id = crypto.randomUUID();
  const position = 0;
  // deno-fmt-ignore
  const rows: [table: string, key: string, row: object][] = [
      ["product_prices", "product", { product_id: theirs, id, position, currency_code: "GBP" }],
      ["packing_configurations", "product", { product_id: theirs, id, position, unit_of_measure: "inner" }],
      ["collateral", "product", { product_id: theirs, id, position, collateral_type: "award",
          prize_name: "A prize" }],
      ["product_contributors", "contributor", { product_id, position, contributor_id: other.contributor,
          contributor_role_id }],
      ["product_collections", "collection", { product_id, position, collection_id: other.collection }],
      ["custom_field_values", "field", { product_id, position, field_id: other.customField }],
      ["publishing_program_products", "program", { product_id, program_id: other.program }],
      ["publishing_program_products", "product", { product_id: theirs, program_id: org.program }],
      ["product_territories", "product", { product_id: theirs }],
      ["product_sales_rights", "product", { product_id: theirs, sales_rights_type: "01" }],
    ];

  for (const [table, key, row] of rows) {
    const whole = { organization_id: org.id, ...row };
    const error = await assertRejects(() =>
      sql`insert into ${sql(table)} ${sql(whole)}`
    );

    assertEquals(brokenConstraint(error), `${table}_${key}`);
  }
});
