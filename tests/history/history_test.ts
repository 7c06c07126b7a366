import { Buffer } from "node:buffer";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { commandsOn, exported, imported, withHeader } from "../support/client/transfer.ts";
import { entryLine } from "../../features/history/commands.ts";
import { listHistory } from "../../features/history/db/history.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { onixClient } from "../support/client/onix.ts";
import type { Reply } from "../support/client/envelope.ts";
import { deletionOf, isbnOf, message, record, sent } from "../support/data/onix.ts";
import { type Scene, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { operationsOf } from "../support/app/own_app.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const it = testsOf("The history of a product");

async function entriesOf(
  org: Organization,
  id: string,
  query = "",
): Promise<Any[]> {
  const { status, body } = await org.get(`/api/products/${id}/history${query}`);
  assertEquals(status, 200, JSON.stringify(body.error));
  return body.data;
}

const SUPPLY = (price_amount: number) => [{
  market_reference: "A",
  exclusivity: "exclusive",
  markets: [{ name: "World", territory: { regions_included: ["WORLD"] } }],
  supply_details: [{
    supplier: { supplier_role: "01", supplier_name: "Shop" },
    product_availability: "20",
    prices: [{ price_type: "01", price_amount, currency_code: "GBP" }],
  }],
}];
const RIGHTS = (code: string) => [{
  sales_rights_type: "01",
  territory: { countries_included: [code] },
}];

/** The book that a way writes, and its id as soon as it has one. */
interface Book {
  isbn: string;
  reference: string;
  id: string;
}

/** What one write makes of the book, the event of its entry, if it has one, and the places that it changes. */
type Cell = [
  write: (book: Book) => PromiseLike<unknown>,
  event?: string,
  ...pointers: string[],
];

/** The cells of a way to write. A way without a cell cannot do it. */
interface Way {
  operation: string | null;
  kind?: string;
  source?: (book: Book) => object;
  create?: Cell;
  change: Cell;
  same: Cell;
  remove?: Cell;
}

const PRICES = [{ currency_code: "USD", retail_price: 1 }];

/** The ways to write a book. */
function waysOf({ org, app, sql }: Scene): Record<string, Way> {
  const onix = onixClient(app, org);
  const at = ({ id }: Book) => `/api/products/${id}`;
  const report = async (xml: string) => {
    const { rejected } = await onix.report(xml);
    assertEquals(rejected, 0, xml);
  };
  const saying = (
    { isbn, reference }: Book,
    notification: string,
    pages: number,
  ) => report(message(record({ isbn, reference, notification, pages })));
  const ended = ({ reference }: Book) => report(message(deletionOf(reference)));
  const recordOf = ({ reference }: Book) => ({
    sender: "Harbour Press",
    sent: "2026-11-24T12:00:00.000Z",
    record_reference: reference,
  });
  const written = async (operations: object[], options?: object) => {
    const { body } = await org.batch(operations, options);
    assert(body.data.every(({ status }: Any) => status < 300), body);
  };
  const batch = (options?: object): Way => ({
    operation: "writeProducts",
    create: [
      ({ isbn }) =>
        written([{
          method: "create",
          body: { title: "Emma", isbn13: isbn },
        }], options),
      "created",
    ],
    change: [
      ({ id }) =>
        written([{
          method: "update",
          id,
          body: { subtitle: "B", product_prices: PRICES },
        }], options),
      "changed",
      "/subtitle",
      "/product_prices/0",
    ],
    same: [
      ({ id }) => written([{ method: "update", id, body: { subtitle: "B" } }], options),
    ],
    remove: [
      ({ id }) => written([{ method: "delete", id }], options),
      "deleted",
    ],
  });
  const atPath = (
    path: string,
    operation: string,
    entries: object[],
    pointer: string,
  ): Way => ({
    operation,
    change: [
      (book) => org.put(`${at(book)}/${path}`, entries),
      "changed",
      pointer,
    ],
    same: [(book) => org.put(`${at(book)}/${path}`, entries)],
    remove: [(book) => org.put(`${at(book)}/${path}`, []), "changed", pointer],
  });
  const restored = async (book: Book, body: object) => {
    const { status, text } = await org.post(`${at(book)}/restore`, body);
    assertEquals(status, 200, text);
  };
  const oldest = async ({ id }: Book) => (await entriesOf(org, id)).at(-1).version;
  const commands = app.database.for({
    deadline: performance.now() + 600_000,
    caller: { organizationId: org.id, name: "test" },
    author: { by: null, operation: "import", requestId: null },
  });
  const line = ({ isbn }: Book, subtitle: string | null, id?: string) =>
    imported(
      commands,
      withHeader(`${
        JSON.stringify({
          kind: "product",
          id: id ?? uuidv7(),
          title: "Emma",
          isbn13: isbn,
          subtitle,
        })
      }\n`),
    );
  const sheet = async ({ isbn }: Book, pages: number) => {
    const { status, text } = await app.send("/api/csv/products?create=true", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "text/csv" },
      body: `isbn13,title,page_count\n${isbn},Emma,${pages}\n`,
    });
    assertEquals(status, 200, text);
  };
  return {
    "a request": {
      operation: "",
      create: [({ isbn }) => org.create({ isbn13: isbn }), "created"],
      change: [
        (book) => org.put(at(book), { subtitle: "A" }),
        "changed",
        "/subtitle",
      ],
      same: [(book) => org.put(at(book), { subtitle: "A" })],
      remove: [(book) => org.delete(at(book)), "deleted"],
    },
    "a batch": batch(),
    "an atomic batch": batch({ atomic: true }),
    "an upsert": {
      operation: "writeProducts",
      create: [
        ({ isbn }) =>
          written([{
            method: "upsert",
            match: "isbn13",
            body: { isbn13: isbn, title: "Emma" },
          }]),
        "created",
      ],
      change: [
        ({ isbn }) =>
          written([{
            method: "upsert",
            match: "isbn13",
            body: { isbn13: isbn, page_count: 7 },
          }]),
        "changed",
        "/page_count",
      ],
      same: [({ isbn }) =>
        written([{
          method: "upsert",
          match: "isbn13",
          body: { isbn13: isbn, page_count: 7 },
        }])],
    },
    "the path of territories": atPath(
      "territories",
      "replaceTerritories",
      SUPPLY(5),
      "/product_territories/0",
    ),
    "the path of rights": atPath(
      "sales-rights",
      "replaceSalesRights",
      RIGHTS("CH"),
      "/product_sales_rights/0",
    ),
    "ONIX 03": {
      operation: "importOnix",
      source: recordOf,
      create: [(book) => saying(book, "03", 474), "created"],
      change: [(book) => saying(book, "03", 475), "changed", "/page_count"],
      same: [(book) => saying(book, "03", 475)],
      // A record of notification 03 deletes no product.
      remove: [(book) => ended(book), "deleted"],
    },
    "ONIX 04": {
      operation: "importOnix",
      source: recordOf,
      create: [(book) => saying(book, "03", 474), "created"],
      change: [(book) => saying(book, "04", 476), "changed", "/page_count"],
      same: [(book) => saying(book, "04", 476)],
    },
    "ONIX 05": {
      operation: "importOnix",
      source: recordOf,
      create: [(book) => saying(book, "03", 474), "created"],
      change: [(book) => ended(book), "deleted"],
      same: [(book) => ended(book)],
    },
    NDJSON: {
      operation: "import",
      kind: "command",
      create: [(book) => line(book, null), "created"],
      change: [(book) => line(book, "N", book.id), "changed", "/subtitle"],
      same: [(book) => line(book, "N", book.id)],
    },
    "a sheet": {
      operation: "importSheet",
      source: () => ({ line: 2 }),
      create: [(book) => sheet(book, 5), "created"],
      change: [(book) => sheet(book, 6), "changed", "/page_count"],
      same: [(book) => sheet(book, 6)],
    },
    "a restoration": {
      operation: "restoreProduct",
      create: [
        async ({ isbn }) => {
          const { id, path } = await org.create({ isbn13: isbn });
          await org.put(path, { subtitle: "R" });
          await org.delete(path);
          await restored({ id } as Book, {});
        },
        "restored",
      ],
      change: [
        async (book) => await restored(book, { version: await oldest(book) }),
        "restored",
        "/subtitle",
      ],
      same: [
        async (book) => await restored(book, { version: await oldest(book) }),
      ],
    },
    "SQL on products": {
      operation: null,
      kind: "database",
      create: [
        ({ isbn }) =>
          sql`insert into products (organization_id, title, isbn13) values (${org.id}, 'Emma', ${isbn})`,
        "created",
      ],
      change: [
        ({ id }) => sql`update products set subtitle = 'C' where id = ${id}`,
        "changed",
        "/subtitle",
      ],
      same: [
        ({ id }) => sql`update products set subtitle = 'C' where id = ${id}`,
      ],
      remove: [
        ({ id }) => sql`delete from products where id = ${id}`,
        "deleted",
      ],
    },
    "SQL on nested rows": {
      operation: null,
      kind: "database",
      create: [
        async ({ isbn }) => {
          const { id } = await org.create({ isbn13: isbn });
          await sql`insert into product_prices (organization_id, id, product_id, position, currency_code, retail_price) values (${org.id}, gen_random_uuid(), ${id}, 0, 'USD', 1)`;
        },
        "changed",
        "/product_prices/0",
      ],
      change: [
        ({ id }) => sql`update product_prices set retail_price = 3 where product_id = ${id}`,
        "changed",
        "/product_prices/0/retail_price",
      ],
      same: [
        ({ id }) => sql`update product_prices set retail_price = 3 where product_id = ${id}`,
      ],
      remove: [
        ({ id }) => sql`delete from product_prices where product_id = ${id}`,
        "changed",
        "/product_prices/0",
      ],
    },
  };
}

it("has an entry of each way to create, change and delete, and none of one that changes nothing", async (scene) => {
  const { org } = scene;
  for (const [n, [way, cells]] of Object.entries(waysOf(scene)).entries()) {
    const { operation, kind = "api_key", source } = cells;
    const book: Book = {
      isbn: isbnOf(100 + n),
      reference: `book.${n}`,
      id: "",
    };
    if (!cells.create) book.id = (await org.create({ isbn13: book.isbn })).id;
    for (const name of ["create", "change", "same", "remove"] as const) {
      if (!cells[name]) continue;
      const [write, event, ...pointers] = cells[name];
      const before = book.id ? await entriesOf(org, book.id) : [];
      await write(book);
      if (!book.id) {
        const { body } = await org.get(`/api/products?isbn13=${book.isbn}`);
        book.id = body.data[0].id;
      }
      const shown = await org.get(`/api/products/${book.id}`);
      const [entry, ...others] = await entriesOf(org, book.id);
      const cell = `${way}: ${name}`;
      if (!event) {
        assertEquals([entry, ...others], before, cell);
        continue;
      }
      if (name !== "create") assertEquals(others, before, cell);
      const single = { created: "createProduct", changed: "updateProduct" };
      assertEquals(
        [entry.event, entry.operation, entry.changed_by.kind, entry.source],
        [
          event,
          operation === "" ? single[event as keyof typeof single] ?? "deleteProduct" : operation,
          kind,
          source?.(book),
        ],
        cell,
      );
      const changed = entry.changes.map(({ pointer }: Any) => pointer);
      assert(
        pointers.every((pointer) => changed.includes(pointer)) &&
          changed.length >= pointers.length,
        `${cell}: ${changed}`,
      );
      // A version is what was shown then.
      const { version, at } = entry;
      for (const query of [`version=${version}`, `at=${at}`]) {
        const past = await org.get(`/api/products/${book.id}?${query}`);
        assertEquals(
          [past.status, past.body.data, past.headers.get("etag")],
          [shown.status, shown.body.data, null],
          cell,
        );
      }
    }
  }
});

it("has no entry of a rename", async ({ org }) => {
  const { id } = await org.create({ publisher_id: org.publisher });
  const before = await entriesOf(org, id);
  await org.put(`/api/publishers/${org.publisher}`, { name: "Renamed" });
  await org.get(`/api/products/${id}`);
  assertEquals(await entriesOf(org, id), before);
});

const onix = ({ app, org }: Scene, xml: string) => onixClient(app, org).report(xml);

it("has the end of a product, however it is deleted, and what created it again", async (scene) => {
  const { org, sql } = scene;
  const ways: [
    string,
    (id: string, n: number) => PromiseLike<unknown>,
    string | null,
  ][] = [
    ["DELETE", (id) => org.delete(`/api/products/${id}`), "deleteProduct"],
    ["a batch", (id) => org.batch([{ method: "delete", id }]), "writeProducts"],
    [
      "an atomic batch",
      (id) => org.batch([{ method: "delete", id }], { atomic: true }),
      "writeProducts",
    ],
    [
      "ONIX 05",
      (_, n) => onix(scene, message(deletionOf(`ref.${n}`))),
      "importOnix",
    ],
    ["SQL", (id) => sql`delete from products where id = ${id}`, null],
  ];
  for (const [n, [way, remove, operation]] of ways.entries()) {
    const isbn = isbnOf(10 + n);
    const report = await onix(
      scene,
      message(record({ reference: `ref.${n}`, isbn })),
    );
    const id = report.outcomes[0].id;
    const path = `/api/products/${id}`;
    await org.put(path, { subtitle: "Kept" });
    const { body: { data: shown } } = await org.get(path);
    const { xml } = onixClient(scene.app, org);
    const xmlBefore = (await xml(`/${id}`)).replace(/<SentDateTime>.*?</, "");
    await remove(id, n);

    const [entry] = await entriesOf(org, id);
    assertEquals([entry.event, entry.operation, entry.changes], [
      "deleted",
      operation,
      [],
    ], way);
    const { body: { data: [gone] } } = await org.get("/api/products/deleted");
    assertEquals(
      [
        gone.id,
        gone.title,
        gone.isbn13,
        gone.product_code,
        gone.record_reference,
        gone.operation,
      ],
      [id, shown.title, isbn, shown.product_code, `ref.${n}`, operation],
      way,
    );

    const { status, body } = await org.post(`${path}/restore`, {});
    assertEquals([status, body.data?.changes], [200, []], way);
    const { body: { data: restored } } = await org.get(path);
    assertEquals(
      { ...restored, updated_at: "" },
      { ...shown, updated_at: "" },
      way,
    );
    assertEquals(
      (await xml(`/${id}`)).replace(/<SentDateTime>.*?</, ""),
      xmlBefore,
      way,
    );
    const again = await onix(
      scene,
      message(record({ reference: `ref.${n}`, isbn })),
    );
    assertEquals([again.unchanged, again.created], [1, 0], way);
    assertEquals((await org.get("/api/products/deleted")).body.data, [], way);
    const [back, ended] = await entriesOf(org, id);
    assertEquals([back.event, ended.event], ["restored", "deleted"], way);
  }
});

it("has imports of files, whose restored times change no order", async ({ org, app }) => {
  const { id, path } = await org.create({ subtitle: "First" });
  const operations = operationsOf(app, org);
  const text = await exported(operations);
  await org.put(path, { subtitle: "Second" });
  const edited = text.replace(
    /("kind":"product".*?"updated_at":")[^"]+/,
    "$12001-01-01T00:00:00.000Z",
  );

  assertEquals(await imported(operations, edited), []);
  assertEquals(
    (await org.get(path)).body.data.updated_at,
    "2001-01-01T00:00:00.000Z",
  );
  await imported(operations, edited);

  const entries = await entriesOf(org, id);
  assertEquals(
    entries.map(({ changes }) => changes.map(({ from, to }: Any) => [from, to])),
    [
      [["Second", "First"]],
      [["First", "Second"]],
      [],
    ],
  );
  assert(entries[0].at > entries[1].at);
  const commands = commandsOn(app)(org.id);
  await imported(
    commands,
    text.replace('"subtitle":"First"', '"subtitle":"Third"'),
  );
  assertEquals((await entriesOf(org, id))[0].changes[0].to, "Third");
});

it("never blames a write for what SQL did before it", async ({ org, sql }) => {
  const writes: ((id: string) => Promise<Reply>)[] = [
    (id) => org.put(`/api/products/${id}`, { subtitle: "By a request" }),
    (id) => org.batch([{ method: "update", id, body: { subtitle: "By a request" } }]),
    (id) => org.delete(`/api/products/${id}`),
  ];
  for (const write of writes) {
    const { id } = await org.create();
    await sql`update products set title = 'By SQL' where id = ${id}`;
    await write(id);

    const [last, before] = await entriesOf(org, id);
    assertEquals(last.changed_by.kind, "api_key");
    assertEquals(
      last.changes.map(({ pointer }: Any) => pointer),
      last.event === "deleted" ? [] : ["/subtitle"],
    );
    assertEquals([before.changed_by.kind, before.changes[0].to], [
      "database",
      "By SQL",
    ]);
  }
});

it("has each change by SQL that a request has shown", async ({ org, sql }) => {
  const { id, path } = await org.create();
  const reads = [path, `${path}/territories`, `/api/onix/products/${id}`];
  const titles = Array.from({ length: 30 }, (_, i) => `By SQL ${i}`);
  for (const [i, title] of titles.entries()) {
    await sql`update products set title = ${title} where id = ${id}`;
    assertEquals((await org.get(reads[i % reads.length]!)).status, 200);
  }
  const entries = await entriesOf(org, id);
  assertEquals(
    entries.flatMap(({ changes }) => changes.map(({ to }: Any) => to)),
    titles.toReversed(),
  );
});

it("has no JSON of a product that is too large to be shown", async ({ org, sql }) => {
  const { id, path } = await org.create();
  await sql`
    insert into collateral (organization_id, id, product_id, position, collateral_type, text)
    select ${org.id}, gen_random_uuid(), ${id}, n, 'text_content', repeat('x', 200000) from generate_series(1, 25) n
  `;
  const large = async () => (await org.get(path)).status;
  assertEquals(await large(), 409);
  const [{ changes }] = await entriesOf(org, id);
  assertEquals([changes, await large()], [null, 409]);
  await sql`delete from collateral where product_id = ${id}`;
  assertEquals(await large(), 200);
  assertEquals((await entriesOf(org, id)).map(({ changes }) => changes), [
    null,
    null,
    [],
  ]);
});

it("tells what changed: entries by id and by what they are about, order once, long texts cut", async ({ org }) => {
  const subjects = Array.from({ length: 300 }, (_, i) => ({
    subject_scheme_identifier: "24",
    subject_scheme_name: "Ours",
    subject_code: `S${i}`,
  }));
  const { id, path, product } = await org.create({
    subjects,
    product_prices: [...PRICES, { currency_code: "EUR" }],
  });
  const [usd] = product.product_prices;
  const cases: [object, [string, string][]][] = [
    [{ subjects: subjects.toReversed() }, [["/subjects", "moved"]]],
    [{ subjects: subjects.slice(1).toReversed() }, [[
      "/subjects/299",
      "removed",
    ]]],
    [{ product_prices: [{ id: usd.id, retail_price: 2 }] }, [[
      "/product_prices/0/retail_price",
      "changed",
    ]]],
    [{ subtitle: "é".repeat(2_000) }, [["/subtitle", "changed"]]],
    [
      { subjects: [] },
      Array.from({ length: 100 }, (_, i) => [`/subjects/${i}`, "removed"]),
    ],
    [{ publisher_id: org.publisher, season_id: org.season }, [[
      "/season_id",
      "changed",
    ], ["/publisher_id", "changed"]]],
    [{
      contributors: [{
        contributor_id: org.contributor,
        contributor_role_code: "A01",
      }],
    }, [["/contributors/0", "added"]]],
  ];
  for (const [body, expected] of cases) {
    const { status, body: { error } } = await org.put(path, body);
    assertEquals(status, 200, JSON.stringify(error));
    const [{ changes }] = await entriesOf(org, id, "?limit=1");
    assertEquals(
      changes.map(({ pointer, kind }: Any) => [pointer, kind]).toSorted(),
      expected.toSorted(),
    );
  }
  const long = await entriesOf(org, id, "?changed=subjects,subtitle");
  assertEquals(long.map(({ more_changes = 0 }) => more_changes), [
    199,
    0,
    0,
    0,
  ]);
});

it("cuts a text at 2,000 code points, whatever plane they are in", async ({ org }) => {
  const { id, path } = await org.create();
  for (const character of ["a", "é", "😀"]) {
    for (const [length, shown] of [[2_000, 2_000], [2_001, 2_001], [2_500, 2_001]] as const) {
      const text = character.repeat(length);
      const collateral = [{ collateral_type: "text_content", text_type: "03", text }];
      await org.put(path, { collateral });
      const [{ changes: [{ to }] }] = await entriesOf(org, id, "?limit=1");
      const cut = Array.from(to.text ?? to);
      assertEquals([cut.length, cut.at(-1)], [shown, length > 2_000 ? "…" : character], text[0]);
    }
  }
});

it("has pointers that lead to what was removed in the product before, at every depth", async ({ org }) => {
  const market = (name: string) => ({ name, territory: { countries_included: ["GB"] } });
  const territory = (market_reference: string, ...markets: object[]) => ({
    market_reference,
    exclusivity: "exclusive",
    markets,
    supply_details: [],
  });
  const { id, path } = await org.create();
  const put = async (territories: object[]) =>
    (await org.put(`${path}/territories`, territories)).body.data.product_territories;
  const [uk, us] = await put([
    territory("UK", market("Gone"), market("Kept")),
    territory("US", market("US")),
  ]);
  const [, kept] = uk.markets;
  await put([us, { ...uk, markets: [{ ...kept, name: "New" }] }]);

  const [{ changes }] = await entriesOf(org, id, "?limit=1");
  assertEquals(
    changes.map(({ kind, pointer }: Any) => [kind, pointer]).toSorted(),
    [
      ["changed", "/product_territories/1/markets/0/name"],
      ["moved", "/product_territories"],
      ["removed", "/product_territories/0/markets/0"],
    ],
  );
});

it("has no entry of a restoration that changes nothing, nor of rows that were sent again", async ({ org }) => {
  const { id, path, product } = await org.create({ product_prices: PRICES });
  const [{ version }] = await entriesOf(org, id);
  await org.put(path, { product_prices: [] });
  await org.put(path, { product_prices: PRICES });
  const { body: { data: now } } = await org.get(path);
  assert(now.product_prices[0].id !== product.product_prices[0].id);
  const { body } = await org.post(`${path}/restore`, { version });
  assertEquals([body.data.changes, body.data.product], [[], now]);

  const before = await entriesOf(org, id);
  await org.batch([{ method: "delete", id }, { method: "restore", id }], { atomic: true });
  assertEquals(await entriesOf(org, id), before);
  const { body: all } = await org.get("/api/history");
  assertEquals(all.data.length, before.length);
  for (const market_reference of ["A", "A", "B"]) {
    const [one] = SUPPLY(5);
    await org.put(`${path}/territories`, [{ ...one, market_reference }]);
  }
  assertEquals((await entriesOf(org, id)).length, before.length + 2);
});

it("shows what is there now as of now, though a clock was ahead", async ({ org, sql }) => {
  const { id, path } = await org.create({ title: "Before" });
  for (const title of ["Ahead", "After"]) {
    await org.put(path, { title });
    await sql`
      update product_documents d set changed_at = d.changed_at + interval '80 days'
      where d.product_id = ${id} and d.event = 'changed' and d.changed_at < now() + interval '1 day'
    `;
  }
  const titleAt = async (at: string) => (await org.get(`${path}?at=${at}`)).body.data?.title;
  const entries = await entriesOf(org, id);
  for (const [i, title] of ["After", "Ahead", "Before"].entries()) {
    assertEquals(await titleAt(entries[i].at), title);
  }
  const days = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString();
  for (const at of [days(0), days(1), days(100)]) assertEquals(await titleAt(at), "After");
  assertEquals((await org.get(`${path}?at=${days(-1)}`)).status, 404);
});

it("of the organization is chosen by who made it, also by command and by SQL", async ({ org, app, sql }) => {
  const { id, path } = await org.create({ title: "By key" });
  const written = (author: object) =>
    app.database.for({
      deadline: performance.now() + 60_000,
      caller: { organizationId: org.id, name: "test" },
      author: author as Any,
    });
  const line = (title: string) => withHeader(`${JSON.stringify({ kind: "product", id, title })}\n`);
  await imported(written({ by: null, operation: "import", requestId: null }), line("By command"));
  await imported(
    written({ by: "user:rob", operation: "import", requestId: null }),
    line("By user"),
  );
  await sql`update products set title = 'By SQL' where id = ${id}`;
  await org.get(`${path}/history`);
  const key = org.key.slice(4, 16);
  const cases = {
    [key]: ["By key"],
    command: ["By command"],
    rob: ["By user"],
    database: ["By SQL"],
  };
  for (const [by, titles] of Object.entries({ ...cases, [`${key}x`]: [], ro: [] })) {
    const { entries } = await listHistory(
      operationsOf(app, org),
      { limit: 9, changed_by: by },
      () => {},
    );
    assertEquals(entries.map((entry) => JSON.parse(entry).product.title), titles, by);
  }
});

it("has bounded work for a page, also if the filters let nothing through", async ({ org, sql }) => {
  const { id } = await org.create();
  const [{ request_id: request }] = await entriesOf(org, id);
  await sql`
    insert into product_documents (
      organization_id, product_id, change_version, names_version, changed_at, event, summary, details
    )
    select d.organization_id, d.product_id, d.change_version + n, 0, d.changed_at + make_interval(secs => n / 1000.0),
      'created', d.summary, d.details
    from product_documents d
    cross join generate_series(1, 12000) n
    where d.product_id = ${id}
  `;
  let [pages, after] = [0, ""];
  const found: Any[] = [];
  for (let more = true; more; pages++) {
    const { body } = await org.get(`/api/history?operation=createProduct&limit=5${after}`);
    found.push(...body.data);
    more = body.meta.more;
    after = `&after=${body.meta.cursor}`;
  }
  assertEquals([pages, found.length], [2, 1]);

  // The versions of a request are found by an index.
  const { body } = await org.get(`/api/history?request_id=${request}`);
  assertEquals([body.data.length, body.meta.more], [1, false]);
});

it("lists deleted products with their last names, also if nobody has read them", async ({ org, sql }) => {
  const { id, path } = await org.create({ title: "First" });
  await org.put(path, { title: "Last" });
  await org.delete(path);
  const isbn13 = isbnOf(8);
  await sql`insert into products (organization_id, title, isbn13) values (${org.id}, 'Unread', ${isbn13})`;
  await sql`delete from products where organization_id = ${org.id} and isbn13 = ${isbn13}`;
  const { data } = (await org.get("/api/products/deleted")).body;
  assertEquals(
    data.map(({ title, isbn13 }: Any) => [title, isbn13]),
    [[null, isbn13], ["Last", null]],
  );
  const code = data[0].product_code;
  assert(/^P-/.test(code), code);
  const { status } = await org.post(`/api/products/${data[0].id}/restore`, {});
  assertEquals(status, 410);

  // Who may write is told the way back, and nobody else.
  const { body: { error } } = await org.get(path);
  assert(error.message.includes(`POST /products/${id}/restore`), error.message);
  for (const reply of [await org.put(path, {}), await org.get(`${path}/territories`)]) {
    assertEquals(reply.body.error.message, error.message);
  }
  const { body } = await org.get(`/api/products/${data[0].id}`);
  assertEquals(body.error.message, `No product with id "${data[0].id}"`);
});

it("has no entry of a restoration whose references are gone, if the rest is so already", async ({ org }) => {
  const add = async (path: string) =>
    (await org.post(`/api/${path}`, { name: "Gone" })).body.data.id;
  const ids = {
    contributor_id: await add("contributors"),
    collection_id: await add("collections"),
    field_id: await add("custom-fields"),
  };
  const role = { contributor_role_id: idOfCode("17", "A01") };
  const kept = { contributor_id: org.contributor, ...role };
  const { path } = await org.create({
    publisher_id: await add("publishers"),
    contributors: [{ contributor_id: ids.contributor_id, ...role }, kept],
    product_collections: [{ collection_id: ids.collection_id }],
    series_id: ids.collection_id,
    custom_fields: [{ field_id: ids.field_id, field_value: "Then" }],
  });
  const [{ version }] = (await org.get(`${path}/history`)).body.data;
  const { body: { data: before } } = await org.get(path);
  await org.put(path, {
    publisher_id: null,
    contributors: [kept],
    product_collections: [],
    series_id: null,
    custom_fields: [],
  });
  for (
    const [name, id] of [
      ["publishers", before.publisher_id],
      ["contributors", ids.contributor_id],
      ["collections", ids.collection_id],
      ["custom-fields", ids.field_id],
    ]
  ) assertEquals((await org.delete(`/api/${name}/${id}`)).status, 200);
  const { body: { data: now } } = await org.get(path);

  const { status, body } = await org.post(`${path}/restore`, { version, skip_missing: true });

  assertEquals([status, body.data.product, body.data.changes], [200, now, []]);
  assertEquals(body.data.skipped.toSorted(), [
    "/contributors/0/contributor_id",
    "/custom_fields/0/field_id",
    "/product_collections/0/collection_id",
    "/publisher_id",
    "/series_id",
  ]);
  assertEquals((await org.get(`${path}/history`)).body.data.length, 2);
});

it("is for those who may write, and for one's own", async ({ org, app }) => {
  const { id, path } = await org.create();
  const [{ version }] = await entriesOf(org, id);
  const key = await org.issueKey("read");
  const other = await app.organization();
  const calls: [string, string, object?][] = [
    ["GET", `${path}/history`],
    ["GET", `${path}?version=${version}`],
    ["GET", `${path}?at=2099-01-01`],
    ["POST", `${path}/restore`, { version }],
    ["GET", "/api/products/deleted"],
    ["GET", "/api/history"],
  ];
  for (const [method, target, body] of calls) {
    const call = (key: string) =>
      app.send(target, {
        method,
        headers: { "x-api-key": key, "content-type": "application/json" },
        ...body && { body: JSON.stringify(body) },
      });
    assertEquals((await call(key)).status, 403, target);
    const { status, body: reply } = await call(other.key);
    if (target.includes(id)) assertEquals(status, 404, target);
    else assertEquals(reply.data, [], target);
  }
  assertEquals(
    (await app.send(path, { headers: { "x-api-key": key } })).status,
    200,
  );
});

it("is the way back that the error of a deleted product names to those who may write", async ({ org, app }) => {
  const { path, id } = await org.create();
  await org.delete(path);
  const key = await org.issueKey("read");
  const paths = [
    path,
    `/api/products/${id.toUpperCase()}`,
    `${path}/territories`,
    `${path}/sales-rights`,
    `${path}/readiness?profile=kobo`,
    `${path}/recipients`,
    `/api/onix/products/${id}`,
  ];
  for (const target of paths) {
    const error = (await org.get(target)).body.error;
    const { body, status } = await app.send(target, { headers: { "x-api-key": key } });
    assert(error.message.includes(`POST /products/${id}/restore`), `${target}: ${error.message}`);
    assert(status === 403 || !body.error.message.includes("restore"), target);
  }
  const restore = `POST /products/${id}/restore`;
  const { headers } = await org.post("/api/publishing-programs", { name: "Spring" });
  const program = headers.get("location")!;
  const writes: [method: "put" | "post", path: string, body?: object][] = [
    ["put", path, { title: "Emma" }],
    ["put", path, {}],
    ["put", `${path}/territories`, []],
    ["put", `${path}/sales-rights`, []],
    ["put", `${program}/products/${id}`],
    ...[{ title: "Emma" }, { publisher_name: "Nobody" }, {}].map((body) =>
      [
        "post",
        "/api/products/batch",
        { atomic: true, operations: [{ method: "update", id, body }] },
      ] as [method: "post", path: string, body: object]
    ),
  ];
  for (const [method, target, sent] of writes) {
    const { status, body } = await org[method](target, sent);
    assertEquals([status, body.error.message.includes(restore)], [404, true], body.error.message);
  }
  const never = crypto.randomUUID();
  const updates = [id.toUpperCase(), never, id].map((id) => ({ method: "update", id, body: {} }));
  const { body: { data: results } } = await org.post("/api/products/batch", {
    operations: updates,
  });
  assertEquals(
    results.map(({ status, error }: Any) => [status, error.message.includes("restore")]),
    [[404, true], [404, false], [404, true]],
  );
  const { path: other, id: otherId } = await org.create();
  const { body: refused } = await org.post("/api/products/batch", {
    atomic: true,
    operations: [{ method: "delete", id: otherId }, { method: "update", id: otherId, body: {} }],
  });
  assert(!refused.error.message.includes("restore"), refused.error.message);
  assertEquals((await org.get(other)).status, 200);
  const { status, body } = await org.get(`${path}?at=2099-01-01`);
  assertEquals([status, /was deleted/.test(body.error.message)], [404, true], body.error.message);
});

it("refuses what it cannot find", async ({ org }) => {
  const { id, path } = await org.create();
  const [{ version }] = await entriesOf(org, id);
  const gets: [string, number, string][] = [
    ["?version=none", 400, "VALIDATION_ERROR"],
    ["?at=yesterday", 400, "VALIDATION_ERROR"],
    [`?version=${version}&at=2099-01-01`, 400, "VALIDATION_ERROR"],
    ["?version=1", 404, "NOT_FOUND"],
    ["?at=2001-01-01", 404, "NOT_FOUND"],
    ["/history?changed=publisher_name", 400, "VALIDATION_ERROR"],
    ["/history?after=x", 400, "VALIDATION_ERROR"],
    [`?at=${"2026-11-29T11:43:07Z".toLowerCase()}`, 404, "NOT_FOUND"],
  ];
  for (const [query, status, code] of gets) {
    const reply = await org.get(`${path}${query}`);
    assertEquals([reply.status, reply.body.error.code], [status, code], query);
  }
  const bodies: object[] = [
    {},
    { version, at: "2099-01-01" },
    { version: "1" },
    { at: "2001-01-01" },
    { nonsense: 1 },
  ];
  for (const body of bodies) {
    assertEquals(
      (await org.post(`${path}/restore`, body)).status,
      400,
      JSON.stringify(body),
    );
  }
  const days = [
    "2026-02-30T00:00:00",
    "9999-99-99T99:99:99",
    "2026-11-29T24:60:60",
    "0000-01-01T00:00:00",
  ];
  const cursors = days.map((day) => Buffer.from(`${day}.000Z ${id}`).toString("base64url"));
  for (const cursor of ["x", ...cursors]) {
    for (const list of ["history", "products/deleted"]) {
      assertEquals((await org.get(`/api/${list}?after=${cursor}`)).status, 400, cursor);
    }
  }
  assertEquals((await org.get("/api/history?operation=nonsense")).status, 400);
});

it("of the organization has all products, newest first, in pages", async ({ org }) => {
  const { id } = await org.create({ isbn13: isbnOf(3) });
  await org.put(`/api/products/${id}`, { title: "Persuasion" });
  await org.delete(`/api/products/${id}`);
  const found: Any[] = [];
  let after = "";
  for (let more = true; more;) {
    const { body } = await org.get(`/api/history?limit=1${after}`);
    found.push(...body.data);
    more = body.meta.more;
    after = `&after=${body.meta.cursor}`;
  }
  assertEquals(
    found.map(({ event, product }) => [event, product.title, product.isbn13]),
    [
      ["deleted", "Persuasion", isbnOf(3)],
      ["changed", "Persuasion", isbnOf(3)],
      ["created", "Emma", isbnOf(3)],
    ],
  );
  const only = await org.get(
    "/api/history?operation=updateProduct&changed_by=nobody",
  );
  assertEquals(only.body.data, []);
  const until = await org.get(`/api/history?until=${found[1].at}`);
  assertEquals(until.body.data.length, 2);
  const all = await org.get(
    `/api/history?since=2001-01-01&until=2099-01-01&changed_by=nobody&operation=updateProduct${after}`,
  );
  assertEquals([all.status, all.body.data], [200, []]);
});

const ones = testsOf("Two senders and an import");

ones("have an entry each with its own predecessor", async (scene) => {
  const { org, app } = scene;
  const one = sent(
    "20261101",
    "Press",
    record({ reference: "x", isbn: isbnOf(4) }),
  );
  const report = await onixClient(app, org).report(one);
  const id = report.outcomes[0].id;
  await onixClient(app, org).report(
    sent(
      "20261102",
      "Shop",
      record({ reference: "x", isbn: isbnOf(4), pages: 5 }),
    ),
  );
  await onixClient(app, org).report(one);
  const entries = await entriesOf(org, id);
  assertEquals(entries.map(({ source }) => source.sender), ["Shop", "Press"]);
  assertEquals(entries[0].changes.map(({ pointer }: Any) => pointer), [
    "/page_count",
  ]);
});

it("is a line of the command, with the request that can be undone", async ({ org }) => {
  await org.create({ title: "Emma" });
  const { body: { data: [entry] } } = await org.get("/api/history?limit=1");

  const line = entryLine(entry);

  assertStringIncludes(line, `${entry.product.product_code} Emma  by `);
  assertStringIncludes(line, `, createProduct, request ${entry.request_id}`);
});
