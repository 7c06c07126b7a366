import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Queries } from "../../db/database.ts";
import { exportSheet } from "../../db/sheets/export.ts";
import type { SheetQuery } from "../../schema/sheets/query.ts";
import { testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { columnOf } from "../../schema/sheets/columns.ts";
import { COLUMN_PLACES } from "../../schema/sheets/places.ts";
import { FIELDS } from "../../schema/product.ts";

const it = testsOf("/csv/products");

const ISBNS = ["9780141439587", "9780306406157"] as const;

/** Sends a sheet. */
async function sent(
  org: Organization,
  app: { send: (path: string, init: RequestInit) => Promise<Sent> },
  body: BodyInit,
  query = "",
  headers: Record<string, string> = {},
): Promise<Sent> {
  return await app.send(`/api/csv/products${query}`, {
    method: "POST",
    headers: { "x-api-key": org.key, "content-type": "text/csv", ...headers },
    body,
  });
}

// deno-lint-ignore no-explicit-any
type Outcome = any;
// deno-lint-ignore no-explicit-any
type Sent = { status: number; text: string; body: any; headers: Headers };

const sheet = async (org: Organization, query = "") =>
  (await org.get(`/api/csv/products${query}`)).text;

const KEYS: Record<string, string> = {
  product_prices: "EUR",
  packing_configurations: "pallet",
  collateral: "03",
  custom_fields: "Shelf",
  languages: "01",
};

/** The name of a column at a place. */
function nameAt(place: string): string {
  return place.replace(/^(\w+)\[\]/, (_, array) => `${array}[${KEYS[array] ?? "1"}]`);
}

it("comes back unchanged, however a spreadsheet program saves it", async ({ org, app }) => {
  const titles = [
    "007",
    "-30-",
    "@home",
    "=1+1",
    "'=x",
    "Two\nlines",
    'Öl; "Salz"',
  ];
  for (const title of titles) {
    await org.create({
      title,
      page_count: 96,
      publication_date: "2027-01-31",
      product_prices: [{ currency_code: "EUR", retail_price: 12.5 }],
      publisher_id: org.publisher,
      contributors: [{
        contributor_id: org.contributor,
        contributor_role_code: "A01",
      }],
    });
  }
  const text = await sheet(org);
  const comma = await sheet(org, "?delimiter=semicolon&decimal=comma");
  // Without the entries of what has a cell for all of them, and fields that nobody has.
  const others = /^(?:contributors|product_collections|subjects|custom_fields)\[/;
  const columns = [...COLUMN_PLACES.keys()].filter((place) => !others.test(place)).map(nameAt);
  const forms: [string, BodyInit][] = [
    ["as it went out", text],
    ["with every column", await sheet(org, `?columns=${encodeURIComponent(columns.join())}`)],
    ["with semicolons and commas", comma],
    ["with quotes everywhere", quoted(comma, ";")],
    ["in Windows-1252", latin(comma)],
    ["in UTF-16", utf16(`\ufeff${text}`)],
    ["with line feeds", text.replaceAll("\r\n", "\n")],
    ["with CRLF in cells", text.replaceAll("Two\nlines", "Two\r\nlines")],
    ["after sep=", `sep=;\r\n${comma}`],
    ["without leading zeros", text.replaceAll(",007,", ",7,")],
  ];
  for (const [name, body] of forms) {
    const { status, text, body: answer } = await sent(org, app, body);
    assertEquals(status, 200, text);
    const { rows, unchanged, updated, refused } = answer.data;
    assertEquals(
      { rows, unchanged, updated, refused },
      { rows: 7, unchanged: 7, updated: 0, refused: 0 },
      `${name}: ${text}`,
    );
  }
});

function quoted(text: string, delimiter: string): string {
  return text.split("\r\n").filter((row) => row)
    .map((row) =>
      row.includes('"') ? row : row.split(delimiter)
        .map((cell) => `"${cell}"`).join(delimiter)
    ).join("\r\n") + "\r\n";
}

function latin(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (sign) => sign.charCodeAt(0));
}

function utf16(text: string): Uint8Array<ArrayBuffer> {
  const units = Uint16Array.from(
    { length: text.length },
    (_, i) => text.charCodeAt(i),
  );
  return new Uint8Array(units.buffer);
}

it("reads what a spreadsheet program makes of cells", async ({ org, app }) => {
  const { id } = await org.create({ isbn13: ISBNS[0], page_count: 1 });
  const price = "product_prices[EUR].retail_price";
  const cases: [column: string, cell: string, query: string, seen: unknown][] = [
    [price, "1.234,56", "", 1234.56],
    [price, "€ 12,50", "", 12.5],
    [price, "1,234", "", "invalid_number"],
    [price, "1,234", "?decimal=comma", 1.234],
    [price, "XXX", "", "invalid_amount"],
    ["publication_date", "31.01.2027", "?dates=dmy", "2027-01-31"],
    ["publication_date", "1/31/2027", "?dates=mdy", "2027-01-31"],
    ["publication_date", "46053", "", "invalid_date"],
    ["publication_date", "2026-02-30", "", "invalid_date"],
    ["title", "'=1", "", "=1"],
    ["title", "NaN", "", "NaN"],
    ["title", "", "?empty=clear", "required"],
    ["page_count", "#too_long", "", 1],
    ["publisher_name", "Nobody", "", "unknown_reference"],
    ["publishing_status_code", "4x", "", "invalid_code"],
    ["publishing_status_code", "4", "", "04"],
    ["isbn10", "7225938", "", "0007225938"],
  ];
  for (const [column, cell, query, seen] of cases) {
    const { status, text, body } = await sent(
      org,
      app,
      `isbn13;${column}\n="${ISBNS[0]}";${cell}\n`,
      query,
    );
    assertEquals(status, 200, text);
    const [outcome] = body.data.outcomes;
    if (outcome?.outcome === "refused") {
      const [message] = outcome.messages;
      assertEquals(message.column, column, text);
      assertEquals(message.code, seen, `${column} ${cell}: ${text}`);
      continue;
    }
    const { data } = (await org.get(`/api/products/${id}`)).body;
    const found = column === price ? data.product_prices[0].retail_price : data[column];
    assertEquals(found, seen, `${column} ${cell}`);
  }
});

it("writes prices of one currency by their periods, in any order of the columns", async ({ org, app }) => {
  const cells = [
    ["product_prices[EUR].retail_price", 5],
    ["product_prices[EUR 2027-01-01].list_price", 6],
    ["product_prices[EUR].list_price", 7],
  ] as const;
  for (const order of [[0, 1, 2], [1, 0, 2], [2, 1, 0]]) {
    const [columns, values] = [0, 1].map((part) => order.map((i) => cells[i]![part]).join());
    const { body } = await sent(
      org,
      app,
      `isbn13,title,${columns}\n,A,${values}\n`,
      "?create=true",
    );

    const [{ id, changes }] = body.data.outcomes;
    const { data } = (await org.get(`/api/products/${id}`)).body;
    const prices = data.product_prices as Record<string, unknown>[];
    assertEquals(
      prices.map((one) => [one.valid_from, one.retail_price, one.list_price]).sort(),
      [[null, 5, 7], ["2027-01-01", null, 6]],
      columns,
    );
    assertEquals(
      changes.slice(1).map(({ to }: { to: unknown }) => to),
      order.map((i) => cells[i]![1]),
      columns,
    );
  }
});

it("reads bytes that are not UTF-8 as Windows-1252, unless a charset is declared", async ({ org, app }) => {
  await org.create({ isbn13: ISBNS[0] });
  // The first bytes are UTF-8.
  const body = latin(`isbn13,title\n${",\n".repeat(70_000)}${ISBNS[0]},Für\n`);

  const told = await sent(org, app, body, "", { "content-type": "text/csv; charset=utf-8" });
  assertEquals([told.status, told.body.error.details[0].code], [400, "invalid_encoding"]);

  const { body: { data } } = await sent(org, app, body);
  const [{ line, changes: [change], messages: [message] }] = data.outcomes;
  assertEquals([line, change.to, message.code], [70_002, "Für", "windows_1252"]);
  assertMatch(message.message, /such as "Für"$/);
});

it("clears a field of an entry, and removes the entry if that leaves nothing", async ({ org, app }) => {
  const row = async (columns: string, cells: string) => {
    const { id, path } = await org.create({
      product_prices: [
        { currency_code: "EUR", retail_price: 12.5, valid_from: "2026-01-01" },
        { currency_code: "GBP", retail_price: 9 },
        { currency_code: "USD", retail_price: 15 },
      ],
    });
    await sent(org, app, `id,${columns}\n${id},${cells}\n`, "?empty=clear");
    const { product_prices } = (await org.get(path)).body.data;
    return product_prices.map((price: Outcome) => [price.currency_code, price.retail_price]);
  };
  const [EUR, GBP] = ["product_prices[EUR].retail_price", "product_prices[GBP].retail_price"];

  assertEquals(await row(GBP, ""), [["EUR", 12.5], ["USD", 15]]);
  // It still says from when it is valid.
  const kept = [["EUR", null], ["GBP", 9], ["USD", 15]];
  assertEquals(await row(EUR, ""), kept);
  const USD = "product_prices[USD 2026-09-01].retail_price";
  assertEquals(await row(`${EUR},${USD}`, ",8"), [...kept, ["USD", 8]]);
});

it("announces a book by the year, and takes the day in its place", async ({ org, app }) => {
  const { id } = await org.create({ isbn13: ISBNS[0] });
  const shown = async () => {
    const { data } = (await org.get(`/api/products/${id}`)).body;
    return [data.publication_date, data.publishing_dates];
  };

  await sent(org, app, `isbn13,publication_date\n${ISBNS[0]},2027\n`);
  assertEquals(await shown(), [null, [{
    publishing_date_role: "01",
    date: "2027",
  }]]);
  assertMatch(await sheet(org, "?columns=publication_date"), /\r\n2027\r\n$/);

  await sent(org, app, `isbn13,publication_date\n${ISBNS[0]},2027-05-01\n`);
  assertEquals(await shown(), ["2027-05-01", []]);
});

it("refuses a sheet as a whole before it writes", async ({ org, app }) => {
  await org.create({ isbn13: ISBNS[0], title: "Stays" });
  const cases: [body: string, line: number, code: string][] = [
    ["", 1, "required"],
    ["title\nX\n", 1, "required"],
    ["isbn13,titel\n1,2\n", 1, "unknown_column"],
    ["isbn13,title,Title\n1,2,3\n", 1, "duplicate"],
    [
      "isbn13,contributors,contributors[1].contributor_name\n",
      1,
      "duplicate",
    ],
    [`isbn13,title\n${ISBNS[0]},X\n${ISBNS[1]},"torn\n`, 3, "open_quote"],
    [`isbn13,title\n${ISBNS[0]},${"x".repeat(600_000)}\n`, 2, "too_large"],
    [`isbn13,title\n${ISBNS[0]}${",".repeat(2_000)}\n`, 2, "too_many"],
    [
      `isbn13;product_prices[EUR].retail_price\n${ISBNS[0]};1.50\n${ISBNS[1]};1,50\n`,
      3,
      "invalid_number",
    ],
  ];
  for (const [body, line, code] of cases) {
    const { status, text, body: { error } } = await sent(org, app, body);
    assertEquals(status, 400, text);
    assertEquals([error.details[0].line, error.details[0].code], [line, code]);
  }
  const { data } = (await org.get("/api/products")).body;
  assertEquals(data.map(({ title }: { title: string }) => title), ["Stays"]);
});

it("gives refused rows back as a sheet", async ({ org, app }) => {
  await org.create({ isbn13: ISBNS[0] });
  const body = `error,isbn13,page_count\nold,${ISBNS[0]},many\n`;

  const { text } = await sent(org, app, body, "", { accept: "text/csv" });

  assertMatch(
    text,
    /^error,isbn13,page_count\r\n[^,]*page_count: .*,9780141439587,many\r\n$/,
  );
});

it("says which of several names nobody has, and how they are created", async ({ org, app }) => {
  const { id } = await org.create({ isbn13: ISBNS[0] });
  const cell = "Nobody Here (A01); No One (A01)";

  const { body } = await sent(org, app, `id,contributors\n${id},${cell}\n`);

  const [{ messages }] = body.data.outcomes;
  assertEquals(
    messages.map(({ column, value }: Outcome) => [column, value]),
    [["contributors", cell], ["contributors", cell]],
  );
  assertMatch(messages[0].message, /^"Nobody Here": .*create_names=true$/);
  assertMatch(messages[1].message, /^"No One": /);
});

it("writes the first of equal rows of one product", async ({ org, app }) => {
  const { id } = await org.create({ isbn13: ISBNS[0] });

  const { body: { data } } = await sent(org, app, `id,title\n${`${id},New\n`.repeat(3)}`);

  const { updated, unchanged, refused } = data;
  assertEquals([updated, unchanged, refused], [1, 2, 0]);
});

it("creates no name that is longer than a record can have", async ({ org, app }) => {
  const { id } = await org.create();
  const [longest, longer] = ["x".repeat(500), "x".repeat(501)];
  const query = "?create_names=true";
  for (
    const [column, name, outcome] of [
      ["publisher_name", longest, "updated"],
      ["publisher_name", longer, "refused"],
      ["imprint_name", longer, "refused"],
      ["contributors", `${longer} (A01)`, "refused"],
      ["product_collections", longer, "refused"],
    ]
  ) {
    const { body } = await sent(org, app, `id,${column}\n${id},${name}\n`, query);
    const [one] = body.data.outcomes;
    assertEquals(one.outcome, outcome, column);
    const codes = one.messages.map((message: Outcome) => [message.column, message.code]);
    assertEquals(codes, outcome === "refused" ? [[column, "too_long"]] : []);
  }
  assertEquals((await org.get(`/api/publishers?name=${longer}`)).body.meta.total, 0);
});

it("refuses both rows of one product, whichever columns name it", async ({ org, app }) => {
  const { id } = await org.create({ isbn13: ISBNS[0], title: "Stays" });
  const { product_code: code } = (await org.get(`/api/products/${id}`)).body.data;
  const head = "id,product_code,isbn13,isbn10,title";
  const rows = [
    `${id},,,,A`,
    `,${code},,,B`,
    `,,${ISBNS[0]},,C`,
    `,,,0141439580,D`,
  ];

  const { text, body } = await sent(org, app, [head, ...rows].join("\n"));

  assertEquals(
    body.data.outcomes.map((one: Outcome) => [
      one.line,
      one.outcome,
      one.messages[0].code,
      /Line (\d)/.exec(one.messages[0].message)?.[1],
    ]),
    [2, 3, 4, 5].map((line) => [
      line,
      "refused",
      "duplicate",
      line === 2 ? "3" : "2",
    ]),
    text,
  );
  const [product] = (await org.get("/api/products")).body.data;
  assertEquals(product.title, "Stays");
});

it("writes a row over nobody's work, whatever a program makes of its time", async ({ org, app }) => {
  const { id, path, product } = await org.create({ subtitle: "Then" });
  const { body: { data: now } } = await org.put(path, { subtitle: "Now" });
  const later = new Date(Date.parse(now.updated_at) + 1_000).toISOString();
  const cases = [
    [product.updated_at, "stale"],
    [product.updated_at.replace("T", " "), "stale"],
    [product.updated_at.slice(0, 10), "stale"],
    ["46354.5", "invalid_date"],
    ["46354,5", "invalid_date"],
    ["31/12/2026 12:00", "invalid_date"],
    ["12/11/2099 12:00", "invalid_date"],
    [later, undefined],
  ];

  for (const [time, code] of cases) {
    const text = `updated_at;id;subtitle\n${time};${id};Of the sheet\n`;
    const { body: { data } } = await sent(org, app, text);
    const [{ messages }] = data.outcomes;
    assertEquals(messages[0]?.code, code, time);
    const { body } = await org.get(path);
    assertEquals(body.data.subtitle, code ? "Now" : "Of the sheet", time);
  }
});

it("creates names for the rows alone that are written", async ({ org, app }) => {
  const ids: string[] = [];
  for (const isbn13 of [...ISBNS, null]) {
    ids.push((await org.create({ isbn13 })).id);
  }
  const rows = [
    "updated_at,id,publisher_name,contributors,series_id",
    `,${ids[0]},New Press,New Author (A01),`,
    // The database alone knows that there is no such series.
    `,${ids[1]},New House,New Author (A01); New Writer (A01),${ids[1]}`,
    `2001-01-01,${ids[2]},New Stale Press,,`,
  ];

  const { text, body } = await sent(
    org,
    app,
    rows.join("\n"),
    "?create_names=true",
  );

  assertEquals(
    body.data.outcomes.map(({ outcome }: Outcome) => outcome),
    ["updated", "refused", "stale"],
    text,
  );
  for (
    const [path, names] of [
      ["publishers", ["New Press"]],
      ["contributors", ["New Author"]],
    ]
  ) {
    const { data } = (await org.get(`/api/${path}?search=New`)).body;
    assertEquals(data.map(({ name }: { name: string }) => name), names);
  }
});

it("reads large products in groups that bound the memory, and reports on the first", async ({ org, app }) => {
  const types = "02 03 04 05 06 07 08 09 10 11 12 13 14 16 17 18 19 20 21 22".split(" ");
  const collateral = types.map((text_type) => ({
    collateral_type: "text_content",
    text_type,
    text: "Long story. ".repeat(3_900),
  }));
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) ids.push((await org.create({ title: `${i}`, collateral })).id);
  const database = app.database.for({
    deadline: performance.now() + 60_000,
    caller: { organizationId: org.id, name: "test" },
  });
  const replies: number[] = [];
  const queries: Pick<Queries, "lookUp" | "scan"> = {
    lookUp: (statement) => database.lookUp(statement),
    async scan(statement) {
      const rows = await database.scan(statement);
      replies.push(JSON.stringify(rows).length);
      return rows;
    },
  };
  const query = { columns: ["title"], delimiter: "comma", decimal: "point", search: "", q: "" };

  const parts = await exportSheet(() => queries, { ...query, sort: "title" } as SheetQuery);
  const text = (await Array.fromAsync(parts)).join("");

  const titles = Array.from({ length: 12 }, (_, i) => `${i}`).sort();
  assertEquals(text.trim().split("\r\n").slice(1), titles);
  assert(Math.max(...replies) < 9 * 2 ** 20, `${replies}`);

  const head = ["id", ...types.map((type) => `collateral[${type}].text`)];
  const rows = [head, ...ids.map((id) => [id, ...types.map(() => "Short")])];
  const { body: { data } } = await sent(org, app, rows.map((row) => row.join()).join("\n"));
  const { updated, outcomes, more_outcomes } = data;
  assertEquals([updated, outcomes.length, more_outcomes], [12, 4, 8]);
});

it("has a column for each field that a cell can hold", () => {
  for (const place of COLUMN_PLACES.keys()) {
    const name = nameAt(place);
    const column = columnOf(name, ["Shelf"]);
    assertEquals(typeof column === "string" ? column : column.name, name);
  }
  const fields = new Set([...COLUMN_PLACES.values()].map(({ field }) => field));
  const lacking = Object.keys(FIELDS).filter((name) => !fields.has(name));
  assertEquals(lacking, [
    "collections",
    "related_products",
    "related_works",
    "supporting_resources",
    "product_territories",
    "product_sales_rights",
  ]);
  return Promise.resolve();
});
