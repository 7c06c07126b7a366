import { assert, assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { messageAt } from "../../features/sheets/schema/convert_row.ts";
import { RowErrors, SheetTally } from "../../features/sheets/schema/report.ts";
import { testsOf } from "../support/app/harness.ts";
import { memory, withPeak } from "../support/app/memory.ts";
import type { Organization } from "../support/app/organization.ts";

const it = testsOf("A hostile sheet");

const MIB = 2 ** 20;

/** What a sheet begins with, what it repeats, and the line and the code of its error. */
const SHEETS: [head: string, part: string, line: number, code: string][] = [
  ["", ",", 1, "too_many"],
  ["isbn13,title\n", ",", 2, "too_many"],
  ["", '"', 1, "too_large"],
  ["isbn13,title\n", '"', 2, "too_large"],
  ['isbn13,title\n1,"', "x\n", 2, "too_large"],
  ["", "title,", 1, "too_many"],
  ["isbn13,title\n1,", "x", 2, "too_large"],
  ["isbn13\n", "\0", 2, "too_large"],
  ["isbn13\n", "\n", 1_048_578, "too_many"],
];

for (const [head, part, line, code] of SHEETS) {
  it(`of 64 MiB is refused: ${JSON.stringify(head)}, then ${JSON.stringify(part)}`, async ({ org, app }) => {
    const block = new TextEncoder().encode(part.repeat(65_536 / part.length));
    let blocks = 0;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(head)),
      pull(controller) {
        if (++blocks < 1_023) controller.enqueue(block);
        else controller.close();
      },
    });

    const [{ status, text, body: answer }, bytes] = await withPeak(() =>
      app.send("/api/csv/products", {
        method: "POST",
        headers: { "x-api-key": org.key, "content-type": "text/csv" },
        body,
      })
    );

    assertEquals(status, 400, text);
    const [detail] = answer.error.details;
    assertEquals([detail.line, detail.code], [line, code], text);
    assertEquals((await org.get("/api/products")).body.meta.total, 0);
    // The bytes are kept. A million lines leave 300 MiB of garbage in a worker of tests, whose
    // heap may grow as V8 likes; records of as many bytes would take gigabytes.
    assert(bytes < 640 * MIB, `${bytes} bytes`);
  });
}

const csv = (org: Organization) => ({ "x-api-key": org.key, "content-type": "text/csv" });

it("is refused if its gzip is damaged", async ({ org, app }) => {
  const packed = gzipSync("isbn13\n9780141439587\n");
  const damaged = packed.with(-8, packed.at(-8)! ^ 1);
  const forms = {
    torn: packed.subarray(0, -5),
    trailing: Buffer.concat([packed, Buffer.from("xx")]),
    damaged: Buffer.from(damaged),
    "not packed": Buffer.from("isbn13\n9780141439587\n"),
  };
  for (const [name, body] of Object.entries(forms)) {
    const { status, body: { error } } = await app.send("/api/csv/products", {
      method: "POST",
      headers: { ...csv(org), "content-encoding": "gzip" },
      body: new Uint8Array(body),
    });
    assertEquals([status, error.code], [400, "VALIDATION_ERROR"], name);
    assertEquals(error.details[0].code, "invalid_gzip", name);
  }
});

it("takes no memory from others before it arrives", async ({ org, app }) => {
  const other = await app.organization();
  const uploads = [62, 62, 62, undefined].map((mebibytes) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    void writer.write(new TextEncoder().encode("id,title\n"));
    const length = mebibytes && { "content-length": String(mebibytes * MIB) };
    const headers = { ...csv(org), ...length };
    const init = { method: "POST", headers, body: readable };
    const request = new Request("http://catalogue.test/api/csv/products", init);
    const response = app.handler(request);
    return { writer, response };
  });

  const { status, text } = await app.send("/api/csv/products", {
    method: "POST",
    headers: csv(other),
    body: new Blob(["id,title\n"]).stream(),
  });

  assertEquals(status, 200, text);
  for (const { writer, response } of uploads) {
    await writer.close();
    assertEquals((await response).status, 200);
  }
});

it("is written in groups of 2,500 names", async ({ org, app }) => {
  const row = `,A,${";".repeat(1_300)}a\n`;
  const { status, text } = await app.send("/api/csv/products?create=true", {
    method: "POST",
    headers: csv(org),
    body: `isbn13,title,subtitle\n${row.repeat(4)}`,
  });

  assertEquals(status, 200, text);
  const { body: { data } } = await org.get("/api/history");
  const transactions = new Set(data.map(({ version }: { version: string }) => version));
  assertEquals([data.length, transactions.size], [4, 2]);
});

Deno.test("A tally of a sheet keeps little of rows that are refused", () => {
  const tally = new SheetTally({
    dry_run: true,
    ignored_columns: [],
    skipped: 0,
    messages: [],
  });
  const column = "x".repeat(400);
  const messages = Array.from(
    { length: 1_000 },
    () => messageAt(`code: ${column}`, undefined, column),
  );
  const before = memory();
  for (let row = 0; row < 3_000; row++) {
    const outcome = "refused" as const;
    tally.add(row, { line: row, id: null, isbn13: null, outcome, changes: [], messages });
  }
  // The joined messages of all rows have a gigabyte.
  assert(memory() < before + 100 * MIB, `${before} ${memory()}`);
  assertEquals(tally.errors.of(2_999)?.length, 500);
  assertEquals(tally.errors.of(3_000), undefined);
});

Deno.test("Errors of a sheet beyond 8 MiB are one", () => {
  const errors = new RowErrors();
  for (let row = 0; row < 40_000; row++) {
    errors.add(row, [messageAt(`code: ${row} ${"x".repeat(400)}`)]);
  }
  assertMatch(errors.of(0)!, /^0 x/);
  assertMatch(errors.of(39_999)!, /send it again/);
});
