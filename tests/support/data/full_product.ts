import { uuidv7 } from "../../../db/uuid.ts";
import { fullBody } from "./bodies.ts";
import type { App } from "../app/harness.ts";
import { idOfCode, type Organization } from "../app/organization.ts";
import { insertTree } from "./rights_tree.ts";

/** A product with at least two rows in every table, and the tables of its alternative records. */
export async function createFullProduct(
  app: App,
  org: Organization,
): Promise<{ id: string; path: string }> {
  await insertOthers(app, org);
  const body = await fullBody(app, org);
  const [field] = await app.sql`
    select id from custom_fields
    where organization_id = ${org.id} and id <> ${org.customField}
  `;
  const created = await org.create({
    ...body,
    custom_fields: [
      ...body.custom_fields,
      { field_id: field!.id, field_value: "B 12" },
    ],
    collateral: [
      ...body.collateral,
      { collateral_type: "award", prize_name: "Another prize" },
    ],
  });
  await insertTree(app, org, created.id);
  await app.sql`
    insert into product_sales_rights (
      organization_id, product_id, position, sales_rights_type, is_rest_of_world,
      countries_included, publisher_name
    )
    values
      (${org.id}, ${created.id}, 1, '01', false, '{GB}', 'Harbour Press'),
      (${org.id}, ${created.id}, 2, '03', false, '{US}', null)
  `;
  return created;
}

/** A second record of every kind, as a new target for a row, and a third where two are in use. */
async function insertOthers(app: App, org: Organization): Promise<void> {
  const form = await idOfCode(app, "product_forms", "BB");
  const names = {
    licenses: 1,
    seasons: 1,
    publishers: 1,
    divisions: 1,
    imprints: 1,
    collections: 1,
    formats: 1,
    titles: 1,
    contributors: 1,
    custom_fields: 2,
  };
  await app.sql.begin(async (sql) => {
    for (const [table, count] of Object.entries(names)) {
      for (let i = 0; i < count; i++) {
        await sql`
          insert into ${sql(table)} (organization_id, id, name)
          values (${org.id}, ${uuidv7()}, ${`Another ${i}`})
        `;
      }
    }
    await sql`
      update formats set product_form_id = ${form}
      where organization_id = ${org.id} and id <> ${org.format}
    `;
  });
}
