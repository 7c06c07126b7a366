import { propagateRenames } from "../../features/changes/db/renames.ts";
import { assert, assertEquals } from "@std/assert";
import { organization, type Statement } from "../../db/connections/sql.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { type App, send, SETTINGS, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { recorded } from "../support/app/recording.ts";

/*
 * What `search` and `q` do besides finding_table.txt, which says what they find.
 */

const it = testsOf("GET /products?search= and q=");

it("find the changed title, and not the old one", async ({ org, app, sql }) => {
  const { path, product } = await org.create({ title: "Emma", page_count: 1 });
  const kept = await org.create({ title: "Persuasion" });
  const other = await app.organization();
  await other.create({ title: "Emma" });
  const versions = async () =>
    (await sql<{ version: string }[]>`
      select xmin::text || ctid::text as version from product_search
      where organization_id = ${org.id}
      order by product_id
    `).map(({ version }) => version);
  const before = await versions();

  await org.put(path, { ...product, page_count: 2 });
  assertEquals(await versions(), before, "Equal texts are not written again");
  await org.put(path, { title: "Sanditon", isbn13: "9780306406157" });

  for (const parameter of ["search", "q"]) {
    const find = (term: string) => found(org, `${parameter}=${term}`);
    assertEquals(await find("emma"), []);
    assertEquals(await find("0306"), ["Sanditon"]);
    const code: string = product.product_code;
    for (const term of [code.toLowerCase(), code.slice(2)]) {
      assertEquals(await find(term), ["Sanditon"], term);
    }
    assertEquals(await found(other, `${parameter}=emma`), ["Emma"]);
  }
  const [, second] = await versions();
  assertEquals(second, before[1], `Only the changed book, not ${kept.id}`);
});

it("find what SQL inserts and changes, at once", async ({ org, sql }) => {
  const [row] = await sql<{ id: string }[]>`
    insert into products (organization_id, title) values (${org.id}, 'Sanditon') returning id
  `;
  for (const parameter of ["search", "q"]) {
    assertEquals(await found(org, `${parameter}=sanditon`), ["Sanditon"]);
  }

  await sql`update products set title = 'Emma' where organization_id = ${org.id} and id = ${
    row!.id
  }`;

  for (const parameter of ["search", "q"]) {
    assertEquals(await found(org, `${parameter}=sanditon`), []);
    assertEquals(await found(org, `${parameter}=emma`), ["Emma"]);
  }
});

// In a database of its own: other tests propagate renames too, and lock products and organizations.
Deno.test("GET /products?search= and q= find books by names, when they change", async () => {
  await using app = await openOwnApp();
  const { sql } = app;
  const org = await app.organization();
  const { id, path } = await org.create({
    title: "One",
    ...by(org.contributor),
    ...within(org.series),
    publisher_id: org.publisher,
  });
  const finds = async (q: string, isFound = true) =>
    assertEquals(await found(org, `q=${q}`), isFound ? ["One"] : [], q);
  await finds("austen");

  await org.put(`/api/contributors/${org.contributor}`, { name: "Bell" });
  await propagateRenames(app.database);
  await finds("austen", false);
  await finds("bell");
  await org.put(path, { subtitle: "Dusk" });
  await finds("dusk");
  await sql.begin(async (sql) => {
    const ours = sql`where organization_id = ${org.id}`;
    await sql`update contributors set name = 'Ćurić' ${ours}`;
    await sql`update collections set name = 'Saga' ${ours}`;
    await sql`update publishers set name = 'Quay' ${ours}`;
    await sql`update products set subtitle = 'Dawn' ${ours}`;
  });
  await propagateRenames(app.database);
  await finds("bell", false);
  await finds("dusk", false);
  await finds("curic saga quay dawn");
  await sql`
    insert into product_collections (organization_id, product_id, collection_id, position)
    values (${org.id}, ${id}, ${org.collection}, 1)
  `;
  const tides = await named(app, org, "contributors", "Tides");
  await sql`update product_contributors set contributor_id = ${tides} where organization_id = ${org.id}`;
  await finds("curic", false);
  await finds("tides");
  await org.put(path, { contributors: [] });
  await finds("tides", false);
  await org.put(path, { publisher_id: null });
  await finds("quay", false);
  await org.put(path, { imprint_id: org.imprint });
  await finds("lantern");
});

it("omit other organizations' names", async ({ org, app }) => {
  const other = await app.organization();
  const secret = await named(app, other, "contributors", "Secretarius");
  await other.create({ title: "Two", publisher_id: other.publisher });
  await other.create({ title: "Three", ...by(secret) });
  await org.create({ title: "One", publisher_id: org.publisher });

  assertEquals(await found(org, "q=harbour"), ["One"]);
  assertEquals(await found(org, "q=two"), []);
  assertEquals(await found(org, "q=secretarius"), []);
  for (const [of, total] of [[org, 0], [other, 1]] as const) {
    const { body } = await of.get("/api/products?q=secretarus");
    assertEquals(body.meta.total, total, "Nor what is nearest");
  }
});

it("combine with each other, filters and pages", async ({ org }) => {
  const author = by(org.contributor);
  for (let i = 0; i < 7; i++) {
    await org.create({
      title: `Volume ${i}`,
      format_id: i % 2 ? org.format : null,
      ...author,
    });
  }
  await org.create({ title: "Austen", format_id: org.format });
  await org.create({ title: "Emma" });
  const volumes = [6, 5, 4, 3, 2, 1, 0].map((i) => `Volume ${i}`);
  const filter = `format_id=${org.format}`;
  const both = `q=austen&contributor_id=${org.contributor}&search="volume 3"`;
  const odd = ["Volume 5", "Volume 3", "Volume 1"];

  assertEquals(await found(org, `q=austen&${filter}`), ["Austen", ...odd]);
  assertEquals(await found(org, `search=volume&${filter}`), odd);
  assertEquals(await found(org, both), ["Volume 3"]);
  assertEquals(await found(org, "q=austen&search=emma"), []);
  assertEquals(await walk(org, "q=austen", 8), ["Austen", ...volumes]);
  assertEquals(await walk(org, "search=volume", 7), volumes);
  const { body: past } = await org.get("/api/products?q=austen&page=9");
  assertEquals([past.meta.total, past.data], [8, []]);
});

it("accept 200 characters in 100 words", async ({ org }) => {
  for (const title of ["λ".repeat(300), "𐐀".repeat(300), SHORT_WORDS]) {
    await org.create({ title });
  }
  const hundred = Array.from(
    { length: 100 },
    (_, i) => String.fromCodePoint(0x4e00 + i),
  );
  for (const parameter of ["search", "q"]) {
    const find = (term: string) => found(org, `${parameter}=${encodeURIComponent(term)}`);
    for (const character of ["λ", "𐐀"]) {
      const longest = character.repeat(200);
      assertEquals((await find(longest)).length, 1);
      assertEquals((await find(` ${longest} `)).length, 1);
      const { status, body } = await org.get(
        `/api/products?${parameter}=${encodeURIComponent(`${longest}x`)}`,
      );
      assertEquals(status, 400);
      const [detail] = body.error.details;
      assertEquals([detail.parameter, detail.code], [parameter, "too_long"]);
    }
    assertEquals(await find("hh gg ff ee dd cc bb aa"), [
      "aa bb cc dd ee ff gg hh",
    ]);
    assertEquals(await find(Array(100).fill("λ").join(" ")), ["λ".repeat(300)]);
    assertEquals(await find(hundred.join(" ")), []);
  }
});

it("find what has every word in any text or name", async ({ org, app }) => {
  const random = numbers();
  const draw = (n: number) =>
    Array.from({ length: n }, () => WORDS[random() % WORDS.length]!).join(" ");
  const records = { contributors: [], collections: [], publishers: [] } as {
    [table: string]: { id: string; name: string }[];
  };
  for (const [table, list] of Object.entries(records)) {
    for (let i = 0; i < 6; i++) {
      const name = draw(2);
      list.push({ id: await named(app, org, table, name), name });
    }
  }
  const [contributors, collections, publishers] = Object.values(records);
  const products: { title: string; texts: string[] }[] = [];
  for (let i = 0; i < 40; i++) {
    const title = `${draw(1 + random() % 3)} ${i}`;
    const subtitle = random() % 2 ? draw(2) : null;
    const author = contributors![random() % 6]!;
    const series = collections![random() % 6]!;
    const publisher = random() % 2 ? publishers![random() % 6]! : undefined;
    const { product } = await org.create({
      title,
      subtitle,
      ...by(author.id),
      ...within(series.id),
      publisher_id: publisher?.id ?? null,
    });
    const texts = [title, subtitle, product.product_code, author.name]
      .concat(series.name, publisher?.name)
      .flatMap((text) => text ? [text.toLowerCase()] : []);
    products.unshift({ title, texts });
  }
  for (let i = 0; i < 60; i++) {
    const terms = draw(1 + random() % 4).split(" ");
    const expected = products.filter(({ texts }) =>
      terms.every((term) => texts.some((text) => text.includes(term)))
    ).map(({ title }) => title);
    const q = `q=${terms.join(" ")}&sort=-created_at`;
    assertEquals(await found(org, q), expected, q);
  }
});

it("find common words of a large catalogue", async ({ org, app, sql }) => {
  const other = await named(app, org, "contributors", "Common Quillon");
  await sql.begin(async (sql) => {
    // Without triggers, which would take seconds.
    await sql`set local catalogue.writer = 'service'`;
    await sql`
      insert into products (organization_id, id, title, product_code)
      select ${org.id}, gen_random_uuid(), 'Common ' || n, 'C-' || n
      from generate_series(1, 2010) n
    `;
    await sql`
      insert into products (organization_id, id, title, product_code)
      values
        (${org.id}, gen_random_uuid(), 'Linked', 'L-1'),
        (${org.id}, gen_random_uuid(), 'Rare', 'R-1'),
        (${org.id}, gen_random_uuid(), 'Common', 'C-0')
    `;
    await sql`
      insert into product_contributors (organization_id, product_id, contributor_id, contributor_role_id, position)
      select p.organization_id, p.id, ${other}, r.id, 0
      from products p
      join contributor_roles r on r.code = 'A01'
      where p.organization_id = ${org.id} and (p.title = 'Linked' or p.title like 'Common 1___')
    `;
    await sql`select index_search(${org.id}, array(select id from products where organization_id = ${org.id}))`;
  });
  const totals = {
    "common": 2012,
    "common quillon": 1001,
    "quillon 1234": 1,
    "linked common": 1,
    "rare common": 0,
    "common common 123": 12,
    "rare": 1,
    "mm": 2012,
    "mm on 77": 38,
    "ui": 1001,
  };
  for (const [q, total] of Object.entries(totals)) {
    const { body } = await org.get(`/api/products?limit=1&q=${q}`);
    assertEquals(body.meta.total, total, q);
  }
  assertEquals((await found(org, "q=common")).slice(0, 1), ["Common"]);
});

/** Overlapping words of different lengths. */
const WORDS = "as an ann anna the them thematic in ink inkling rose prose r2"
  .split(" ");

const SHORT_WORDS = "aa bb cc dd ee ff gg hh";

Deno.test({
  name: "q finds the nearest of products that came after the last ANALYZE, each compared once",
  // The embedded database is analyzed once a minute.
  ignore: !SETTINGS.url,
  async fn() {
    await using app = await openOwnApp();
    const org = await app.organization();
    const other = await app.organization();
    await app.sql`alter table product_search set (autovacuum_enabled = false)`;
    await app.sql`alter table products set (autovacuum_enabled = false)`;
    const add = (id: string, count: number) =>
      app.sql`
        insert into products (organization_id, title)
        select ${id}, 'a tale of ' || md5(n::text) || ' and gruffalo' from generate_series(1, ${count}::int) n
      `;
    await add(other.id, 5_000);
    await app.sql`analyze`;
    await add(org.id, PRODUCTS);
    const statements: Statement[] = [];
    const database = recorded(app.database, (statement) => statements.push(statement));

    const { body } = await send(app.variant({ database }), "/api/products?limit=1&q=gruffallo", {
      headers: { "x-api-key": org.key },
    });

    assertEquals([body.meta.nearest, body.meta.total], [true, PRODUCTS]);
    const { strings, values, prepare } = statements.findLast(({ strings }) =>
      strings.join().includes("found as materialized")
    )!;
    const statement = {
      strings,
      values: values.map((value) => value === organization ? org.id : value),
      prepare,
    };
    const [row] = await app.sql`explain (analyze, format json) ${statement}`;
    const [[{ Plan }]] = Object.values(row!) as [[{ Plan: PlanNode }]];
    const compared = rowsComparedIn(Plan);
    assert(compared < 20 * PRODUCTS, `${compared} rows are compared`);
  },
});

const PRODUCTS = 2_000;

/** A node of a plan, as EXPLAIN (ANALYZE) has it in JSON. */
interface PlanNode {
  "Actual Loops": number;
  "Actual Rows": number;
  "Rows Removed by Join Filter"?: number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
}

/** How many rows the nodes of a plan have compared. */
function rowsComparedIn(node: PlanNode): number {
  const rows = node["Actual Rows"] + (node["Rows Removed by Join Filter"] ?? 0) +
    (node["Rows Removed by Filter"] ?? 0);
  const below = (node.Plans ?? []).map(rowsComparedIn);
  return below.reduce((sum, rows) => sum + rows, rows * node["Actual Loops"]);
}

/** The titles found, in order. What is nearest is not found. The total must equal their number, up to a page. */
async function found(org: Organization, query: string): Promise<string[]> {
  const { status, body } = await org.get(`/api/products?limit=100&${query}`);
  assertEquals(status, 200, query);
  assertEquals(Math.min(100, body.meta.total), body.data.length, query);
  return body.meta.nearest ? [] : titlesOf(body.data);
}

/** The titles on all pages, by following their links. */
async function walk(
  org: Organization,
  query: string,
  total: number,
): Promise<string[]> {
  const titles: string[] = [];
  let path: string | undefined = `/api/products?${query}&limit=3`;
  while (path) {
    const { headers, body } = await org.get(path);
    assertEquals([body.meta.total, body.meta.total_pages], [total, 3]);
    titles.push(...titlesOf(body.data));
    path = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  }
  return titles;
}

/** Inserts a record by SQL, and returns its id. */
async function named(
  app: App,
  org: Organization,
  table: string,
  name: string,
): Promise<string> {
  const id = uuidv7();
  await app.sql`
    insert into ${app.sql(table)} (organization_id, id, name)
    values (${org.id}, ${id}, ${name})
  `;
  return id;
}

/** The field of a body with this author. */
function by(contributor_id: string) {
  const contributor_role_id = idOfCode("17", "A01");
  return { contributors: [{ contributor_id, contributor_role_id }] };
}

/** The fields of a body with this series. */
function within(series_id: string) {
  return { product_collections: [{ collection_id: series_id }], series_id };
}

/** The same numbers in every run. */
function numbers(): () => number {
  let state = 1;
  return () => state = state * 48271 % 0x7fffffff;
}

function titlesOf(products: { title: string }[]): string[] {
  return products.map(({ title }) => title);
}
