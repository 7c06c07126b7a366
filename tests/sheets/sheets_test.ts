import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Queries } from "../../db/database.ts";
import { exportSheet } from "../../features/sheets/db/export.ts";
import type { WorkbookQuery } from "../../features/sheets/schema/query.ts";
import { csvWriter, openCsv } from "../../features/sheets/schema/csv.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { isCellOf } from "../../features/sheets/schema/cells.ts";
import { ColumnReader, type SheetColumn } from "../../features/sheets/schema/columns.ts";
import { COLUMN_PLACES } from "../../features/sheets/schema/places.ts";
import { FIELDS } from "../../schema/product.ts";

const it = testsOf("/csv/products");

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
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
  supply_prices: "EUR 02",
  packing_configurations: "pallet",
  collateral: "03",
  custom_fields: "Shelf",
  languages: "01",
};

/** The name of a column at a place. */
function nameAt(place: string): string {
  return place.replace(/^(\w+)\[\]/, (_, array) => `${array}[${KEYS[array] ?? "1"}]`)
    .replace("[]", "[1]");
}

it("comes back unchanged, however a spreadsheet program saves it", async ({ org, app }) => {
  const titles = [
    "007",
    "-30-",
    "@home",
    "=1+1",
    "'=x",
    "\u2063\n=1".slice(1),
    "a;=1;'=2,''+3\t@4",
    "a\n- item\n-1\n@x",
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
      { rows: titles.length, unchanged: titles.length, updated: 0, refused: 0 },
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
    [price, "1.299", "", "invalid_number"],
    [price, "1.299", "?decimal=point", 1.299],
    [price, "0.125", "", 0.125],
    [price, "1.299", "?decimal=comma", 1299],
    [price, "$5.99", "", "invalid_currency"],
    ["page_count", "1.000", "", "invalid_number"],
    ["page_count", "1,234", "", "invalid_number"],
    ["page_count", "1.000", "?decimal=comma", 1000],
    ["page_count", "48.0", "", 48],
    ["page_count", "48.5", "", "out_of_range"],
    [price, "XXX", "", "invalid_amount"],
    ["publication_date", "31.01.2027", "?dates=dmy", "2027-01-31"],
    ["publication_date", "1/31/2027", "?dates=mdy", "2027-01-31"],
    ["publication_date", "46053", "", "invalid_date"],
    ["publication_date", "30-Jun-2010", "", "2010-06-30"],
    ["publication_date", "1 July 2010", "", "2010-07-01"],
    ["publication_date", "July 4, 2010", "", "2010-07-04"],
    ["publication_date", "2010/06/30", "", "2010-06-30"],
    ["publication_date", "20100701", "", "2010-07-01"],
    ["publication_date", "2026-11-29 00:00:00", "", "2026-11-29"],
    ["publication_date", "2026-11-29 13:45:00", "", "invalid_date"],
    ["publication_date", "30-Jun-10", "", "invalid_date"],
    ["publication_date", "31-Feb-2010", "", "invalid_date"],
    ["publication_date", "5/6/2026", "", "invalid_date"],
    ["publication_date", "2026-02-30", "", "invalid_date"],
    ["title", "'=1", "", "=1"],
    ["title", "NaN", "", "NaN"],
    ["title", "#N/A", "", "error_cell"],
    ["title", "#1 of all", "", "#1 of all"],
    ["title", "", "?empty=clear", "required"],
    ["page_count", "#too_long", "", 48],
    ["publisher_name", "Nobody", "", "unknown_reference"],
    ["publishing_status_code", "4x", "", "invalid_code"],
    ["publishing_status_code", "4", "", "04"],
    ["publishing_status_code", "2.0", "", "02"],
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

it("takes for no change what LibreOffice makes of a text or a number", async ({ org, app }) => {
  const numbers: [stored: string, saved: string[]][] = [
    ["04", ["4"]],
    ["1,234", ["1234", "1.234", "1,234"]],
    ["100.000", ["100000", "100"]],
    ["1,000,000.5", ["1000000.5", "1000000,5"]],
    ["1.000,50", ["1000.5", "1000,5"]],
    // The text of a workbook that is saved as CSV has no apostrophe more.
    ["'=x", ["''=x", "'=x"]],
    ["9999999999999999", ["10000000000000000", "1E+16"]],
  ];
  for (const [title, saved] of numbers) {
    const { id, path } = await org.create({ title });
    for (const cell of saved) {
      const { body } = await sent(org, app, `id;title\n${id};${cell}\n`);
      assertEquals(body.data.unchanged, 1, `${title} ${cell}`);
    }
    // Another number is a change.
    const grouped = await sent(org, app, `id;title\n${id};4,000\n`);
    assertEquals(grouped.body.data.updated, 1, title);
    await sent(org, app, `id;title\n${id};100001\n`);
    assertEquals((await org.get(path)).body.data.title, "100001");
  }
  const prices = [
    { currency_code: "EUR", retail_price: "999999999999.9999", is_default: true },
    { currency_code: "GBP", retail_price: 1.299, is_default: false },
  ];
  const { id, path } = await org.create({ product_prices: prices });
  const columns = "product_prices[EUR].retail_price;product_prices[EUR].is_default;" +
    "product_prices[GBP].is_default;product_prices[GBP].retail_price";
  for (const [yes, no] of [["WAHR", "FALSCH"], ["VRAI", "FAUX"], ["Sí", "No"]]) {
    const row = `${id};1000000000000;${yes};${no};`;
    const { text, body } = await sent(org, app, `id;${columns}\n${row}1,299\n`);
    assertEquals(body.data.unchanged, 1, text);
    const changed = await sent(org, app, `id;${columns}\n${row}1299\n`);
    assertEquals(changed.body.data.updated, 1, changed.text);
    assertMatch((await org.get(path)).text, /"retail_price":999999999999.9999,/);
    await sent(org, app, `id;${columns}\n${row}1,299\n`, "?decimal=comma");
  }
  const bytes = (await org.get("/api/xlsx/products?columns=id,product_prices[EUR].retail_price"))
    .bytes;
  const { body } = await app.send("/api/xlsx/products", {
    method: "POST",
    headers: { "x-api-key": org.key, "content-type": XLSX },
    body: bytes,
  });
  assertEquals([body.data.rows, body.data.unchanged], [8, 8]);
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
    ["isbn13,product_prices[XXQ].retail_price\n1,2\n", 1, "unknown_column"],
    ["isbn13,product_prices[GBP 2027-02-30].retail_price\n1,2\n", 1, "unknown_column"],
    ["isbn13,product_prices[GBP 2027-02-01 2027-02-28].retail_price\n1,2\n", 1, "unknown_column"],
    ["isbn13,packing_configurations[barrel].quantity\n1,2\n", 1, "unknown_column"],
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

it("takes a file with other headers, or none, by the names in the request", async ({ org, app }) => {
  const { path } = await org.create({ isbn13: ISBNS[0] });
  await org.create({ isbn13: ISBNS[1] });
  const columns = "?columns=isbn13,title,%23,product_prices[EUR].retail_price";
  const other = `EAN,Titel,Notiz,Preis\n${ISBNS[0]},Neu,x,9.99\n`;
  const bare = `${ISBNS[0]},Eins,,many\n${ISBNS[1]},Zwei,,1\n`;

  const named = await sent(org, app, other, columns);
  const { data } = (await org.get(path)).body;
  const absent = await sent(org, app, bare, `${columns}&header=absent`);
  const again = await sent(org, app, bare, `${columns}&header=absent`, { accept: "text/csv" });
  const mended = await sent(org, app, again.text.replace("many", "5"));

  assertEquals([named.body.data.updated, named.body.data.outcomes[0].line], [1, 2], named.text);
  assertEquals([data.title, data.product_prices[0].retail_price], ["Neu", 9.99]);
  assertEquals([absent.body.data.updated, absent.body.data.refused], [1, 1], absent.text);
  assertEquals(absent.body.data.outcomes[0].line, 1);
  assertMatch(again.text, /^error,isbn13,title,#,product_prices\[EUR\].retail_price\r\n/);
  assertEquals(mended.body.data.updated, 1, mended.text);
  for (
    const [query, code] of [
      ["?columns=isbn13,title", "wrong_length"],
      ["?columns=isbn13,titel,%23,%23", "unknown_column"],
      ["?columns=", "required"],
      ["?header=absent", "required"],
      ["?header=perhaps", "invalid_value"],
    ]
  ) {
    const { status, text, body: { error } } = await sent(org, app, other, query);
    assertEquals([status, error.details[0].code], [400, code], `${query}: ${text}`);
  }
});

it("leads each header that people write to a column that the sheet may have", async ({ org, app }) => {
  await org.post("/api/custom-fields", { name: "Shelf" });
  const hintFor = async (names: string) => {
    const { body } = await sent(org, app, `isbn13,${names}\n`, "?dry_run=true");
    const { message } = body.error?.details[0] ?? { message: "" };
    return /did you mean (.+)\?$/.exec(message)?.[1];
  };
  const words =
    "languages collateral product_prices product_identifiers measures audiences extents packing_configurations custom_fields publishing_dates contributors[1].name contributors[1].role measures[01].weight Language Price RRP Description SKU Weight BISAC Publisher Imprint Format Binding Status Series Availability Cover Author Pages Season"
      .split(" ");
  for (const word of words) {
    const hint = await hintFor(word);
    assert(hint && !hint.endsWith("_id"), `${word}: ${hint}`);
    const { status, text } = await sent(org, app, `isbn13,${hint}\n`, "?dry_run=true");
    assertEquals(status, 200, `${word}: ${text}`);
  }
  assertEquals(await hintFor("GBP Price"), "product_prices[GBP].retail_price");
  assertEquals(await hintFor("EUR"), "product_prices[EUR].retail_price");
  assertEquals(await hintFor("Language"), "languages[01].language_code");
  assertEquals(await hintFor("subjects[2]"), "subjects[2].subject_code");
  assertEquals(await hintFor("contributors[1].role"), "contributors[1].contributor_role_code");
  // The sheet has that column, or the array of it.
  assertEquals(await hintFor("Publisher,publisher_name"), undefined);
  assertEquals(await hintFor("contributors[1].name,contributors"), undefined);
});

it("names the column that a cell lacks beside it", async ({ org, app }) => {
  const { id } = await org.create();
  const columns =
    "measures[1].measure_type,measures[1].measurement,contributors[2].contributor_name";
  const { body } = await sent(org, app, `id,${columns}\n${id},01,0.308,Nobody\n`);
  const messages = body.data.outcomes[0].messages.map(({ message }: Outcome) => message);
  assert(
    messages.some((one: string) => one.endsWith("add the column measures[1].measure_unit_code")),
    `${messages}`,
  );
});

it("finds and creates people as lists write their names, and shows the names that it used", async ({ org, app }) => {
  const { body: { data: { id: ines } } } = await org.post("/api/contributors", {
    name: "Ines Tarnow",
  });
  await org.post("/api/contributors", { name: "Quay, Mara" });
  const { id, path } = await org.create();
  const row = async (column: string, cell: string, query = "") => {
    const text = `id,${column}\n${id},"${cell}"\n`;
    const { body } = await sent(org, app, text, query);
    const { contributors } = (await org.get(path)).body.data;
    return { report: body.data, people: contributors?.map((one: Outcome) => one.contributor_name) };
  };
  const cell =
    "Kestrel, Olaf, Jr. (A01); Tarnow, Ines (B06); Smith, Elder & Co. (B01); Quay, Mara (A12)";

  const { report, people } = await row("contributors", cell, "?create_names=true");
  const again = await row("contributors", cell, "?create_names=true");
  const first = await row("contributors[1].contributor_name", "Tarnow, Ines, 1970-");

  assertEquals(people, ["Olaf Kestrel, Jr.", "Ines Tarnow", "Smith, Elder & Co.", "Quay, Mara"]);
  assertMatch(report.outcomes[0].changes[0].to, /^Olaf Kestrel, Jr\. \(A01\); Ines Tarnow/);
  assertEquals([again.report.unchanged, again.report.updated], [1, 0]);
  assertEquals(first.report.outcomes[0].changes[0].to, "Ines Tarnow");
  const { data } = (await org.get(path)).body;
  assertEquals(data.contributors[0].contributor_id, ines);
});

it("finds a name whatever invisible marks it has", async ({ org, app }) => {
  const { body: { data: { id: gull } } } = await org.post("/api/publishers", {
    name: "Gull House",
  });
  const { body: { data: { id: marked } } } = await org.post("/api/imprints", {
    name: "Ebb\u200b Tide",
  });
  const { id, path } = await org.create();
  const name = "Gu\u200bll\u00ad House\u200f";

  await sent(org, app, `id,publisher_name,imprint_name\n${id},${name},Ebb Tide\n`);
  const { data } = (await org.get(path)).body;
  const json = await org.put(path, { publisher_name: `\ufeff${name}` });
  const listed = await org.get(`/api/publishers?name=${encodeURIComponent(name)}`);

  assertEquals([data.publisher_id, data.imprint_id], [gull, marked]);
  assertEquals(json.body.data?.publisher_id, gull, json.text);
  assertEquals(listed.body.data.map((one: Outcome) => one.id), [gull]);
  await org.post("/api/publishers", { name });
  const { body: { error } } = await org.put(path, { publisher_name: "Gull House" });
  assertEquals(error.details[0].code, "ambiguous");
});

it("keeps of a changed subject what its cell cannot show, and reports what is lost", async ({ org, app }) => {
  const thema = { subject_scheme_identifier: "93", subject_scheme_version: "1.6" };
  const { id, path } = await org.create({
    subjects: [
      { ...thema, subject_code: "FBA", subject_heading_text: "Modern fiction", main_subject: true },
      { subject_scheme_identifier: "10", subject_code: "FIC000000" },
      { ...thema, subject_code: "FV" },
    ],
  });
  const row = async (cell: string) => {
    const { body } = await sent(org, app, `id,subjects\n${id},${cell}\n`);
    const { subjects } = (await org.get(path)).body.data;
    return {
      changes: body.data.outcomes[0].changes,
      subjects: subjects.map((one: Outcome) => [
        one.subject_code,
        one.subject_scheme_version,
        one.main_subject,
        one.subject_heading_text,
      ]),
    };
  };

  const changed = await row("93:FBC; 10:FIC000000; 93:FV");
  assertEquals(changed.subjects[0], ["FBC", "1.6", true, null]);
  assertEquals(changed.changes[1], {
    column: "subjects[1].subject_heading_text",
    from: "Modern fiction",
    to: null,
  });
  // The equal one keeps its own: the other takes the place that is left.
  const moved = await row("93:FXX; 93:FBC");
  assertEquals(moved.subjects, [["FXX", "1.6", false, null], ["FBC", "1.6", true, null]]);
});

it("warns of blanks that a cell stores, and of none that are there", async ({ org, app }) => {
  await org.create({ isbn13: ISBNS[0], title: " Old " });
  const codesOf = async (title: string) => {
    const { body } = await sent(org, app, `isbn13,title\n${ISBNS[0]},${title}\n`);
    return body.data.outcomes.flatMap((one: Outcome) =>
      one.messages.map(({ code }: Outcome) => code)
    );
  };
  assertEquals(await codesOf(" Old "), []);
  assertEquals(await codesOf("New "), ["blanks"]);
  assertEquals(await codesOf("New"), []);
});

it("writes each custom value as it is, and keeps its type", async ({ org, app }) => {
  const { body: { data: { id: field_id } } } = await org.post("/api/custom-fields", {
    name: "Shelf",
  });
  const cases: [before: unknown, cell: string, typed: string, after: unknown][] = [
    [-12.5, "-12.5", "-13.25", -13.25],
    [12.5, "12.5", "many", "many"],
    [true, "true", "no", false],
    ["-12.5", "'-12.5", "-13", "-13"],
  ];
  for (const [field_value, cell, typed, after] of cases) {
    const { id, path } = await org.create({ custom_fields: [{ field_id, field_value }] });
    const text = await sheet(org, "?columns=id,custom_fields[Shelf].field_value");
    assertMatch(text, new RegExp(`${id},${cell}\r\n`), `${field_value}`);

    await sent(org, app, `id,custom_fields[Shelf].field_value\n${id},${typed}\n`);

    const { data } = (await org.get(path)).body;
    assertEquals(data.custom_fields[0].field_value, after);
  }
});

it("has a column for each custom field, whatever its name", async ({ org, app }) => {
  const names = [
    " Shelf ",
    "\u00a0Shelf",
    "shelf",
    "\ufeffCase",
    "\u200bmark",
    "a]b",
    "a].field_value",
  ]
    .concat("Two\nlines", "Two\r\nways\r", "a,b;=c", "\tTab", "'=x", "#", '"q"', "x ");
  const custom_fields = [];
  for (const name of names) {
    const { body } = await org.post("/api/custom-fields", { name });
    custom_fields.push({ field_id: body.data.id, field_value: name });
  }
  await org.create({ custom_fields });
  const { bytes, status } = await org.get("/api/xlsx/products");
  assertEquals(status, 200);

  const csv = await sent(org, app, await sheet(org), "?empty=clear");
  const workbook = await app.send("/api/xlsx/products?empty=clear", {
    method: "POST",
    headers: { "x-api-key": org.key, "content-type": XLSX },
    body: bytes,
  });

  for (const { text, body } of [csv, workbook]) assertEquals(body.data?.unchanged, 1, text);
  const typed = await sent(org, app, "isbn13,custom_fields[x].field_value\n");
  assertEquals(typed.status, 200, typed.text);
});

it("keeps a custom number of any size, which workbooks have as they do", async ({ org, app }) => {
  const numbers = [1e-7, -2.5e-10, 1.23456789012345e-9, 5e-324, 1e21, 1.5e300, 0.1 + 0.2, -0.5];
  const { body } = await org.post("/api/custom-fields", { name: "Shelf" });
  const { id: field_id } = body.data;
  for (const field_value of numbers) {
    await org.create({ custom_fields: [{ field_id, field_value }] });
  }

  const { bytes } = await org.get("/api/xlsx/products");
  const back = await app.send("/api/xlsx/products", {
    method: "POST",
    headers: { "x-api-key": org.key, "content-type": XLSX },
    body: bytes,
  });

  assertEquals(back.body.data.unchanged, numbers.length, back.text);
  for (const shown of ["0.0000001", "1E-07", "1E-7", "0,0000001"]) {
    const [column, value] = [{ kind: "text", inner: "field_value" } as SheetColumn, 1e-7];
    assert(isCellOf(value, shown, column), shown);
  }
});

it("reads the percents of a rate, and of nothing else", async ({ org, app }) => {
  const { path } = await org.create({
    isbn13: ISBNS[0],
    product_prices: [{ currency_code: "EUR", retail_price: 9 }],
  });
  const columns = "isbn13;product_prices[EUR].tax_rate;product_prices[EUR].retail_price";
  for (const [rate, stored] of [["7%", 7], ["19,6 %", 19.6], ["5", 5]]) {
    await sent(org, app, `${columns}\n${ISBNS[0]};${rate};\n`);
    const { data } = (await org.get(path)).body;
    assertEquals(data.product_prices[0].tax_rate, stored);
  }
  const { body, text } = await sent(org, app, `${columns}\n${ISBNS[0]};;7%\n`);
  assertEquals(body.data.outcomes[0].messages[0].code, "invalid_amount", text);
});

it("has no column for a currency that SQL has written and no list has", async ({ org, app }) => {
  await org.create({ product_prices: [{ currency_code: "EUR", retail_price: 9 }] });
  const { id } = await org.create({ product_prices: [{ currency_code: "GBP", retail_price: 9 }] });
  await app.sql`update product_prices set currency_code = 'ZZZ' where product_id = ${id}`;
  const [header = ""] = (await sheet(org)).split("\r\n");
  assertEquals(header.match(/product_prices[^,]*/g), ["product_prices[EUR].retail_price"]);
  const { status } = await org.get("/api/csv/products?columns=product_prices[ZZZ].retail_price");
  assertEquals(status, 400);
});

it("has the longest text that a cell can hold, and no longer one", async ({ org }) => {
  for (const [text, isHeld] of [["x".repeat(32_767), true], ["x".repeat(32_768), false]] as const) {
    const collateral = [{ collateral_type: "text_content", text_type: "03", text }];
    const { id } = await org.create({ collateral });
    const rows = (await sheet(org, "?columns=id,collateral[03].text")).split("\r\n");
    const row = rows.find((row) => row.startsWith(id));
    assertEquals(row, `${id},${isHeld ? text : "#too_long"}`);
  }
});

it("shows the prices in use, with tax and without it", async ({ org }) => {
  const prices: Record<string, Record<string, number>> = {
    EUR: { retail_price_inc_tax: 12 },
    GBP: { retail_price: 9, retail_price_inc_tax: 10 },
    USD: { list_price: 8 },
  };
  for (const [currency_code, price] of Object.entries(prices)) {
    await org.create({ product_prices: [{ currency_code, ...price }] });
  }
  const [header = ""] = (await sheet(org)).split("\r\n");
  assertEquals(header.split(",").filter((name) => name.startsWith("product_prices")), [
    "product_prices[EUR].retail_price_inc_tax",
    "product_prices[GBP].retail_price",
    "product_prices[GBP].retail_price_inc_tax",
    "product_prices[USD].retail_price",
  ]);
});

it("tells no one to send create_names=true who has sent it", async ({ org, app }) => {
  const { id } = await org.create();
  const text = `id,publisher_name,publication_date\n${id},New House,46053\n`;
  const { body } = await sent(org, app, text, "?create_names=true");
  const codes = body.data.outcomes[0].messages.map(({ code }: Outcome) => code);
  assertEquals(codes, ["invalid_date"]);

  const people = `id,contributors\n${id},Nobody Here\n`;
  const { body: second } = await sent(org, app, people, "?create_names=true");
  const [{ code, message }, ...others] = second.data.outcomes[0].messages;
  assertEquals([code, others], ["required", []]);
  assertMatch(message, /^The role is missing: .*such as Nobody Here \(A01\)$/);
  for (const [cell, remedy] of [["FBC", "such as 93:FBC"], ["10:", "such as 10:FBA"]]) {
    const { text } = await sent(org, app, `id,subjects\n${id},${cell}\n`);
    assert(text.includes(remedy!), text);
  }
});

it("changes a record by its name, where the product has its code and id", async ({ org, app }) => {
  const contributors = [{ contributor_id: org.contributor, contributor_role_code: "A01" }];
  const { id, path } = await org.create({ contributors, publishing_status_code: "04" });
  const columns = "contributors[1].contributor_role_name,publishing_status_name";

  const { text } = await sent(org, app, `id,${columns}\n${id},Translated by,Cancelled\n`);

  const { data } = (await org.get(path)).body;
  const { contributor_role_code, contributor_id } = data.contributors[0];
  assertEquals(
    [contributor_role_code, contributor_id, data.publishing_status_code],
    ["B06", org.contributor, "01"],
    text,
  );
});

it("keeps one person with two roles, and takes the whole list away", async ({ org, app }) => {
  const contributors = ["A01", "A12"].map((contributor_role_code) => ({
    contributor_id: org.contributor,
    contributor_role_code,
  }));
  const { id, path } = await org.create({ contributors });
  const rolesOf = async (cell: string, query = "") => {
    const { text } = await sent(org, app, `id,contributors\n${id},${cell}\n`, query);
    const { data } = (await org.get(path)).body;
    return data.contributors?.map((one: Outcome) => one.contributor_role_code) ?? text;
  };
  const { data } = (await org.get(path)).body;
  const name = data.contributors[0].contributor_name;

  assertEquals(await rolesOf(`${name} (A12); ${name} (A01)`), ["A12", "A01"]);
  assertEquals(await rolesOf(`${name}; ${name} (B06)`), ["A12", "B06"]);
  assertEquals(await rolesOf(""), ["A12", "B06"]);
  assertEquals(await rolesOf("", "?empty=clear"), []);
});

it("is unchanged, not stale, where an old row would change nothing", async ({ org, app }) => {
  const { id } = await org.create({ title: "Same" });
  const text = `updated_at,id,title\n2001-01-01,${id},Same\n`;
  const { body: { data } } = await sent(org, app, text);
  assertEquals([data.unchanged, data.stale], [1, 0]);
});

it("reads the id of a record before its code, and that before its name", async ({ org, app }) => {
  const status = idOfCode("64", "04");
  const header = "publishing_status_name,publishing_status_code,publishing_status_id";
  const { id, path } = await org.create();

  const { body } = await sent(org, app, `id,${header}\n${id},Cancelled,02,${status}\n`);

  assertEquals(body.data.ignored_columns, ["publishing_status_code", "publishing_status_name"]);
  assertEquals((await org.get(path)).body.data.publishing_status_code, "04");
});

it("reads the same rows, wherever the bytes are cut", async () => {
  const bytes = new TextEncoder().encode('\ufeffid;"a;b"\r\n1;"x\r\ny"\r2;é\r\n');
  const rows = [["id", "a;b"], ["1", "x\ny"], ["2", "é"]];
  for (let cut = 0; cut <= bytes.length; cut++) {
    const source = () => [bytes.subarray(0, cut), bytes.subarray(cut)];
    const file = await openCsv(source, undefined);
    const read = await Array.fromAsync(file.rows());
    assertEquals(read.map(({ cells }) => cells), rows, `cut at ${cut}`);
  }
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
  const query = { columns: ["title"], search: "", q: "", sort: "title" } as WorkbookQuery;

  const csv = csvWriter({ delimiter: ",", decimal: "point" });
  const parts = await exportSheet(
    () => Promise.resolve(queries),
    query,
    csv,
    () => Promise.resolve(),
  );
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

it("clears what says something of a former author, and reports it", async ({ org, app }) => {
  const { product, path } = await org.create({
    collateral: [{
      collateral_type: "text_content",
      text_type: "06",
      text: "Fine",
      text_author: "Jane Roe",
      text_source_corporate: "Paper Ltd",
      text_source_description: "Critic",
      source_title: "The Paper",
    }],
  });
  const names = ["text_author", "text_source_corporate", "text_source_description"];
  const columns = ["id", ...names.map((name) => `collateral[06].${name}`)].join();

  const { body: { data: { outcomes } } } = await sent(
    org,
    app,
    `${columns}\n${product.id},John Doe,Paper Ltd,Critic\n`,
  );

  assertEquals(outcomes[0].changes, [
    { column: "collateral[06].text_author", from: "Jane Roe", to: "John Doe" },
    { column: "collateral[06].text_source_description", from: "Critic", to: null },
  ]);
  const { body: { data: { collateral: [text] } } } = await org.get(path);
  assertEquals(
    [...names, "source_title"].map((name) => text[name]),
    ["John Doe", "Paper Ltd", null, "The Paper"],
  );
});

it("has the features of the form and their descriptions by position", async ({ org, app }) => {
  const { product: { id }, path } = await org.create({
    product_form_features: [
      {
        product_form_feature_type: "09",
        product_form_feature_value: "14",
        product_form_feature_descriptions: ["All images; and maps", "Alle Bilder", "Images"],
      },
      { product_form_feature_type: "03", product_form_feature_value: "Caslon" },
    ],
  });
  const type = (i: number) => `product_form_features[${i}].product_form_feature_type`;
  const value = (i: number) => `product_form_features[${i}].product_form_feature_value`;
  const description = (i: number, j: number) =>
    `product_form_features[${i}].product_form_feature_descriptions[${j}]`;
  const rowOf = (columns: string[], cells: string[]) =>
    `id,${columns.join()}\n${id},${cells.map((cell) => `"${cell}"`).join()}\n`;
  const features = async () =>
    (await org.get(path)).body.data.product_form_features.map(Object.values);
  const columns = [description(1, 1), description(1, 2), description(2, 1)];

  const exported = await sheet(org, `?columns=${encodeURIComponent(["id", ...columns].join())}`);
  assert(exported.includes(',"All images; and maps",Alle Bilder,'), exported);
  const { body: { data: unchanged } } = await sent(org, app, exported);
  assertEquals(unchanged.unchanged, unchanged.rows);

  const { status, text, body } = await sent(
    org,
    app,
    rowOf(
      [value(1), description(1, 1), description(1, 2), type(3), description(3, 2)],
      ["15", "All maps", "", "07", "12 MB"],
    ),
    "?empty=clear",
  );
  assertEquals(status, 200, text);
  assertEquals(
    body.data.outcomes[0].changes.map(({ column, from, to }: Record<string, unknown>) => [
      column,
      from,
      to,
    ]),
    [
      [value(1), "14", "15"],
      [description(1, 1), "All images; and maps", "All maps"],
      [description(1, 2), "Alle Bilder", null],
      [type(3), null, "07"],
      [description(3, 2), null, "12 MB"],
    ],
  );
  assertEquals(await features(), [
    ["09", "15", ["All maps", "Images"]],
    ["03", "Caslon", []],
    ["07", null, ["12 MB"]],
  ]);

  // The last description of a feature without a value takes the feature with it, if its type goes.
  await sent(org, app, rowOf([type(3), description(3, 1)], ["", ""]), "?empty=clear");
  assertEquals((await features()).length, 2);

  const wrong = await sent(org, app, rowOf([description(1, 1)], ["x".repeat(2001)]));
  const [{ outcome, messages: [message] }] = wrong.body.data.outcomes;
  assertEquals([outcome, message.code, message.column], ["refused", "too_long", columns[0]]);
  for (
    const name of ["product_form_features[1].product_form_feature_descriptions", description(0, 1)]
  ) {
    const { body: { error: { details: [{ code, message }] } } } = await sent(
      org,
      app,
      rowOf([name], [""]),
    );
    assertEquals(code, "unknown_column");
    if (!name.endsWith("]")) assert(message.endsWith(`did you mean ${columns[0]}?`), message);
  }
});

it("has a column for each field that a cell can hold", () => {
  for (const place of COLUMN_PLACES.keys()) {
    const name = nameAt(place);
    const column = new ColumnReader(["Shelf"]).find(name);
    assertEquals(column?.name, name);
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
