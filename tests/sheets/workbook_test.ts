import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ZipReader, ZipWriter } from "@zip.js/zip.js/lib/zip-core-native.js";
import { type Cell, textOf } from "../../features/sheets/schema/cell.ts";
import type { SheetFile } from "../../features/sheets/schema/file.ts";
import { openWorkbook } from "../../features/sheets/schema/workbook/read.ts";
import { writeWorkbook } from "../../features/sheets/schema/workbook/write.ts";
import { ApiError } from "../../schema/errors.ts";
import { testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { assertStretches } from "../support/app/stretches.ts";

const it = testsOf("/xlsx/products");

const ISBNS = ["9780141439587", "9780306406157"] as const;
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const MIB = 2 ** 20;

type Bytes = Uint8Array<ArrayBuffer>;
type Parts = Record<string, string | (() => AsyncIterable<Uint8Array>)>;

const encode = (text: string) => new TextEncoder().encode(text);

/** An archive of these parts. */
async function packed(parts: Parts): Promise<Bytes> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const zip = new ZipWriter(writable, { useWebWorkers: false, zip64: false });
  const done = (async () => {
    for (const [name, content] of Object.entries(parts)) {
      const bytes = typeof content === "string" ? [encode(content)] : content();
      await zip.add(name, ReadableStream.from(bytes));
    }
    await zip.close();
  })();
  const bytes = await new Response(readable).bytes();
  await done;
  return bytes;
}

/** The text of a part of an archive. */
async function partOf(bytes: Bytes, name: string): Promise<string> {
  const reader = new ZipReader(new Blob([bytes]).stream());
  for (const entry of await reader.getEntries()) {
    if (entry.filename === name && !entry.directory) {
      return new TextDecoder().decode(await entry.arrayBuffer());
    }
  }
  throw new Error(`no ${name}`);
}

const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const LINKS = "http://schemas.openxmlformats.org/package/2006/relationships";

/** The parts of a workbook with one sheet, whose content this is. */
function partsWith(sheetData: string, { head = "", tail = "", strings = "", numFmt = "" } = {}) {
  const link = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${DOCUMENT}/${type}" Target="${target}"/>`;
  return {
    "_rels/.rels": `<Relationships xmlns="${LINKS}">${
      link("a", "officeDocument", "/xl/workbook.xml")
    }</Relationships>`,
    "xl/workbook.xml":
      `<x:workbook xmlns:x="${MAIN}" xmlns:r="${DOCUMENT}"><x:sheets><x:sheet name="List" sheetId="1" r:id="s"/></x:sheets></x:workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${LINKS}">${
      link("s", "worksheet", "worksheets/sheet1.xml") +
      link("t", "sharedStrings", "sharedStrings.xml") + link("f", "styles", "styles.xml")
    }</Relationships>`,
    "xl/sharedStrings.xml": `<sst xmlns="${MAIN}">${strings}</sst>`,
    "xl/styles.xml":
      `<styleSheet xmlns="${MAIN}">${numFmt}<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="200"/><xf numFmtId="201"/><xf numFmtId="9"/><xf numFmtId="202"/></cellXfs></styleSheet>`,
    "xl/worksheets/sheet1.xml":
      `${head}<worksheet xmlns="${MAIN}"><sheetData>${sheetData}</sheetData>${tail}</worksheet>`,
  } satisfies Parts;
}

const pace = () => Promise.resolve();

function opened(bytes: Bytes, maxUnpacked = 64 * MIB): Promise<SheetFile> {
  return openWorkbook([bytes], { maxUnpacked, pace });
}

async function rowsOf(bytes: Bytes): Promise<Cell[][]> {
  const rows = await Array.fromAsync((await opened(bytes)).rows());
  return rows.map(({ cells }) => cells);
}

/** A row of texts. */
const texts = (r: number, ...cells: string[]) =>
  `<row r="${r}">${
    cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join("")
  }</row>`;

async function sent(
  org: Organization,
  app: { send: (path: string, init: RequestInit) => Promise<Sent> },
  body: Bytes,
  query = "",
  headers: Record<string, string> = {},
): Promise<Sent> {
  return await app.send(`/api/xlsx/products${query}`, {
    method: "POST",
    headers: { "x-api-key": org.key, "content-type": TYPE, ...headers },
    body,
  });
}

// deno-lint-ignore no-explicit-any
type Sent = { status: number; text: string; body: any; bytes: Bytes };

it("comes back unchanged, and has the columns of CSV", async ({ org, app }) => {
  for (
    const title of ["007", "-30-", "=1+1", "'=x", " blanks ", "a\nb", "_x0041_", "<&>\u0001", "😀"]
  ) {
    await org.create({
      title,
      page_count: 96,
      publication_date: "2027-01-31",
      publishing_status_code: "04",
      product_prices: [{ currency_code: "EUR", retail_price: 12.5 }],
      publisher_id: org.publisher,
    });
  }
  const { bytes, headers } = await org.get("/api/xlsx/products");
  assertMatch(headers.get("content-disposition")!, /filename="products-[\d-]+\.xlsx"$/);

  for (const query of ["", "?empty=clear&create=true"]) {
    const { text, body } = await sent(org, app, bytes, query);
    const { rows, unchanged, warnings } = body.data;
    assertEquals([rows, unchanged, warnings], [9, 9, 0], text);
  }
  const csv = (await org.get("/api/csv/products")).text.split("\r\n")[0]!;
  assertEquals((await rowsOf(bytes))[0]!.map(textOf).join(), csv.replace(/^\ufeff/, ""));
  const xml = await partOf(bytes, "xl/worksheets/sheet1.xml");
  assertMatch(xml, /<pane ySplit="1" [^>]*state="frozen"\/>.*<autoFilter ref="A1:[A-Z]+10"\/>/s);
});

it("sends refused rows back as a workbook", async ({ org, app }) => {
  await org.create({ isbn13: ISBNS[0] });
  const rows = texts(1, "isbn13", "page_count") + texts(3, ISBNS[0], "many");
  const sheet = await packed(partsWith(rows));

  const report = await sent(org, app, sheet);
  const { bytes } = await sent(org, app, sheet, "", { accept: TYPE });

  const [{ line, messages }] = report.body.data.outcomes;
  assertEquals([line, messages[0].column], [3, "page_count"]);
  const [header, [error, ...cells] = []] = await rowsOf(bytes);
  assertEquals(header, ["error", "isbn13", "page_count"]);
  assertEquals(cells, [ISBNS[0], "many"]);
  assertMatch(textOf(error!), /^page_count: /);
});

Deno.test("A workbook is read as programs show it", async () => {
  const strings =
    `<si><t>Plain</t></si><si><r><t>Rich</t></r><r><t xml:space="preserve"> text</t></r><rPh sb="0" eb="1"><t>no</t></rPh></si>`;
  const numFmt =
    `<numFmts><numFmt numFmtId="200" formatCode="dd\\.mm\\.yyyy;@"/><numFmt numFmtId="201" formatCode="0.0&quot;%&quot;"/><numFmt numFmtId="202" formatCode="0.0 %"/></numFmts>` +
    `<dxfs><dxf><numFmt numFmtId="201" formatCode="yyyy"/></dxf></dxfs>`;
  const cells: [xml: string, cell: Cell][] = [
    ['<c t="s"><v>0</v></c>', "Plain"],
    ['<c t="s"><v>1</v></c>', "Rich text"],
    ['<c t="inlineStr"><is><t>a_x000D_b&amp;</t></is></c>', "a\rb&"],
    ['<c t="str"><f>1</f><v>calculated</v></c>', "calculated"],
    ['<c t="str"><f>1</f><v></v></c>', ""],
    ["<c><v>9.989999999999998</v></c>", { kind: "number", text: "9.99" }],
    ["<c><v>1.2E1</v></c>", { kind: "number", text: "12" }],
    ["<c><v>1E-7</v></c>", { kind: "number", text: "0.0000001" }],
    ["<c><v>-1.25E-22</v></c>", { kind: "number", text: "-0.000000000000000000000125" }],
    ['<c s="2"><v>48</v></c>', { kind: "day", text: "1900-02-17" }],
    ['<c s="3"><v>48</v></c>', { kind: "number", text: "48" }],
    ['<c s="4"><v>0.07</v></c>', { kind: "number", text: "7%" }],
    ['<c s="5"><v>0.19600000000000001</v></c>', { kind: "number", text: "19.6%" }],
    ["<c><v>9780141439587</v></c>", { kind: "number", text: "9780141439587" }],
    ['<c s="1"><v>46355</v></c>', { kind: "day", text: "2026-11-29" }],
    ['<c s="2"><v>59</v></c>', { kind: "day", text: "1900-02-28" }],
    ['<c s="1"><v>46355.5625</v></c>', { kind: "time", text: "2026-11-29T13:30:00" }],
    ['<c t="d"><v>2026-11-29T00:00:00</v></c>', { kind: "day", text: "2026-11-29" }],
    ['<c t="b"><v>1</v></c>', "TRUE"],
  ];
  const names = cells.map((_, i) => `c${i}`);
  const row = `<row r="7">${cells.map(([xml]) => xml).join("")}</row>`;
  const bytes = await packed(partsWith(texts(5, ...names) + row, { strings, numFmt }));
  const rows = await Array.fromAsync((await opened(bytes)).rows());
  assertEquals(rows.map(({ line, index }) => [line, index]), [[5, 0], [7, 1]]);
  assertEquals(rows[1]!.cells, cells.map(([, cell]) => cell));

  const errors = ['<c t="e"><v>#N/A</v></c>', "<c><f>1</f></c>", "<c><f>1</f><v/></c>"]
    .concat('<c s="1"><v>60</v></c>', '<c s="1"><v>-1</v></c>');
  const [, read = []] = await rowsOf(
    await packed(partsWith(texts(1, ..."abcde") + `<row r="2">${errors.join("")}</row>`)),
  );
  assertEquals(
    read.map((cell) => typeof cell === "string" ? cell : cell.kind),
    Array(5).fill("error"),
  );
});

Deno.test("Rows of a workbook have all columns, and merged cells count in their first", async () => {
  const rows =
    `<row r="1"><c r="C1" t="inlineStr"><is><t>isbn13</t></is></c><c r="D1" t="inlineStr"><is><t>title</t></is></c></row>` +
    `<row r="2" hidden="1"><c r="C2" t="inlineStr"><is><t>x</t></is></c></row>` +
    `<row r="3"><c r="C3" t="inlineStr"><is><t>y</t></is></c><c r="D3" t="inlineStr"><is><t>covered</t></is></c></row>`;
  const file = await opened(
    await packed(partsWith(rows, { tail: '<mergeCells><mergeCell ref="D2:D3"/></mergeCells>' })),
  );
  const read = await Array.fromAsync(file.rows());
  assertEquals(read.map(({ cells }) => cells), [["", "", "isbn13", "title"], ["", "", "x", ""], [
    "",
    "",
    "y",
    "",
  ]]);
  assertEquals(file.messages.map(({ code }) => code), ["hidden"]);
});

Deno.test("Only the rows of a sheet are rows, not those that its buttons stand in", async () => {
  const place = (name: string) => `<${name}><xdr:col>0</xdr:col><xdr:row>4</xdr:row></${name}>`;
  const tail = `<controls><control><controlPr><anchor>${place("from") + place("to")}</anchor>` +
    `</controlPr></control></controls><extLst><ext><row r="1"><c><v>1</v></c></row></ext></extLst>`;
  const bytes = await packed(partsWith(texts(1, "isbn13") + texts(2, "x"), { tail }));
  assertEquals(await rowsOf(bytes), [["isbn13"], ["x"]]);
});

/** Workbooks that are not read: the status of their error. */
const HOSTILE: Record<string, [status: number, bytes: () => Promise<Bytes>]> = {
  "no zip": [415, () => Promise.resolve(encode("isbn13,title\n"))],
  "nothing": [415, () => Promise.resolve(encode(""))],
  "another zip": [415, () => packed({ "a.txt": "a" })],
  "a document": [415, () => packed({ mimetype: "x", "content.xml": "<a/>" })],
  "a binary workbook": [415, () => packed({ "_rels/.rels": "<a/>", "xl/workbook.bin": "x" })],
  "a torn archive": [400, async () => (await packed(partsWith(texts(1, "id")))).slice(0, -80)],
  "bytes that were changed": [400, async () => {
    const bytes = await packed(partsWith(texts(1, "id")));
    const at = bytes.findIndex((_, i) => i > bytes.length / 3 && bytes[i] !== 0);
    for (let i = at; i < at + 20; i++) bytes[i] = bytes[i]! ^ 0xff;
    return bytes;
  }],
  "an external entity": [400, () =>
    packed(partsWith(texts(1, "id"), {
      head: '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
    }))],
  "entities of entities": [400, () =>
    packed(partsWith(texts(1, "&b;"), {
      head: '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>',
    }))],
  "a deep part": [400, () => packed(partsWith("<a>".repeat(100_000)))],
  "XML that ends early": [400, () => packed(partsWith('<row r="1"><c'))],
  "rows out of order": [400, () => packed(partsWith(texts(2, "id") + texts(1, "id")))],
  ...Object.fromEntries(
    ["7", "-1", "0.5", "x", "1e9"].map((index) => [`a shared text that is missing, ${index}`, [
      400,
      () =>
        packed(partsWith(`<row r="1"><c t="s"><v>${index}</v></c></row>`, { strings: "<si/>" })),
    ]]),
  ),
  "a document of Word": [415, () => {
    const { "_rels/.rels": links, "xl/_rels/workbook.xml.rels": _, ...parts } = partsWith("");
    return packed({
      ...parts,
      "_rels/.rels": links,
      "xl/workbook.xml": `<w:document xmlns:w="w"><w:body/></w:document>`,
    });
  }],
  "a cell that never ends": [413, () =>
    packed({
      ...partsWith(""),
      "xl/worksheets/sheet1.xml": repeated(
        `<worksheet><sheetData><row r="1"><c t="inlineStr"><is><t>`,
        "x".repeat(MIB),
        8,
      ),
    })],
  "a cell of endless runs": [413, () =>
    packed({
      ...partsWith(""),
      "xl/worksheets/sheet1.xml": repeated(
        `<worksheet><sheetData><row r="1"><c t="inlineStr"><is>`,
        `<r><t>${"x".repeat(MIB / 4)}</t></r>`,
        32,
      ),
    })],
  "a shared text of endless runs": [413, () =>
    packed({
      ...partsWith(texts(1, "id")),
      "xl/sharedStrings.xml": repeated("<sst><si>", `<r><t>${"x".repeat(MIB / 4)}</t></r>`, 32),
    })],
  "a long name of a sheet": [400, () =>
    packed({
      ...partsWith(texts(1, "id")),
      "xl/workbook.xml": `<workbook xmlns:r="${DOCUMENT}"><sheets><sheet name="${
        "x".repeat(2_000)
      }" r:id="s"/></sheets></workbook>`,
    })],
  "a long path of a part": [400, () => {
    const parts = partsWith(texts(1, "id"));
    const links = "xl/_rels/workbook.xml.rels";
    const long = `<Relationship Id="z" Target="${"x".repeat(2_000)}"/></Relationships>`;
    return packed({ ...parts, [links]: parts[links].replace("</Relationships>", long) });
  }],
  "a cell in a cell": [400, () => packed(partsWith("<row><c><c/></c></row>"))],
  "a row in a cell": [400, () => packed(partsWith("<row><c><row/></c></row>"))],
  "ten thousand folders": [413, () => Promise.resolve(folders(10_001))],
  "folders with names of 60 KB": [
    415,
    () => Promise.resolve(folders(500, `${"n".repeat(60_000)}/`)),
  ],
  "blanks without end": [413, () =>
    packed({
      ...partsWith(""),
      "xl/worksheets/sheet1.xml": repeated("<worksheet><sheetData>", " ".repeat(MIB), 100),
    })],
  "millions of shared texts": [413, () =>
    packed({
      ...partsWith(texts(1, "id")),
      "xl/sharedStrings.xml": repeated("<sst>", "<si><t>x</t></si>".repeat(60_000), 20),
    })],
  "one text in a million cells": [413, () =>
    packed({
      ...partsWith("", { strings: `<si><t>${"x".repeat(100_000)}</t></si>` }),
      "xl/worksheets/sheet1.xml": repeated(
        `<worksheet><sheetData>`,
        '<row><c t="s"><v>0</v></c></row>'.repeat(1_000),
        10,
      ),
    })],
};

/** An archive with so many folders, as its directory says. */
function folders(count: number, name = "a/"): Bytes {
  const { length } = name;
  const size = 46 + length;
  const entry = new Uint8Array(size);
  const view = new DataView(entry.buffer);
  view.setUint32(0, 0x02014b50, true);
  view.setUint16(28, length, true);
  entry.set(encode(name), 46);
  const start = 30 + length;
  const bytes = new Uint8Array(start + count * size + 22);
  bytes.set(encode("PK\x03\x04"));
  bytes.set(encode(name), 30);
  new DataView(bytes.buffer).setUint16(26, length, true);
  for (let i = 0; i < count; i++) bytes.set(entry, start + i * size);
  const end = new DataView(bytes.buffer, start + count * size);
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, count, true);
  end.setUint16(10, count, true);
  end.setUint32(12, count * size, true);
  end.setUint32(16, start, true);
  return bytes;
}

function repeated(head: string, part: string, times: number) {
  return async function* () {
    yield encode(head);
    for (let i = 0; i < times; i++) yield encode(part);
  };
}

for (const [what, [status, bytes]] of Object.entries(HOSTILE)) {
  Deno.test(`A workbook is refused: ${what}`, async () => {
    const sent = await bytes();
    await assertStretches(what, async () => {
      const error = await assertRejects(async () => {
        const file = await openWorkbook([sent], { maxUnpacked: 64 * MIB, pace: turn });
        for await (const _ of file.rows()) await turn();
      }, ApiError);
      assertEquals(error.status, status, `${error.message} ${JSON.stringify(error.details)}`);
    });
  });
}

for (const [what, byte] of [["zeros", 0], ["bytes of no charset", 0xff]] as const) {
  Deno.test(`A sheet of ${what} is not read to its end`, async () => {
    const part = new Uint8Array(MIB).fill(byte);
    const sent = await packed({
      ...partsWith(""),
      "xl/worksheets/sheet1.xml": async function* () {
        yield encode("<worksheet><sheetData>");
        for (let i = 0; i < 64; i++) yield part;
      },
    });
    let turns = 0;
    const pace = () => Promise.resolve(void turns++);
    const error = await assertRejects(
      () => openWorkbook([sent], { maxUnpacked: 512 * MIB, pace }),
      ApiError,
    );
    assertEquals(error.status, 400);
    assert(turns < 100, `${turns} turns`);
  });
}

const ROW_OF_NUMBERS = `<row r="1">${"<c><v>1</v></c>".repeat(999)}</row>`;

/** Workbooks that are read. */
const LARGE: Record<string, Parts> = {
  "merged cells that overlap": partsWith(ROW_OF_NUMBERS, {
    tail: `<mergeCells>${'<mergeCell ref="A1:ALL9"/>'.repeat(65_536)}</mergeCells>`,
  }),
  "styles with a long format": {
    ...partsWith(texts(1, "id")),
    "xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="${
      "0#".repeat(500)
    }"/></numFmts><cellXfs>${'<xf numFmtId="200"/>'.repeat(70_000)}</cellXfs></styleSheet>`,
  },
};

for (const [what, parts] of Object.entries(LARGE)) {
  Deno.test(`A workbook is read with turns: ${what}`, async () => {
    const sent = await packed(parts);
    await assertStretches(what, async () => {
      const file = await openWorkbook([sent], { maxUnpacked: 64 * MIB, pace: turn });
      for await (const _ of file.rows()) await turn();
    });
  });
}

/** A turn of the event loop. */
Deno.test("A workbook may have an empty text as the first of its shared ones", async () => {
  const bytes = await packed(partsWith(
    texts(1, "title", "subtitle") + '<row r="2"><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>',
    { strings: "<si><t/></si><si><t>Emma</t></si>" },
  ));
  assertEquals(await rowsOf(bytes), [["title", "subtitle"], ["", "Emma"]]);
});

Deno.test("An error in a workbook does not keep the text of its cell in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const cell = (type: string) => `<row><c t="${type}"><v>${"x".repeat(400_000)}</v></c></row>`;
  for (const type of ["e", "d"]) {
    const bytes = await packed({
      ...partsWith(""),
      "xl/worksheets/sheet1.xml": repeated("<worksheet><sheetData>", cell(type), 100),
    });
    const file = await opened(bytes);
    collect();
    const before = Deno.memoryUsage().heapUsed;

    const rows: Cell[][] = [];
    await assertRejects(async () => {
      for await (const { cells } of file.rows()) rows.push(cells);
    });

    collect();
    assert(rows.length > 90);
    assert(Deno.memoryUsage().heapUsed < before + 10 * MIB, type);
  }
});

Deno.test("A workbook with any damaged byte is read to its end, or refused", async () => {
  const bytes = await packed(
    partsWith(texts(1, "title") + texts(2, "Emma"), { strings: "<si><t>A</t></si>" }),
  );
  for (let at = 0; at < bytes.length; at += 2) {
    try {
      await rowsOf(bytes.with(at, bytes[at]! ^ 0xff));
    } catch (error) {
      assert(error instanceof ApiError, `${at}: ${error}`);
    }
  }
});

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

Deno.test("A workbook is written as its rows come, and ends with their error", async () => {
  let made = 0;
  async function* groups(): AsyncGenerator<Cell[][]> {
    yield [["title"]];
    for (; made < 50; made++) {
      yield Array.from({ length: 100 }, () => [crypto.randomUUID().repeat(9)]);
    }
    throw new Error("the database");
  }
  let madeAtFirst = Infinity;
  const error = await assertRejects(async () => {
    for await (const chunk of writeWorkbook(groups())) {
      if (chunk.length > 0) madeAtFirst = Math.min(madeAtFirst, made);
    }
  });
  assertMatch((error as Error).message, /the database/);
  assert(madeAtFirst < 50, `${madeAtFirst}`);
});
