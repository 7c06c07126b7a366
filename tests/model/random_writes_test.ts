import { assert, assertEquals } from "@std/assert";
import { selectBuilt, selectStored } from "../../db/products/read.ts";
import { OWN_TABLES } from "../../schema/records.ts";
import { TIMED } from "../support/app/deadline.ts";
import type { App } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { openOwnApp, operationsOf } from "../support/app/own_app.ts";
import { fc } from "../support/app/packages.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import type { Reply } from "../support/client/envelope.ts";
import { assertHas } from "../support/client/expect.ts";
import { assertBuilt, assertCounted, store } from "../support/client/stored.ts";
import { errorsOf } from "../support/client/writing.ts";
import { type Fields, PRODUCT } from "../support/data/fields.ts";
import { createFullProduct } from "../support/data/full_product.ts";
import { type Any, bodyOf, type Draw, type Drawn, type Ids } from "./bodies.ts";
import { SQL } from "./sql_writes.ts";

/*
 * Whatever requests and SQL write, in any sequence: a body changes what it has and nothing
 * else, a refused one changes nothing, and every response and total is that of the tables.
 */

/** The number of random sequences. CI runs them on four databases. */
const RUNS = IS_WHOLE ? 20 : 8;

/**
 * A new seed for each run, which is printed. `deno task test FILE -- 123` repeats the
 * run with seed 123, and `-- 123 1000` runs a thousand sequences.
 */
function readParameters(): { seed: number; numRuns: number } {
  const [seed = Math.floor(Math.random() * 2 ** 31), numRuns = RUNS] = Deno.args
    .map(Number);
  console.log(`Seed: ${seed}`);
  return { seed, numRuns };
}

Deno.test({
  ...TIMED,
  name: "Any sequence of writes changes what it says, and nothing else",
}, async () => {
  await using app = await openOwnApp();

  await fc.assert(
    fc.asyncProperty(fc.gen(), async (draw) => {
      const scene = await openScene(app, draw);
      const { org } = scene;
      const steps = draw(fc.integer, { min: 5, max: 15 });
      for (let i = 0; i < steps; i++) {
        const ids = await idsOf(app, org);
        await store(app, org, ...ids);
        const [write, id] = ids.length === 0
          ? [create, ""]
          : [draw(fc.constantFrom, ...WRITES), draw(fc.constantFrom, ...ids)];
        await write(scene, id);
        await assertStored(app, org);
      }
      await assertBuilt(app, org);
      await assertCounted(app);
    }),
    { ...readParameters(), endOnFailure: true },
  );
});

interface Scene {
  app: App;
  draw: Draw;
  org: Organization;
  other: Organization;
  ids: Ids;
}

/** An organization with two products. */
async function openScene(app: App, draw: Draw): Promise<Scene> {
  const [org, other] = [await app.organization(), await app.organization()];
  await createFullProduct(app, org);
  await org.create();
  return { app, draw, org, other, ids: await recordsOf(app, org) };
}

type Write = (scene: Scene, id: string) => Promise<void>;

const create: Write = async ({ draw, org, ids }) => {
  const drawn = withSeries(bodyOf(draw, DRAWN, ids));

  const reply = await org.post("/api/products", drawn.body);

  if (isRefused(reply, drawn)) return;
  assertEquals(reply.status, 201);
  assertTaken(reply, drawn.body);
};

const update: Write = async ({ draw, org, other, ids }, id) => {
  const path = `/api/products/${id}`;
  const before = (await org.get(path)).body.data;
  const drawn = withSeries(bodyOf(draw, DRAWN, ids, before));
  // Another organization has no such product.
  const isOther = draw(fc.nat, { max: 9 }) === 0;

  const reply = await (isOther ? other : org).put(path, drawn.body);

  const { body: { data: after } } = await org.get(path);
  if (isOther || isRefused(reply, drawn)) {
    assert([400, 404].includes(reply.status));
    return assertEquals(after, before);
  }
  assertEquals([reply.status, reply.body.data], [200, after]);
  assertTaken(reply, drawn.body);
  const isChanged = Object.keys(drawn.body).length > 0;
  assertEquals(after.updated_at > before.updated_at, isChanged);
  for (const name of Object.keys(PRODUCT)) {
    if (name in drawn.body || isDerived(name, drawn.body)) continue;
    assertEquals(after[name], before[name], name);
  }
};

const remove: Write = async ({ org, other }, id) => {
  const path = `/api/products/${id}`;
  assertEquals((await other.delete(path)).body.data.deleted, false);

  const { body } = await org.delete(path);

  const isGone = (await org.get(path)).status === 404;
  assertEquals(body.data?.deleted ?? false, isGone);
};

/** An SQL transaction, which keys and check constraints may reject. */
const bySql: Write = async ({ app, draw, org }, id) => {
  const text = draw(() => SQL)
    .replaceAll("$org", org.id).replaceAll("$product", id);
  await app.sql.begin((tag) => tag.unsafe(text)).catch(() => {});
};

const WRITES = [create, update, update, remove, bySql, bySql, bySql];

/** What other fields of a body decide: the form of the format, and announced dates. */
const DERIVED = ["product_form_id", "publishing_dates"];

/** Fields that mirror another field, which changes with it if the body has that one. */
const MIRRORED: Record<string, string> = {
  cover_image_url: "supporting_resources",
  supporting_resources: "cover_image_url",
  product_territories: "product_availability_id",
};

function isDerived(name: string, body: Any): boolean {
  return DERIVED.includes(name) || MIRRORED[name]! in body;
}

/** The fields that are drawn one by one. */
const { series_id: _, ...DRAWN } = PRODUCT;

/** The series is one of the collections: usually the first. */
function withSeries({ body, refused }: Drawn): Drawn {
  const { product_collections: collections } = body;
  if (!collections) return { body, refused };
  const series_id = collections[0]?.collection_id ?? null;
  return { body: { ...body, series_id }, refused };
}

/** Whether a request was refused, with the codes of all values that fields refuse. */
function isRefused(reply: Reply, { refused }: Drawn): boolean {
  if (reply.status === 400) {
    const errors = errorsOf(reply.body).map(String);
    const missing = refused.filter((error) => !errors.includes(`${error}`));
    // References are looked up once everything else is right.
    const early = missing.filter(([, code]) => code !== "unknown_reference");
    if (missing.length < refused.length || refused.length === 0) {
      assertEquals(early, []);
    }
    assert(errors.length > 0);
    return true;
  }
  assertEquals(refused, []);
  return false;
}

/** Expects the product to show the scalars of the body as they are stored, and its whole arrays. */
function assertTaken({ body: { data } }: Reply, body: Any): void {
  for (const [name, stored] of Object.entries(storedOf(PRODUCT, body))) {
    const field = PRODUCT[name]!;
    if (isDerived(name, body) || "fields" in field) continue;
    if ("takes" in field) assertEquals(data[name], stored, name);
    else if (field.put === "link") {
      const links = body[name].map((entry: Any) => storedOf(field.rows, entry));
      assertHas(data[name], links, name);
    } else if (field.put !== "patch") {
      assertEquals(data[name].length, body[name].length, name);
    }
  }
}

/** The values of an object as they are stored. */
function storedOf(fields: Fields, sent: object): Any {
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      const field = fields[name];
      const known = field && "takes" in field
        ? field.takes.find(([one]) => one === value)
        : undefined;
      return [name, known ? known[1] : value];
    }),
  );
}

/** Expects every valid document to equal the product built from the tables. */
async function assertStored(app: App, org: Organization): Promise<void> {
  for (const id of await idsOf(app, org)) {
    const operations = operationsOf(app, org);
    const [stored] = await operations.lookUp(selectStored(id));
    const [built] = await operations.lookUp(selectBuilt(id));
    if (stored!.product) assertEquals(stored!.product, built!.product);
  }
}

async function idsOf(app: App, org: Organization): Promise<string[]> {
  const rows = await app.sql<{ id: string }[]>`
    select id from products where organization_id = ${org.id} order by id
  `;
  return rows.map(({ id }) => id);
}

/** Records of the organization, and codes that all share, by table. */
async function recordsOf(app: App, org: Organization): Promise<Ids> {
  const ids: Ids = {};
  const shared = "contributor_roles publishing_statuses product_availabilities"
    .split(" ").concat("lifecycle_statuses", "product_forms");
  for (const table of [...OWN_TABLES, ...shared]) {
    const rows = await app.sql<{ id: string }[]>`
      select id from ${app.sql(table)} t
      where coalesce(to_jsonb(t) ->> 'organization_id', ${org.id}) = ${org.id}
      order by id
      limit 3
    `;
    ids[table] = rows.map(({ id }) => id);
  }
  return ids;
}
