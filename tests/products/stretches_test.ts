import { assertEquals, assertRejects } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";
import { assertStretches } from "../support/app/stretches.ts";
import { LARGEST } from "../support/data/largest.ts";

/* No write of a product makes other requests wait, however large the product and its body are. */

const it = testsOf("A write of the largest product");

// The embedded database runs in the thread of the service.
const ON_POSTGRESQL = { ignore: !Deno.env.has("TEST_DATABASE_URL") };

/** Sends a request, and reads its response. Its checks would take longer than the service. */
function clientOf(handler: (request: Request) => Promise<Response>, key: string) {
  return async (method: string, path: string, body?: string, id = "a-request") => {
    const response = await handler(
      new Request(`http://catalogue.test/api${path}`, {
        method,
        headers: { "x-api-key": key, "x-request-id": id, "content-type": "application/json" },
        ...body !== undefined && { body },
      }),
    );
    const bytes = new Uint8Array(await response.arrayBuffer());
    const start = new TextDecoder().decode(bytes.subarray(0, 500));
    assertEquals(response.status < 300, true, `${method} ${path}: ${start}`);
    return bytes;
  };
}

/** The path and the body of the request that writes these arrays. */
function requestOf(path: string, body: Record<string, unknown>): [path: string, body: string] {
  const { product_territories } = body;
  return product_territories
    ? [`${path}/territories`, JSON.stringify(product_territories)]
    : [path, JSON.stringify(body)];
}

for (const [what, bodyOf] of Object.entries(LARGEST)) {
  it(`lets others run: ${what}`, async ({ org, app }) => {
    const ask = clientOf(app.handler, org.key);
    const { id } = await org.create();
    const path = `/products/${id}`;
    const [place, first] = requestOf(path, bodyOf("A"));
    const [, second] = requestOf(path, bodyOf("BCD"));
    let turn = 0;
    const other = () => turn++ % 2 === 0 ? first : second;

    await assertStretches(`PUT, ${what}`, () => ask("PUT", place, other()));
    if (place === path) {
      await assertStretches(`batch, ${what}`, () => {
        const body = other().replace("{", `{"isbn13": "9780141439587", "title": "A",`);
        const upsert = `{"method": "upsert", "match": "isbn13", "body": ${body}}`;
        return ask("POST", "/products/batch", `{"operations": [${upsert}], "return": "minimal"}`);
      });
    }
    const version = await versionOf(ask, path);
    await ask("PUT", place, other(), "the-request");
    await assertStretches(
      `undo, ${what}`,
      () => ask("POST", "/history/undo?dry_run=true", '{"request_id": "the-request"}'),
    );
    const versions = [version, await versionOf(ask, path)];
    await assertStretches(
      `restore, ${what}`,
      () => ask("POST", `${path}/restore`, JSON.stringify({ version: versions[turn++ % 2] })),
    );
    await ask("DELETE", path);
    await assertStretches(
      `restore of a deleted product, ${what}`,
      () => ask("POST", `${path}/restore?dry_run=true`, JSON.stringify({ version })),
    );
  }, ON_POSTGRESQL);
}

/** The name of a record, almost as long as one may be. */
const nameOf = (i: number) => `${i} ${"Ünd Änne ".repeat(60)}`.slice(0, 490);

it("lets others run: 1,500 names in place of ids", async ({ org, app, sql }) => {
  const ask = clientOf(app.handler, org.key);
  const { id } = await org.create();
  const names = Array.from({ length: 1_000 }, (_, i) => nameOf(i));
  for (const table of ["contributors", "collections", "custom_fields"]) {
    await sql`
      insert into ${sql(table)} (organization_id, id, name)
      select ${org.id}, gen_random_uuid(), n
      from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) n
    `;
  }
  const given = names.slice(0, 500);
  const body = JSON.stringify({
    contributors: given.map((name) => ({ contributor_name: name, contributor_role_code: "A01" })),
    product_collections: given.map((name) => ({ collection_name: name })),
    custom_fields: given.map((name) => ({ field_name: name, field_value: "A" })),
  });
  const misspelt = body.replaceAll("Änne", "Anne");

  await assertStretches("known names", () => ask("PUT", `/products/${id}`, body));
  await assertStretches("unknown names", async () => {
    await assertRejects(
      () => ask("PUT", `/products/${id}`, misspelt),
      Error,
      "more than 100 errors",
    );
  });
}, ON_POSTGRESQL);

/** The last version of the product. */
async function versionOf(ask: ReturnType<typeof clientOf>, path: string): Promise<string> {
  const bytes = await ask("GET", `${path}/history?limit=1`);
  return JSON.parse(new TextDecoder().decode(bytes)).data[0].version;
}
