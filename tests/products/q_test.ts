import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import {
  type App,
  idOfCode,
  type Organization,
  testsOf,
} from "../support/app/harness.ts";
import { shelf, titlesOf } from "../support/client/searching.ts";

const it = testsOf("GET /products?q=");

it("finds by the other form of each ISBN of a book", async ({ org }) => {
  await org.create({
    title: "One",
    isbn13: "9791034305018",
    isbn10: "1034305018",
  });

  assertEquals(await find(org, "9781034305019"), ["One"]);
  assertEquals(await find(org, "9791034305018"), ["One"]);
  assertEquals(await find(org, "1034305018"), ["One"]);
});

it("finds by texts and by names of records", async ({ org, app }) => {
  const rowling = await named(app, org, "contributors", "J. K. Rowling");
  const márquez = await named(app, org, "contributors", "García Márquez");
  const series = await named(app, org, "collections", "Discworld");
  const theme = await named(app, org, "collections", "Sea stories");
  await org.create({
    title: "One",
    subtitle: "The Hidden Žižka",
    isbn13: "9780306406157",
    isbn10: "0306406152",
  });
  await org.create({
    title: "Two",
    ...await by(app, rowling, márquez),
    product_identifiers: [
      { product_id_type: "06", id_value: "10.1000/Émma.2" },
      { product_id_type: "01", id_type_name: "SKU", id_value: "HP 7" },
    ],
  });
  await org.create({ title: "Three", ...within(theme, series) });
  const { product } = await org.create({
    title: "Four",
    publisher_id: await named(app, org, "publishers", "Éditions du Seuil"),
    imprint_id: await named(app, org, "imprints", "Bloomsbury YA"),
  });

  const found = {
    "zizka": ["One"],
    "hidden one": ["One"],
    "978-0-306": ["One"],
    "žižka 0306406152": ["One"],
    "rowling": ["Two"],
    "MARQUEZ rowling": ["Two"],
    "márquez two": ["Two"],
    "10.1000/emma": ["Two"],
    "hp rowling": ["Two"],
    "sku": [],
    "j.k. rowling": ["Two"],
    "J K Rowling": ["Two"],
    '"garcia marquez"': ["Two"],
    '"marquez garcia"': [],
    '"rowling garcia"': [],
    '"two garcia"': [],
    "márquez discworld": [],
    "discworld": ["Three"],
    "iscworl": ["Three"],
    "stories discworld three": ["Three"],
    "éditions": ["Four"],
    "bloomsbury du": ["Four"],
    [product.product_code]: ["Four"],
    "absent": [],
    "rowling absent": [],
    "%": [],
    '"': [],
    " ": ["Four", "Three", "Two", "One"],
    '""': ["Four", "Three", "Two", "One"],
  };
  for (const [q, titles] of Object.entries(found)) {
    assertEquals(await find(org, q), titles, q);
  }
});

it("begins with the most relevant products", async ({ org }) => {
  const titles = ["Emma", "EMMA", "Emmanuel", "Emma, a Life", "Dear Emma!"]
    .concat("My Emma (II)", "Dilemma", "Emma\x1f", "Ünder Émma", "Лемма");
  for (const title of titles) await org.create({ title });
  await org.create({ title: "Persuasion", subtitle: "Emma" });
  const best = [
    ...["EMMA", "Emma", "Emma\x1f", "Emma, a Life", "Emmanuel"],
    ...["Ünder Émma", "My Emma (II)", "Dear Emma!"],
    ...["Persuasion", "Dilemma"],
  ];

  assertEquals((await find(org, "emma")).filter(isNot("Emma\x1f")), [
    ...best.filter(isNot("Emma\x1f")),
  ]);
  assertEquals(await find(org, '"emma"'), await find(org, "emma"));
  assertEquals(
    await find(org, "emma", "&sort=title"),
    (await find(org, "emma", "&sort=-title")).reverse(),
  );
  assertEquals((await find(org, "emma", "&sort=created_at"))[0], "Emma");
});

it("begins with the words of the title", async ({ org }) => {
  const titles = ["Potter, Harry", "Harry Potter 2", "The Potter of Harrys"]
    .concat("Harry Potter", "The Hobbit", "There is the hobbit", "C++")
    .concat("Learn C++", "c++c++", "Война и мир", "Мир", "Войнамир");
  await shelf(org, ...titles);
  await org.create({ title: "Harry", subtitle: "By a potter" });

  assertEquals(await find(org, "harry potter"), [
    ...["Harry Potter", "Harry Potter 2", "Potter, Harry"],
    ...["Harry", "The Potter of Harrys"],
  ]);
  assertEquals(await find(org, "the hobbit"), [
    ...["The Hobbit", "There is the hobbit"],
  ]);
  assertEquals((await find(org, "c++")).slice(0, 3), [
    "C++",
    "c++c++",
    "Learn C++",
  ]);
  assertEquals(await find(org, "мир"), ["Мир", "Война и мир", "Войнамир"]);
});

it("finds at once what has changed", async ({ org, app, sql }) => {
  const { id, path } = await org.create({
    title: "One",
    ...await by(app, org.contributor),
    ...within(org.series),
    publisher_id: org.publisher,
  });
  const finds = async (q: string, isFound = true) =>
    assertEquals(await find(org, q), isFound ? ["One"] : [], q);
  await finds("austen");

  await org.put(`/api/contributors/${org.contributor}`, { name: "Bell" });
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
  await org.put(path, { contributors: [], publisher_id: null });
  await finds("tides", false);
  await finds("quay", false);
});

it("combines with filters, search and pages", async ({ org, app }) => {
  const author = await by(app, org.contributor);
  for (let i = 0; i < 7; i++) {
    await org.create({
      title: `Volume ${i}`,
      format_id: i % 2 ? org.format : null,
      ...author,
    });
  }
  await org.create({ title: "Austen", format_id: org.format });
  await org.create({ title: "Emma" });

  const all = ["Austen", ...[6, 5, 4, 3, 2, 1, 0].map((i) => `Volume ${i}`)];
  assertEquals(await find(org, "austen"), all);
  assertEquals(
    await find(org, "austen", `&format_id=${org.format}`),
    ["Austen", "Volume 5", "Volume 3", "Volume 1"],
  );
  assertEquals(
    await find(org, "austen", `&contributor_id=${org.contributor}&search=3`),
    (await find(org, "austen", "&search=3")).filter(isNot("Austen")),
  );
  assertEquals(await find(org, "austen", "&search=emma"), []);
  const titles: string[] = [];
  let path: string | undefined = "/api/products?q=austen&limit=3";
  while (path) {
    const { headers, body } = await org.get(path);
    assertEquals(body.meta.total, 8);
    assertEquals(body.meta.total_pages, 3);
    titles.push(...titlesOf(body.data));
    path = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  }
  assertEquals(titles, all);
  const { body: past } = await org.get("/api/products?q=austen&page=9");
  assertEquals([past.meta.total, past.data], [8, []]);
});

it("finds what has every word in any text or name", async ({ org, app }) => {
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
      ...await by(app, author.id),
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
    const q = terms.join(" ");
    assertEquals(await find(org, q, "&sort=-created_at"), expected, q);
  }
});

it("finds common words of a large catalogue", async ({ org, app, sql }) => {
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
  assertEquals((await find(org, "common")).slice(0, 1), ["Common"]);
});

it("accepts many words and long ones", async ({ org }) => {
  await shelf(org, "a b c d e f g h", "x".repeat(300));
  const letters = [..."abcdefgh"].join(" ");
  const hundred = Array.from(
    { length: 100 },
    (_, i) => String.fromCodePoint(0x4e00 + i),
  );
  assertEquals(await find(org, letters), ["a b c d e f g h"]);
  assertEquals(await find(org, "a, b c d"), ["a b c d e f g h"]);
  assertEquals(await find(org, hundred.join(" ")), []);
  assertEquals(await find(org, "x".repeat(200)), ["x".repeat(300)]);

  const long = await org.get(`/api/products?q=${"x".repeat(201)}`);
  const zero = await org.get("/api/products?q=a%00b");

  assertEquals(long.body.error.details[0].code, "too_long");
  assertEquals(zero.body.error.details[0].code, "invalid_character");
});

it("omits other organizations' products and names", async ({ org, app }) => {
  const other = await app.organization();
  await named(app, other, "contributors", "Secretarius");
  await other.create({ title: "Two", publisher_id: other.publisher });
  await org.create({ title: "One", publisher_id: org.publisher });

  assertEquals(await find(org, "harbour"), ["One"]);
  assertEquals(await find(org, "two"), []);
  assert((await find(org, "secretarius")).length === 0);
});

/** Overlapping words of different lengths. */
const WORDS = "as an ann anna the them thematic in ink inkling rose prose r2"
  .split(" ");

/** The titles found, in order. The total must equal their number, up to a page. */
async function find(
  org: Organization,
  q: string,
  others = "",
): Promise<string[]> {
  const { status, body } = await org.get(
    `/api/products?limit=100&q=${encodeURIComponent(q)}${others}`,
  );
  assertEquals(status, 200, q);
  assertEquals(Math.min(100, body.meta.total), body.data.length, q);
  return titlesOf(body.data);
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

/** The field of a body with these contributors. */
async function by(app: App, ...ids: string[]) {
  const contributor_role_id = await idOfCode(app, "contributor_roles", "A01");
  return {
    contributors: ids.map((contributor_id) => ({
      contributor_id,
      contributor_role_id,
    })),
  };
}

/** The fields of a body with these collections, the last of which is the series. */
function within(...ids: string[]) {
  return {
    product_collections: ids.map((collection_id) => ({ collection_id })),
    series_id: ids.at(-1)!,
  };
}

function isNot(title: string) {
  return (other: string) => other !== title;
}

/** The same numbers in every run. */
function numbers(): () => number {
  let state = 1;
  return () => state = state * 48271 % 0x7fffffff;
}
