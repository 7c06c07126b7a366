import { assertEquals } from "@std/assert";
import { ParseQueue } from "../../middleware/parse_queue.ts";
import { ApiError } from "../../schema/errors.ts";
import { codesIn } from "../../schema/onix_codes.ts";
import { decimalOf, isCellOf, readCell } from "../../features/sheets/schema/cells.ts";
import { ColumnReader } from "../../features/sheets/schema/columns.ts";
import { cellChanges, convertRow } from "../../features/sheets/schema/convert_row.ts";
import { headerOf } from "../../features/sheets/schema/header.ts";
import { readList } from "../../features/sheets/schema/lists.ts";
import { columnNames } from "../../features/sheets/schema/query.ts";
import { openCsv } from "../../features/sheets/schema/csv.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";
import { assertStretches } from "../support/app/stretches.ts";

/* No input of a sheet makes other requests wait. */

const KIB = 1024;

/** Header lines of 512 KiB. */
const HEADERS = ["[", '"', '""', '"[', "[]", "[,", '["]', "a,", "];"];

for (const part of HEADERS) {
  Deno.test(`The delimiter of a header of ${JSON.stringify(part)} takes no time`, async () => {
    const bytes = [new TextEncoder().encode(part.repeat(512 * KIB / part.length))];
    await assertStretches(part, () => openCsv(() => bytes, undefined));
  });
}

/** Queries of 64 KiB. */
const LISTS: [name: string, list: string][] = [
  ["open brackets", "[".repeat(64 * KIB)],
  ["open brackets with commas", "[,".repeat(32 * KIB)],
  ["brackets that never end", "[".repeat(15_000) + "].aaaaaaaaaaaaaa!".repeat(2_900)],
  ["brackets that end at once", "[],".repeat(21_000)],
  ["blanks", "[a]" + " ".repeat(64_000)],
  ["ends with blanks", "] ".repeat(32_000) + "!"],
];

for (const [name, list] of LISTS) {
  Deno.test(`A list of columns of ${name} takes no time`, async () => {
    await assertStretches(name, () => columnNames(list));
  });
}

Deno.test("A list of columns is divided at commas outside brackets", () => {
  const lists: [list: string, names: string[]][] = [
    ["isbn13, title ,", ["isbn13", "title"]],
    ["custom_fields[a, b].field_value,title", ["custom_fields[a, b].field_value", "title"]],
    ["custom_fields[a], b].field_value", ["custom_fields[a]", "b].field_value"]],
    ["custom_fields[a[1]].field_value,title", ["custom_fields[a[1]].field_value", "title"]],
    ["subjects[1],title", ["subjects[1]", "title"]],
    ["x[1] ,y", ["x[1]", "y"]],
    ["title[,isbn13", ["title[", "isbn13"]],
    ["", []],
    [",,", []],
  ];
  for (const [list, names] of lists) assertEquals(columnNames(list), names);
});

/** The texts that take regular expressions of cells longest, for columns of each kind. */
const TEXTS: [what: string, text: string][] = [
  ["digits", "1".repeat(32_000) + "x"],
  ["points", "1.".repeat(16_000)],
  ["thousands", "1" + ",111".repeat(8_000) + "x"],
  ["blanks", "1" + " ".repeat(32_000) + "1"],
  ["apostrophes", "'".repeat(32_000)],
  ["zeros", ".0".repeat(16_000) + "x"],
  ["roles", "(A01) ".repeat(5_000) + "x"],
  ["numbers of parts", "x #".repeat(10_000) + " "],
  ["schemes", "93:".repeat(10_000)],
  ["quotes", '="'.repeat(16_000)],
];
const COLUMNS = ["title", "isbn13", "page_count", "publication_date", "publishing_status_code"]
  .concat("product_prices[GBP].retail_price", "custom_fields[Shelf].field_value")
  .concat("product_prices[GBP].is_default", "contributors", "product_collections", "subjects");

for (const [what, text] of TEXTS) {
  Deno.test(`A cell of ${what} takes no time`, async () => {
    for (const name of COLUMNS) {
      const column = new ColumnReader(["Shelf"]).find(name);
      if (!column) continue;
      const stored = column.kind === "list" ? [] : text;
      await assertStretches(`${name} of ${what}`, () => {
        isCellOf(stored, "x", column);
        isCellOf(null, text, column);
        decimalOf(text);
        readCell(text, column, { dates: "dmy" }, stored);
      }, 20);
    }
  });
}

const FIELDS = Array.from(
  { length: 20_000 },
  (_, i) => `a field of ours and more ${String(i).padStart(6, "0")}`,
);

const CALLER = { organizationId: "an organization", name: "a key" };

/** Headers of a thousand columns, each of which is a name that nobody has, or that exists. */
const WIDE: [what: string, name: (i: number) => string, fields?: string[]][] = [
  ["custom fields that exist", (i) => `custom_fields[${FIELDS[i]}].field_value`],
  [
    "custom fields in other letters",
    (i) => `custom_fields[${FIELDS[i]!.toUpperCase()}].field_value`,
  ],
  [
    "misspelt custom fields",
    (i) => `custom_fields[a f1eld of 0urs and more ${i}9].field_value`,
    // With more custom fields, none is compared.
    FIELDS.slice(0, 5_000),
  ],
  ["misspelt fields", (i) => `publishing_status_c0de${i}`],
  ["misspelt fields of entries", (i) => `subjects[${i}].subject_c0de`],
  ["wrong keys", (i) => `product_prices[Euro${i}].retail_price`],
  ["dates of prices", (i) => `product_prices[GBP ${dayOf(i)}].retail_price`],
];

function dayOf(i: number): string {
  return new Date(Date.UTC(2020, 0, 1 + i)).toISOString().slice(0, 10);
}

for (const [what, name, fields = FIELDS] of WIDE) {
  Deno.test(`A header of ${what} takes no time`, async () => {
    const cells = ["id", ...Array.from({ length: 999 }, (_, i) => name(i))];
    const row = { index: 0, line: 1, count: 1, cells };
    await assertStretches(what, async () => {
      const pace = new ParseQueue().pacer(CALLER);
      await headerOf(row, { header: "present" }, fields, pace).catch((error) => {
        if (!(error instanceof ApiError)) throw error;
      });
    });
  });
}

Deno.test("A row of a thousand cells of a product with 500 prices takes no time", async () => {
  const product_prices = Array.from({ length: 500 }, (_, i) => ({
    currency_code: "GBP",
    retail_price: i,
    list_price: null,
    valid_from: dayOf(i),
  }));
  const names = Array.from(
    { length: 999 },
    (_, i) => `product_prices[GBP ${dayOf(i % 500)}].${i < 500 ? "retail_price" : "list_price"}`,
  );
  const row = { index: 0, line: 1, count: 1, cells: ["id", ...names] };
  const pace = new ParseQueue().pacer(CALLER);
  const { columns } = await headerOf(row, { header: "present" }, [], pace);
  const cells = new Map([...columns.values()].map((column) => [column, "7.5"]));
  const form = { dates: "ymd", empty: "keep" } as const;
  await assertStretches("a row", () => {
    const product = { product_prices };
    const converted = convertRow(product, cells, form);
    assertEquals(cellChanges(converted, converted.body).length, 999);
  });
});

/** Prices of suppliers: how many in each of 40 supplies, and how many markets these have. */
const SUPPLIES: [what: string, prices: number, markets: number][] = [
  ["one for each country", 6, 1],
  ["20,000", 490, 1],
  ["some with many markets", 1, 499],
];

for (const [what, count, marketCount] of SUPPLIES) {
  Deno.test(`A row with a supply price of each country takes no time: ${what}`, async () => {
    const countries = codesIn(91);
    const inCountry = (i: number) => ({
      territory: { countries_included: [countries[i % countries.length]] },
    });
    const price = { currency_code: "GBP", price_type: "02", price_amount: 5, valid_to: null };
    const pricesFrom = (first: number) =>
      Array.from({ length: count }, (_, i) => ({ ...price, ...inCountry(first + i) }));
    const markets = marketCount === 1
      ? [{ territory: { regions_included: ["WORLD"] } }]
      : Array.from({ length: marketCount }, (_, i) => inCountry(i));
    const product_territories = Array.from({ length: 40 }, (_, i) => ({
      markets,
      supply_details: [{ prices: pricesFrom(i * count) }],
    }));
    const names = countries.map((code) => `supply_prices[GBP 02 ${code}].price_amount`);
    const row = { index: 0, line: 1, count: 1, cells: ["id", ...names] };
    const pace = new ParseQueue().pacer(CALLER);
    const { columns } = await headerOf(row, { header: "present" }, [], pace);
    const cells = new Map([...columns.values()].map((column) => [column, "7.5"]));
    await assertStretches(what, () => {
      convertRow({ product_territories }, cells, { dates: "ymd", empty: "keep" });
    });
  });
}

/** The entries of a product, and a cell with others. */
const LISTS_IN_CELLS: [
  what: string,
  field: string,
  entry: (i: number) => object,
  cell: (i: number) => string,
][] = [
  ["other names", "contributors", (i) => contributor("Somebody With A Name", i), (i) => `x${i}`],
  ["the same name", "contributors", (i) => contributor("A", i), () => "A"],
  ["names with semicolons", "contributors", (i) => contributor(";".repeat(490) + i, i), () => ""],
  ["many semicolons", "contributors", (i) => contributor(";".repeat(i) + "a", i), () => ""],
  [
    "collections",
    "product_collections",
    (i) => ({ collection_name: `A ${i}`, part_number: null }),
    (i) => `A ${i} #2`,
  ],
  [
    "subjects",
    "subjects",
    (i) => ({ subject_scheme_identifier: "93", subject_code: `A${i}` }),
    (i) => `93:B${i}`,
  ],
];

function contributor(name: string, i: number): object {
  const id = `${i}`;
  return { contributor_id: id, contributor_name: name, contributor_role_code: "A01" };
}

for (const [what, field, entry, cell] of LISTS_IN_CELLS) {
  Deno.test(`A cell of 100,000 entries takes no time: ${what}`, async () => {
    const stored = Array.from({ length: 500 }, (_, i) => entry(i)) as Record<string, unknown>[];
    const text = Array.from({ length: 100_000 }, (_, i) => cell(i)).join(";").slice(0, 500_000);
    await assertStretches(what, () => readList(field, text, stored));
  });
}

/** Sheets whose parts are short and many: rows that are blank, equal, refused, or of one column. */
const SHEETS: [what: string, head: string, row: string, rows: number][] = [
  ["rows of blanks", "isbn13,title\n", `${" ".repeat(60)}\n`, 10_000],
  ["equal rows", "isbn13,title\n", "9780141439587,A\n", 2_000],
  ["refused rows", "isbn13,title\n", "x,A\n", 2_000],
  ["a thousand cells", `isbn13${",#".repeat(999)}\n`, `x${",y".repeat(999)}\n`, 50],
];

for (const [what, head, row, rows] of SHEETS) {
  Deno.test({
    name: `A sheet of ${what} lets other requests run`,
    // The embedded database would count: it runs in this thread.
    ignore: !SETTINGS.url,
    async fn() {
      await using app = await openApp();
      const { key } = await app.organization();
      const sheet = new TextEncoder().encode(head + row.repeat(rows));
      await assertStretches(what, async () => {
        const response = await app.handler(
          new Request("http://catalogue.test/api/csv/products?dry_run=true", {
            method: "POST",
            headers: { "x-api-key": key, "content-type": "text/csv", accept: "text/csv" },
            body: chunksOf(sheet),
          }),
        );
        for await (const _ of response.body!);
      });
    },
  });
}

/** The bytes as a network gives them. */
function chunksOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let from = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.slice(from, from += 65_536));
      if (from >= bytes.length) controller.close();
    },
  }, { highWaterMark: 0 });
}
