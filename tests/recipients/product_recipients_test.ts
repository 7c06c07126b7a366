import { assert, assertEquals } from "@std/assert";
import { sql, type Statement } from "../../db/connections/sql.ts";
import { recorded } from "../support/app/recording.ts";
import { send } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";

const PRODUCTS = 2_000;

Deno.test("The recipients of a product are found without reading the other products", async () => {
  // The plans depend on all products of the database.
  await using app = await openOwnApp();
  const { sql: script } = app;
  const org = await app.organization();
  const { id } = await org.create({
    languages: [{ language_role: "01", language_code: "eng" }],
    subjects: [{ subject_scheme_identifier: "93", subject_code: "FBA" }],
    publishing_status_code: "04",
  });
  await script`
    insert into products (organization_id, id, title, languages, subjects)
    select p.organization_id, gen_random_uuid(), 'Emma', p.languages, p.subjects
    from products p, generate_series(1, ${PRODUCTS})
    where p.organization_id = ${org.id} and p.id = ${id}
  `;
  await script`analyze products`;
  await script`analyze product_terms`;
  const criteria = {
    language_code: ["eng"],
    subject_code: ["F*"],
    contributor_id: [org.contributor],
  };
  for (const selection of [criteria, { subject_code: ["FB*"] }, {}]) {
    const { status } = await org.post("/api/recipients", {
      name: JSON.stringify(selection),
      selection,
      except: criteria,
    });
    assertEquals(status, 201);
  }
  const statements: Statement[] = [];
  const database = recorded(app.database, (statement) => statements.push(statement));
  const handler = app.variant({ database });

  const { body } = await send(handler, `/api/products/${id}/recipients`, {
    headers: { "x-api-key": org.key },
  });

  assertEquals(body.data.map(({ because }: { because: string[] }) => because), [
    ["/selection/contributor_id"],
    [],
    [],
  ]);
  const operations = app.database.for({
    deadline: performance.now() + 60_000,
    caller: { organizationId: org.id, name: "a test" },
  });
  const looking = statements.filter(({ strings }) => strings.join().includes("kept_out"));
  assert(looking.length > 0);
  for (const statement of looking) {
    const [row] = await operations.scan(
      sql<{ "QUERY PLAN": string }>`explain (analyze, format json) ${statement}`,
    );
    const plan = JSON.stringify(row!["QUERY PLAN"]);
    const nodes = [...plan.matchAll(/Actual Rows\\?": ?(\d+)/g)];
    assert(nodes.length > 0, plan);
    for (const [, rows] of nodes) {
      assert(Number(rows) < 100, plan);
    }
  }
});
