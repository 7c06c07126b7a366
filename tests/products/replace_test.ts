import { assertHas } from "../support/client/expect.ts";
import {
  type App,
  type Organization,
  testsOf,
} from "../support/app/harness.ts";
import { uuidv7 } from "../../db/uuid.ts";

const it = testsOf("PUT /products/{id}: arrays replaced whole");

for (
  const array of ["contributors", "product_collections", "custom_fields"]
) {
  it(`${array}: become the given entries, in order`, async ({ org, app }) => {
    const [a, b, c, d] = await entriesOf(app, org, array);
    const { path, product } = await org.create({ [array]: [a, b, c] });

    const sets = [[c, a, b], [b], [d, b], [a, b, c, d], [], [d]];
    const shown = [];
    for (const set of sets) {
      const { body } = await org.put(path, { [array]: set });
      shown.push(body.data[array]);
    }
    const untouched = await org.put(path, { title: "Persuasion" });

    assertHas(product[array], [a, b, c]);
    assertHas(shown, sets);
    assertHas(untouched.body.data[array], [d]);
  });
}

it("contributors: accept several roles", async ({ org, app }) => {
  const roles = await rolesOf(app, 3);
  const given = roles.map((contributor_role_id) => ({
    contributor_id: org.contributor,
    contributor_role_id,
  }));

  const { path, product } = await org.create({ contributors: given });
  const { body: { data } } = await org.put(path, {
    contributors: given.toReversed().slice(1),
  });

  assertHas(product.contributors, given);
  assertHas(data.contributors, given.toReversed().slice(1));
});

it("custom_fields: accept a new value for the same field", async ({ org, app }) => {
  const [a, b] = await entriesOf(app, org, "custom_fields");
  const { path } = await org.create({ custom_fields: [a, b] });

  for (const field_value of ["x", 1, false, null, true]) {
    const set = [{ ...a, field_value }, b];
    const { body: { data } } = await org.put(path, { custom_fields: set });

    assertHas(data.custom_fields, set);
  }
});

type Entry = Record<string, unknown>;

/** Four entries of the array, with records of the organization. */
async function entriesOf(
  app: App,
  org: Organization,
  array: string,
): Promise<Entry[]> {
  if (array === "contributors") {
    const contributors = await records(app, org, "contributors");
    const roles = await rolesOf(app, 2);
    return contributors.map((contributor_id, i) => ({
      contributor_id,
      contributor_role_id: roles[i % 2],
    }));
  }
  if (array === "product_collections") {
    const collections = await records(app, org, "collections");
    return collections.map((collection_id) => ({ collection_id }));
  }
  const fields = await records(app, org, "custom_fields");
  return fields.map((field_id, i) => ({ field_id, field_value: i }));
}

async function records(
  app: App,
  org: Organization,
  table: string,
): Promise<string[]> {
  const ids = Array.from({ length: 4 }, uuidv7);
  await app.sql`
    insert into ${app.sql(table)} (organization_id, id, name)
    select ${org.id}, id::uuid, 'Another'
    from jsonb_array_elements_text(${app.sql.json(ids)}) _ (id)
  `;
  return ids;
}

async function rolesOf(app: App, count: number): Promise<string[]> {
  const rows = await app.sql<{ id: string }[]>`
    select id from contributor_roles order by code limit ${count}
  `;
  return rows.map(({ id }) => id);
}
